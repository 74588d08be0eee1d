//! Games as data.
//!
//! * [`opening`]: the start of a game, a function of a few numbers and without an engine, so that
//!   checks repeat it. A [`Book`] has other starts than the initial position.
//! * [`random`]: the random numbers, the same on every machine and in every build.
//! * [`Record`]: the data of a game; [`Header`]: the data that all games of a shard share;
//!   [`Clock`]: the time control of games under a clock.
//! * [`codec`]: games as bytes; [`shard`]: these as files.
//! * [`verify`]: validation of games by replay.
//! * [`delivery`]: validation of uploaded bytes.
//! * [`manifest`]: the shards of a training set, each with its [`scale`]; [`training`]: reading
//!   them in random order.
//! * [`pgn`]: games as text, for people and other programs.
//! * [`stats`]: statistics of games; [`sfen`]: the records of other trainers.
//! * [`as_text`]: values serialised as their own text.
//! * [`AtomicFile`]: files that are whole or absent.

pub mod as_text;
pub mod codec;
pub mod delivery;
pub mod manifest;
pub mod opening;
pub mod pgn;
pub mod random;
pub mod scale;
pub mod sfen;
pub mod shard;
pub mod stats;
pub mod training;
pub mod verify;

mod adjudication;
mod atomic_file;
mod book;
mod bytes;
mod clock;
mod digest;
mod entrant;
mod header;
mod overrides;
mod record;
mod settings;

pub use adjudication::{Adjudication, DrawRule, WinRule};
pub use atomic_file::{AtomicFile, Leftover};
pub use book::{Book, BookError};
pub use clock::{Clock, ParseTimeControlError, Time};
pub use digest::{Digest, ParseDigestError};
pub use entrant::Entrant;
pub use header::{Header, HeaderError, Opponent};
pub use overrides::{MAX_OVERRIDES, Overrides, ParseOverridesError};
pub use record::{MAX_SCORE, Opening, ParseReasonError, Reason, Record, RunDigest, Score, ScoredMove};
pub use settings::{EvaluationFilter, GameSettings, OpeningPolicy};
