//! The coordinator's HTTP API as its programs see it. Each request is a function, each response a
//! value, and each rejection an [`Error`] with the coordinator's own code.
//!
//! * [`Client`] sends requests and blocks, so callers have a thread for it. Each exchange has its
//!   own connection, which is closed afterwards: twenty thousand busy workers cost the coordinator
//!   nothing.
//! * [`Client::fetch`] downloads a file that is named by its hash, and resumes an earlier attempt.
//! * [`Client::fetch_manifest`] and [`Client::fetch_shard`] do so for training sets.
//! * [`Backoff`] computes retry delays; it is given a [`Clock`] and a [`JitterRng`].
//!
//! Nothing here retries: only the caller knows how long a response is worth waiting for. URLs hold
//! the tokens of leases, so no error shows one. Network errors say in the user's words what
//! is wrong.

mod address;
mod backoff;
mod clock;
mod connection;
mod download;
mod error;
mod network;
mod text;
mod token;
mod training;
mod training_set;
mod work;

pub use address::{ParseAddressError, ServerAddress};
pub use backoff::{Backoff, JitterRng};
pub use clock::{Clock, SystemClock};
pub use connection::{Client, Settings};
pub use error::{Error, HostLookup};
pub use text::printable;
pub use token::{ParseTokenError, Token};
pub use training_set::{FetchOutcome, shard_file};
