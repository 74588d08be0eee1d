//! What a volunteer runs and forgets: it takes games to play from a coordinator, plays them on the cores it was given, and
//! hands them in.
//!
//! * [`settings`]: what its owner allows; [`dialog`] asks for it once.
//! * [`keeper`] runs it. Beside the keeper a provider brings leases with their nets before they are needed, a sender takes
//!   results away, and as many threads play as are allowed. What all of them know lies on one desk.
//! * A game that is finished is in its lease's journal at once; a lease that is finished is in the [`outbox`] until the
//!   server has thanked for it. Games are functions of their numbers: what a crash interrupts is played again to the same
//!   bytes, what was finished is not.
//! * [`selftest`]: a machine that computes otherwise than others plays nothing.
//!
//! Nothing here starts another program, whatever a server says: a lease names nets and books by their hashes, and what
//! plays them is inside. The worker's own [`update`], signed and switched on by whoever built it, is the one exception.

pub mod command;
mod crew;
mod desk;
pub mod dialog;
mod display;
pub mod hours;
mod job;
mod journal;
pub mod keeper;
mod memory;
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
mod speed;
pub mod state;
pub mod status;
pub mod update;
mod window;
pub mod wishes;
mod word;

pub use command::main;
pub use desk::{Ending, Rest};
