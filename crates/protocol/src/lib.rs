//! The words that worker, trainer and coordinator exchange.
//!
//! What one program writes and another reads is declared here once, with what it may say. The crate reads and writes
//! texts, never files or sockets, and knows nothing of boards or nets: whoever uses a text gives it its effect. Games
//! are described in `dataset`'s words.
//!
//! * [`campaign`]: a series of generations of nets.
//! * [`recipe`]: how a net is to be trained.
//! * [`net`]: what made one.
//! * [`api`]: requests and answers of the coordinator's HTTP interface.

pub mod api;
pub mod campaign;
pub mod net;
pub mod recipe;

mod name;

pub use name::is_name;

/// The nodes of the bench of this version's engine. Engines with the same play the same games, so it says which workers
/// can play a job; the coordinator, which has no engine, knows it from here.
pub const BENCH_SIGNATURE: u64 = 6_523_233;
