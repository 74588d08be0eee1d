//! The coordinator as a process: killed, watched by the system, and under load.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
#![allow(clippy::print_stdout, reason = "skipped tests and measurements are printed")]

mod administration;
mod killed;
mod log;
#[path = "../../core/tests/common/postgres.rs"]
#[allow(dead_code, unreachable_pub, reason = "other tests use the rest")]
mod postgres;
mod program;
#[path = "../../core/tests/common/s3.rs"]
mod s3;
#[path = "../common/started.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod started;
mod synced;
mod two;
mod validating;

/// A folder for the server that [`postgres`] starts.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}
