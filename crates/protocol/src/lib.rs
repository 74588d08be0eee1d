//! The formats and messages that worker, trainer and coordinator share.
//!
//! Everything that one program writes and another reads is declared here once, with its bounds. The
//! crate parses and writes texts, never files or sockets, and knows neither boards nor nets: its
//! users act on the texts. Games are described by the types of `dataset`.
//!
//! * [`campaign`]: series of generations of nets.
//! * [`recipe`]: the training of a net.
//! * [`net`]: the manifest of a net.
//! * [`api`]: requests and responses of the coordinator's HTTP API.

pub mod api;
pub mod campaign;
pub mod net;
pub mod recipe;

mod name;

pub use name::is_name;

/// The node count of the bench of this version's engine. Engines with equal counts play equal
/// games, so it decides which workers can play a job. The coordinator has no engine and takes it
/// from here.
pub const BENCH_SIGNATURE: u64 = 6_583_914;
