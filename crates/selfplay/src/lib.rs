//! Playing: games for training, which are functions of their settings and seed, and matches, which say who is stronger.
//!
//! * [`selfplay`] plays a net against itself, or two in pairs for a proof of who is stronger. Whoever has the same
//!   settings and seed plays the same game to the bit; a [`Record`] is what is kept of it. A [`Control`] holds it up.
//! * [`play_match`] plays pairs of games between two [`Player`]s, each pair from one opening with colours swapped, and
//!   evaluates them in order. Players are engines of ours ([`EnginePlayer`]) or whatever else implements the trait.
//! * [`Openings`] are where both begin: random walks that an evaluation found even, or a [`Book`].
//! * [`pgn`] writes games for people and programs, and reads them.
//!
//! Nothing here reads a clock: matches under time get a [`Timer`], and so do the runs whose header has a clock.

mod arbiter;
mod control;
mod matches;
mod openings;
mod ordered;
mod own;
pub mod pgn;
mod player;
pub mod selfplay;
mod timing;

pub use dataset::{
    Adjudication, Book, BookError, Clock, Digest, DrawRule, Entrant, EvaluationFilter as Filter, GameSettings, Opening,
    ParseTimeControlError, Reason, Record, RunDigest, ScoredMove, Time, WinRule,
};

pub use arbiter::{Conditions, Ending, Note, PlayedGame, PlayedMove};
pub use control::Control;
pub use matches::{Abort, BrokenOff, FaultReport, LoneGame, MatchPlan, PairReport, Standing, play_match};
pub use openings::{NoOpening, OpeningOrder, Openings};
pub use own::EnginePlayer;
pub use player::{Allowance, Choice, Fault, FaultKind, Player, Trouble};
pub use timing::{NoTimer, TimeControl, Timed, Timer};
