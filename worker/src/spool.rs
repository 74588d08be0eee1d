//! The spool: a durable queue of leases with their finished games, until the server has
//! acknowledged them.
//!
//! A lease is one append-only file of records. Its state follows from them:
//!
//! ```text
//! asked ──▶ open ──▶ closed ──▶ acknowledged: the file is removed
//! ```
//!
//! | state | records | place |
//! |---|---|---|
//! | asked | the nonce of a request that may have no response yet | `asking` |
//! | open | the lease; its finished games, in the order in which they end; a renewal | `spool/` |
//! | closed | no more games follow: the finished ones are submitted, the rest is released | `spool/` |
//!
//! A game is stored once. [`Contents::shard`] assembles the bytes of an upload from the records,
//! the same at every attempt. After a crash at any byte the records before it are read. A damaged
//! record costs no other.

mod contents;
mod disk;
mod file;
mod folder;
mod record;
mod refused;
mod takeover;

pub use contents::{Contents, Extent};
pub use disk::{Disk, SystemDisk};
pub use file::SpoolFile;
pub use folder::Spool;
pub use record::{Record, SavedLease, State, encode_game};
pub use refused::Refused;
pub(crate) use takeover::DAMAGED;
