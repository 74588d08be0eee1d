//! `chuhe-referee`: see [`referee::command`].

use std::process::ExitCode;

fn main() -> ExitCode {
    referee::command::main()
}
