//! The worker of Chuhe; see `chuhe-worker --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    worker::main()
}
