//! Games as data.
//!
//! * [`opening`]: where a game begins, as a function of a few numbers, without an engine: whoever checks a game walks
//!   its opening again; a [`Book`] has other positions than the first to start from.
//! * [`random`]: the random numbers behind it, the same on every machine and in every build.
//! * [`Record`]: what is kept of a game; [`Header`]: what is the same for all games of a shard; [`Clock`]: where time is
//!   measured in them.
//! * [`codec`]: how games become bytes; [`shard`]: how these become files.
//! * [`verify`]: whether games are what they say, found out by playing them again.
//! * [`delivery`]: whether uploaded bytes are the games that were asked for.
//! * [`manifest`]: which shards make a training set, each with its [`scale`]; [`training`]: reading them in random
//!   order.
//! * [`pgn`]: games as text, for people and other programs.
//! * [`stats`]: what is in them; [`sfen`]: the records of other trainers.
//! * [`as_text`]: values that are written as their own text.
//! * [`NewFile`]: writing any file so that it is whole or not there.

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
mod book;
mod bytes;
mod clock;
mod digest;
mod entrant;
mod header;
mod new_file;
mod record;
mod settings;

pub use adjudication::{Adjudication, DrawRule, WinRule};
pub use book::{Book, BookError};
pub use clock::{Clock, ParseTimeControlError, Time};
pub use digest::{Digest, ParseDigestError};
pub use entrant::Entrant;
pub use header::{Header, HeaderError, Opponent};
pub use new_file::NewFile;
pub use record::{MOST_SCORE, Opening, ParseReasonError, Reason, Record, RunDigest, Score, ScoredMove};
pub use settings::{EvaluationFilter, GameSettings, OpeningPolicy};
