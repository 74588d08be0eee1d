//! The trainer of Chuhe; see `chuhe-trainer --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    trainer::main()
}
