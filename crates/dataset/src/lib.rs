//! Games as data.
//!
//! * [`opening`]: where a game begins, as a function of a few numbers, without an engine: whoever checks a game walks
//!   its opening again.
//! * [`random`]: the random numbers behind it, the same on every machine and in every build.

pub mod opening;
pub mod random;
