//! Shards: small, self-describing files of games, readable up to the last whole block after any
//! damage.
//!
//! ```text
//! head    magic, version, flags, length, header, check
//! block   tag, length, games, moves, bytes, check          any number of them
//! footer  tag, length, index, totals, check, length, magic
//! ```
//!
//! A check is the first bytes of a SHA-256 over the head's check, the block's index and the block.
//! So a block of another file, or of another place in this one, is as detectable as a flipped bit.
//! `docs/FORMATS.md` has every field.

mod error;
mod file;
mod layout;
mod reader;
mod recover;
mod source;
mod writer;

pub(crate) use layout::ends_in_head;

pub use error::ShardError;
pub use file::{OpenError, open};
pub use layout::{BlockEntry, EXTENSION, TIMED_VERSION, TUNED_VERSION, VERSION};
pub use reader::{Block, Shard};
pub use recover::{Recovered, recover};
pub use source::{FileSource, Source};
pub use writer::{ShardWriter, Totals, WriteError};
