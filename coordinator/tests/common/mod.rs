//! What tests of the coordinator's database share: a PostgreSQL of their own, and a laboratory in which games are
//! played by nobody.

#![allow(dead_code, unreachable_pub, reason = "not every test binary uses all of it")]

pub mod lab;
pub mod postgres;
pub mod truth;

use tempfile::TempDir;

/// A folder for databases: in memory where there is one, for tests wait for thousands of commits.
pub fn folder() -> TempDir {
    let memory = std::path::Path::new("/dev/shm");
    let builder = || {
        let mut builder = tempfile::Builder::new();
        builder.prefix("chuhe-");
        builder
    };
    builder().tempdir_in(memory).or_else(|_| builder().tempdir()).expect("there is room for a folder")
}

/// Runs a future to its end.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime can be had").block_on(future)
}
