//! Shared by the command lines of all programs: plain errors, man pages, shell completions.

mod manual;
mod parse;

pub use manual::Manual;
pub use parse::{parse, parse_from};
