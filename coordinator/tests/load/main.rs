//! The coordinator under load: response times at its intended number of workers, and no loss or
//! unbounded queue under overload.
//!
//! The coordinator is a process, and so are the clients: this program run again as the test
//! [`client_process`]. The load is an open loop: request times are fixed in advance. A late
//! response delays no further request, and its time counts from when the request was due.
//!
//! Tests assert counts only. `scripts/bench-coordinator` runs the ignored ones, which measure.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
#![allow(clippy::print_stdout, reason = "measurements are printed")]
#![allow(clippy::disallowed_methods, reason = "response times are measured")]

mod client;
mod exchange;
mod plan;
#[path = "../../core/tests/common/postgres.rs"]
#[allow(dead_code, unreachable_pub, reason = "other tests use the rest")]
mod postgres;
mod report;
mod scene;
mod shard;
#[path = "../common/started.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod started;

use std::time::Duration;

use plan::{Kind, Load};
use scene::Scene;

/// A folder for the server that [`postgres`] starts: on a disk, since its syncs are measured.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// A client process, started by the other tests.
#[test]
#[ignore = "the tests beside it start it as a process"]
fn client_process() {
    client::main();
}

/// A few seconds of two hundred workers with short jobs, at the rates of twenty thousand.
#[test]
fn acknowledged_uploads_exist() {
    let load = Load {
        kind: Kind::Steady,
        workers: 200,
        accounts: 20,
        job: Duration::from_secs(3),
        warm_up: Duration::from_secs(2),
        measured: Duration::from_secs(number("CHUHE_LOAD_SECONDS", 12)),
        shard_bytes: 110_000,
    };
    let outcome = Scene::on_sqlite().run(&load);
    println!("{outcome}");
    outcome.assert_nothing_is_lost();
    assert!(outcome.acknowledged() >= load.workers as usize, "{outcome}");
}

/// A tenth of the storm, at its rate.
#[test]
fn a_storm_is_answered_or_rejected() {
    let load = Load::storm(2_000, Duration::from_secs(6), 20_000);
    let outcome = Scene::on_sqlite().run(&load);
    println!("{outcome}");
    outcome.assert_nothing_is_lost();
    assert!(outcome.acknowledged() > 0, "{outcome}");
}

/// The steady load of the table in docs/OPERATIONS.md.
fn bench(scene: &Scene) {
    let minutes = number("CHUHE_LOAD_MINUTES", 15);
    let steady = Load {
        kind: Kind::Steady,
        workers: 20_000,
        accounts: 200,
        job: Duration::from_mins(5),
        warm_up: Duration::from_secs(100),
        measured: Duration::from_secs(60 * minutes),
        shard_bytes: 110_000,
    };
    let outcome = scene.run(&steady);
    println!("{outcome}");
    outcome.assert_nothing_is_lost();
}

fn storm(scene: &Scene) {
    let outcome = scene.run(&Load::storm(20_000, Duration::from_mins(1), 110_000));
    println!("{outcome}");
    outcome.assert_nothing_is_lost();
}

#[test]
#[ignore = "it takes a quarter of an hour: scripts/bench-coordinator"]
fn bench_on_sqlite() {
    bench(&Scene::on_sqlite());
}

#[test]
#[ignore = "it takes a quarter of an hour: scripts/bench-coordinator"]
fn bench_on_postgres() {
    bench(&Scene::on_postgres());
}

#[test]
#[ignore = "it takes a minute and gigabytes: scripts/bench-coordinator"]
fn storm_on_sqlite() {
    storm(&Scene::on_sqlite());
}

#[test]
#[ignore = "it takes a minute and gigabytes: scripts/bench-coordinator"]
fn storm_on_postgres() {
    storm(&Scene::on_postgres());
}
