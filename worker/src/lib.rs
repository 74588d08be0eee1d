//! The volunteer's worker: acquires leases from a coordinator, plays their games and submits them.
//!
//! * [`settings`]: the limits that its owner sets; [`dialog`] asks for them once.
//! * [`supervisor`] starts all threads, obeys signals, and reports the [`status`].
//! * `work` owns the leases that are played: a provider acquires them ahead of need, and a pool of
//!   threads plays their games.
//! * `delivery` owns finished games: a writer appends them to the [`spool`], and a sender submits
//!   closed leases. A lease is in the spool until the server has acknowledged it. Games are pure
//!   functions of their numbers: a game that a crash interrupts is replayed to the same bytes.
//! * [`selftest`]: a machine that does not reproduce the reference results plays nothing.
//!
//! No module starts another program, whatever a server says: a lease names nets and books by hash,
//! and the player is built in. The one exception is the worker's own signed [`update`], which is
//! enabled at build time.

pub mod command;
pub mod control;
mod delivery;
pub mod dialog;
mod display;
mod events;
pub mod hours;
mod identity;
mod memory;
mod messages;
mod monitor;
mod nonce;
pub mod power;
pub mod priority;
mod report;
mod schedule;
pub mod selftest;
mod sentence;
pub mod service;
pub mod settings;
mod speed;
pub mod spool;
pub mod state;
pub mod status;
mod supervised;
pub mod supervisor;
mod topology;
pub mod update;
mod work;

pub use command::main;
