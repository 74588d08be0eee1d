//! The toolbox of Chuhe; see `chuhe --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    chuhe::main()
}
