//! Validation by replay: whether games are what they say they are.
//!
//! A shard's bytes are checked by its reader, and what comes out of it is legal. Here every game is played again under
//! the arbiter: did it go on as long as it went on, did it end when it ended, with this outcome and for this reason?
//! What the scores decided is decided again from the scores and the header's thresholds. A label that differs is a
//! [`Fault`]; the game must not be learned from.
//!
//! Whether an engine would have made these moves is not asked here: that needs an engine, and is what audits are for.

mod game;
mod shard;

use std::fmt;

use xiangqi::rules::Outcome;

use crate::{
    codec::CodecError,
    record::{Reason, Score},
};

pub use game::verify_game;
pub use shard::{Report, StartOf, Verifier, verify_shard};

/// Something that is not as it should be in a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The game's number.
    pub game: u64,
    /// After how many plies it shows, the opening's included; none if the game as a whole is at fault.
    pub ply: Option<usize>,
    /// What it is.
    pub kind: FaultKind,
}

/// What can be wrong with a game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum FaultKind {
    #[error("recorded {recorded_outcome} by {recorded_reason}; it is {outcome} by {reason}")]
    Label { recorded_outcome: Outcome, recorded_reason: Reason, outcome: Outcome, reason: Reason },
    #[error("it goes on after its end ({outcome} by {reason})")]
    GoesOn { outcome: Outcome, reason: Reason },
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
