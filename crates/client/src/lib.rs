//! The coordinator as its programs see it: what they ask is a function, what it answers a value, and what it refuses an
//! [`Error`] with the coordinator's own code.
//!
//! * [`Client`] asks. It blocks: whoever calls has a thread for it. Each exchange has its own connection, which is
//!   closed behind it, so that twenty thousand workers that think cost the coordinator nothing.
//! * [`Client::fetch`] brings a file that is named by its hash, and goes on where an earlier attempt broke off.
//! * [`Client::fetch_manifest`] and [`Client::fetch_shard`] do so for training sets.
//! * [`Backoff`] says when to try again; [`Clock`] and [`Dice`] are handed to it.
//!
//! Nothing here tries again by itself: how long an answer is worth waiting for is known above. Addresses hold the
//! tokens of leases, so no error shows one.

mod address;
mod backoff;
mod clock;
mod connection;
mod download;
mod error;
mod token;
mod training;
mod training_set;
mod work;

pub use address::{ParseAddressError, ServerAddress};
pub use backoff::{Backoff, Dice};
pub use clock::{Clock, SystemClock};
pub use connection::{Client, Settings};
pub use error::Error;
pub use token::{ParseTokenError, Token};
pub use training_set::{Came, shard_file};
