//! Validation by replay: whether games are as recorded.
//!
//! The reader checks a shard's bytes and guarantees legal moves. Here the arbiter replays every
//! game and checks that it ended when, how and why the record says. Adjudications are decided again
//! from the scores and the header's thresholds. A wrong label is a [`Fault`]; such a game must not
//! become training data.
//!
//! Whether an engine would have made these moves is a question for audits, which need one.

mod game;
mod shard;

use std::fmt;

use xiangqi::rules::Outcome;

use crate::{
    codec::CodecError,
    record::{Reason, Score},
};

pub use game::verify_game;
pub use shard::{Report, StartOf, Verifier, verify_shard, verify_shard_with};

/// A violation in a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The number of the game in its job.
    pub game: u64,
    /// The ply after which it shows, the opening counted; none if the whole game is at fault.
    pub ply: Option<usize>,
    /// The kind of violation.
    pub kind: FaultKind,
}

/// The kinds of violations.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum FaultKind {
    #[error("recorded {recorded_outcome} by {recorded_reason}; it is {outcome} by {reason}")]
    Label { recorded_outcome: Outcome, recorded_reason: Reason, outcome: Outcome, reason: Reason },
    #[error("it continues after its end ({outcome} by {reason})")]
    ContinuesAfterEnd { outcome: Outcome, reason: Reason },
    #[error("it stops, though nothing ended it; recorded {recorded_outcome} by {recorded_reason}")]
    Stops { recorded_outcome: Outcome, recorded_reason: Reason },
    #[error("the move is not legal")]
    IllegalMove,
    #[error("the score {score} is beyond all scores")]
    Score { score: Score },
    #[error("its opening is not the walk of its seed and attempt")]
    Opening,
    #[error("no player keeps attempt {attempt} of its opening")]
    Attempt { attempt: u64 },
    #[error("it starts from a position that is not the book's for its seed")]
    Start,
    #[error("it does not begin as game {of}, the other of its pair")]
    Pair { of: u64 },
    #[error("the same moves as game {of}")]
    Duplicate { of: u64 },
    #[error("{0}")]
    Unreadable(CodecError),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ply {
            Some(ply) => write!(f, "game {} ply {ply}: {}", self.game, self.kind),
            None => write!(f, "game {}: {}", self.game, self.kind),
        }
    }
}
