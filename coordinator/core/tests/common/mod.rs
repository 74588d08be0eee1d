//! Shared by the tests of the coordinator's database: a PostgreSQL server and a test bench with
//! made-up games.

#![allow(dead_code, unreachable_pub, reason = "not every test binary uses all of it")]

pub mod lab;
pub mod postgres;
pub mod reports;
pub mod truth;

use tempfile::TempDir;

/// A folder for databases: in memory if possible, since tests wait for thousands of commits.
pub fn folder() -> TempDir {
    let memory = std::path::Path::new("/dev/shm");
    let builder = || {
        let mut builder = tempfile::Builder::new();
        builder.prefix("chuhe-");
        builder
    };
    builder().tempdir_in(memory).or_else(|_| builder().tempdir()).expect("a temporary folder can be created")
}

/// Runs a future to completion.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime can be had").block_on(future)
}
