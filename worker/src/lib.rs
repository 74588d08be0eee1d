//! The volunteer's worker: acquires leases from a coordinator, plays their games and submits them.
//!
//! * [`settings`]: the limits that its owner sets; [`dialog`] asks for them once.
//! * [`supervisor`] runs three kinds of threads. The provider acquires leases and fetches nets
//!   ahead of need, the sender submits results, and the pool plays. They communicate through one
//!   mutex-protected state (`Shared`).
//! * A finished game is in its lease's journal at once. A finished lease is in the [`outbox`] until
//!   the server acknowledges it. Games are pure functions of their numbers: a game that a crash
//!   interrupts is replayed to the same bytes.
//! * [`selftest`]: a machine that does not reproduce the reference results plays nothing.
//!
//! No module starts another program, whatever a server says: a lease names nets and books by hash,
//! and the player is built in. The one exception is the worker's own signed [`update`], which is
//! enabled at build time.

pub mod command;
pub mod control;
pub mod dialog;
mod display;
pub mod hours;
mod job;
mod journal;
mod live_view;
mod memory;
mod nonce;
pub mod outbox;
mod pool;
pub mod power;
pub mod priority;
mod provider;
pub mod selftest;
mod sender;
mod sentence;
pub mod service;
pub mod settings;
mod shared;
mod speed;
pub mod state;
pub mod status;
mod supervised;
pub mod supervisor;
pub mod update;

pub use command::main;
pub use shared::{PauseReason, Shutdown};
