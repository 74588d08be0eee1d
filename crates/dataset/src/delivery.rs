//! Uploaded bytes: whether they are the games that were asked for.
//!
//! Whoever asked knows the header and the numbers of the games. [`at_the_door`] looks at the head and the index, which
//! costs microseconds; [`by_replay`] plays every game again under the arbiter. [`compare()`] says whether somebody else
//! got the same games. Nothing here needs an engine, and nothing is believed: what bytes make a reader do is bounded by
//! the games that were asked for, not by what the bytes say.

mod compare;
mod door;
mod refusal;
mod replay;

pub use compare::{Comparison, compare};
pub use door::at_the_door;
pub use refusal::Refusal;
pub use replay::{DISTINCT_PLIES, Proof, by_replay};
