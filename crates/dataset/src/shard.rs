//! Files of games: small, self-describing, and readable up to the last whole block whatever happened to them.
//!
//! ```text
//! head    magic, version, flags, length, header, check
//! block   tag, length, games, moves, bytes, check          any number of them
//! footer  tag, length, index, totals, check, length, magic
//! ```
//!
//! A check is the beginning of a SHA-256 over the head's check, the block's place and everything in the block: a block
//! of another file, or from another place in this one, is as wrong as a flipped bit. `docs/FORMATS.md` has every field.

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
pub use layout::{BlockEntry, EXTENSION, TIMED_VERSION, VERSION};
pub use reader::{Block, Shard};
pub use recover::{Recovered, recover};
pub use source::{FileSource, Source};
pub use writer::{ShardWriter, Totals, WriteError};
