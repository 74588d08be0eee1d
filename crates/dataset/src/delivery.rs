//! Validation of uploaded bytes: whether they are the requested games.
//!
//! The caller knows the header and the numbers of the games. [`precheck()`] reads the head and the
//! index, which costs microseconds; [`by_replay`] replays every game under the arbiter.
//! [`compare()`] compares the games of two players. No engine is needed, and no claim is trusted:
//! the cost of reading is bounded by the requested games, not by the bytes.

mod compare;
mod precheck;
mod refusal;
mod replay;

pub use compare::{Comparison, compare};
pub use precheck::precheck;
pub use refusal::Refusal;
pub use replay::{DISTINCT_PLIES, Proof, by_replay};
