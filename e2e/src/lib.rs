//! The programs as people run them, for tests of all of them together.
//!
//! A [`Stage`] is a folder that is gone afterwards. On it are a [`Coordinator`], workers, trainers' agents: each a
//! [`Process`] whose words go to a file, and which is killed when it is forgotten. Whoever waits for something says what
//! and how long ([`wait_for`]); a test that waits in vain shows what everybody said.
//!
//! The programs are those beside the test's own in cargo's folder: `cargo build --workspace --bins` puts them there.
#![allow(clippy::missing_panics_doc, reason = "what does not go as it should ends the test")]

pub mod campaign;
mod coordinator;
mod process;
mod stage;
mod waiting;

pub use coordinator::{Coordinator, Role};
pub use process::{Process, program};
pub use stage::Stage;
pub use waiting::{try_for, wait_for};
