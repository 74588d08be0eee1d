//! End-to-end tests: all programs as real processes.
//!
//! A [`Stage`] is a temporary folder. It holds a [`Coordinator`], workers and trainers' agents,
//! each a [`Process`] with a log file that is killed on drop. [`wait_for`] names its condition and
//! timeout; a test that times out shows all logs.
//!
//! The programs are next to the test in cargo's folder: `cargo build --workspace --bins` builds
//! them.
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
