//! `chuhe-coordinator`: see [`coordinator::command`].

use std::process::ExitCode;

fn main() -> ExitCode {
    coordinator::command::main()
}
