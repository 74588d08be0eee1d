//! Operations on matches.

mod conclude;
mod create;
mod rate;
mod recheck;

pub use conclude::ConcludeMatches;
pub use create::{BeginTimedMatch, CreateMatch};
pub use rate::BeginRatings;
pub use recheck::RecheckMatches;
