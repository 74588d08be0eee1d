//! Retries: no failure rejects a result that the server would take, or delays another.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod common;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use common::{coordinator::Coordinator, digest_of, header, in_process::Worker};
use engine::Evaluation;
use protocol::api::problem::{Code, Problem};
use testkit::{FastClock, JumpingClock, http::Request};

/// Failures of the server do not count as damage in transit, which bounds the attempts.
#[test]
fn a_transfer_that_is_cut_after_failures_of_the_server_is_repeated() {
    static UPLOADS: AtomicUsize = AtomicUsize::new(0);
    let coordinator = Coordinator::new(header(200), 4, 4);
    coordinator.state().refuse = Some(|request: &Request| {
        let is_upload = request.path.contains("/games/");
        match is_upload.then(|| UPLOADS.fetch_add(1, Relaxed)) {
            Some(0..6) => Some(Problem::new(Code::Internal, "the coordinator failed")),
            Some(6) => Some(Problem::new(Code::Truncated, "the body ended early")),
            _ => None,
        }
    });
    let state = tempfile::tempdir().unwrap();
    let worker = Worker::start(&coordinator.url(), state.path(), Arc::new(FastClock::new(200)));
    let end = worker.said.wait_for(|snapshot| snapshot.games_accepted + snapshot.games_refused == 4);
    assert_eq!(end.games_accepted, 4);
    assert!(UPLOADS.load(Relaxed) >= 8, "after six failures and a cut transfer");
    worker.finish();
    coordinator.check(digest_of(&header(200), Evaluation::Plain, None, 4));
}

/// Each lease has its own backoff.
#[test]
fn a_lease_that_the_server_does_not_take_delays_no_other() {
    const ATTEMPTS: usize = 25;
    static REJECTED: AtomicUsize = AtomicUsize::new(0);
    let coordinator = Coordinator::new(header(200), 4, 4);
    coordinator.state().refuse = Some(|request: &Request| {
        let is_first = request.path.contains("/lease-0/games/");
        is_first.then(|| {
            REJECTED.fetch_add(1, Relaxed);
            Problem::new(Code::Quota, "too many games today")
        })
    });
    let state = tempfile::tempdir().unwrap();
    let clock = Arc::new(JumpingClock::default());
    let worker = Worker::start(&coordinator.url(), state.path(), clock.clone());
    // The first lease is soon tried once in several minutes. The clock moves in steps, since an
    // attempt is counted here before the worker waits.
    worker.said.wait_for(|snapshot| snapshot.games == 4);
    while REJECTED.load(Relaxed) < ATTEMPTS {
        clock.jump(Duration::from_mins(1));
        thread::sleep(Duration::from_millis(20));
    }
    // The second lease needs no step of the clock.
    coordinator.state().games = 8;
    coordinator.wait_for(4);
    assert!(coordinator.state().refuse.take().is_some(), "the first lease is refused until then");
    worker.finish();
    coordinator.check(digest_of(&header(200), Evaluation::Plain, None, 8));
}
