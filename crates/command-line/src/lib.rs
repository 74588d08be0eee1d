//! What the command lines of all programs share: plain errors, man pages, shell completions.

mod manual;
mod parse;

pub use manual::Manual;
pub use parse::{parse, parse_from};
