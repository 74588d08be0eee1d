//! Self-play games for training, and matches between engines.
//!
//! * [`selfplay`] plays a net against itself, or two nets in pairs. A game is a deterministic
//!   function of settings and seed, kept as a [`Record`]. A [`Control`] pauses or stops a run.
//! * [`play_match`] plays pairs of games between two [`Player`]s, each pair from one opening with
//!   colours swapped, and counts them in order. Players are our engine ([`EnginePlayer`]) or any
//!   other implementation of the trait.
//! * A [`Relabelling`] searches the positions of played games again.
//! * A [`certificate`] rules on a game that was submitted in two versions.
//! * [`Openings`] are random walks that an evaluation judged even, or a [`Book`].
//! * [`mates`] proves forced mates.
//! * [`pgn`] reads and writes games as PGN.
//!
//! Nothing here reads a clock directly: timed games and matches get a [`Timer`].

mod arbiter;
pub mod certificate;
mod control;
mod engine_player;
mod matches;
pub mod mates;
mod openings;
mod ordered;
pub mod pgn;
mod player;
mod relabel;
pub mod selfplay;
mod timing;

pub use dataset::{
    Adjudication, Book, BookError, Clock, Digest, DrawRule, Entrant, EvaluationFilter as Filter, GameSettings, Opening,
    ParseTimeControlError, Reason, Record, RunDigest, ScoredMove, Time, WinRule,
};

pub use arbiter::{Conditions, Ending, Note, PlayedGame, PlayedMove, WatchedGame, Watcher};
pub use control::Control;
pub use engine_player::EnginePlayer;
pub use matches::{Abort, FaultReport, LoneGame, MatchAborted, MatchPlan, PairReport, Standing, play_game, play_match};
pub use openings::{NoOpening, OpeningOrder, Openings};
pub use player::{Allowance, Choice, Fault, FaultKind, Player, Trouble};
pub use relabel::Relabelling;
pub use timing::{NoTimer, ParseClockError, TimeControl, Timed, Timer};
