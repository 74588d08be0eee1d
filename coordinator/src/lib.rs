//! The coordinator's program: it serves, validates, migrates, watches, and administrates.
//!
//! The ledger is in [`coordinator_core`], its API and pages are in [`coordinator_web`].

pub mod command;
