//! Workers behind a faulty network.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod common;

use std::{sync::Arc, time::Duration};

use client::JitterRng;
use common::{
    coordinator::Coordinator,
    digest_of, header,
    in_process::Worker,
    process::{Process, log_of},
    wait_until,
};
use engine::Evaluation;
use protocol::api::problem::{Code, Problem};
use testkit::proxy::{self, Fault};
use worker::status::Doing;

/// Returns a fault for a quarter of all requests.
fn trouble(rng: &mut JitterRng) -> Fault {
    Fault::any(40, || rng.next_u64())
}

#[test]
fn every_game_is_accepted_once_over_a_faulty_network() {
    for seed in 0..3 {
        let coordinator = Coordinator::new(header(150), 40, 5);
        let mut rng = JitterRng::new(seed);
        let proxy = proxy::start(coordinator.socket(), move |_, _| trouble(&mut rng)).unwrap();
        let state = tempfile::tempdir().unwrap();
        // The worker's clock is accelerated, and its waits with it.
        let worker = Worker::start(&proxy.url(), state.path(), Arc::new(testkit::FastClock::new(200)));
        coordinator.wait_for(40);
        worker.finish();
        coordinator.check(digest_of(&header(150), Evaluation::Plain, None, 40));
        assert_eq!(std::fs::read_dir(state.path().join("refused")).unwrap().count(), 0);
    }
}

/// Processes with a faulty network, a server that restarts, and workers that are killed, at once.
#[cfg(unix)]
#[test]
fn every_game_is_accepted_once_despite_all_faults_at_once() {
    let mut coordinator = Coordinator::new(header(300), 120, 13);
    let mut rng = JitterRng::new(5);
    let proxy = proxy::start(coordinator.socket(), move |_, _| trouble(&mut rng)).unwrap();
    let state = tempfile::tempdir().unwrap();
    for round in 0..3 {
        let worker = Process::start(&proxy.url(), state.path(), &[]);
        std::thread::sleep(Duration::from_millis(1200));
        if round == 1 {
            coordinator.kill();
        }
        worker.signal("KILL");
        drop(worker);
        if round == 1 {
            coordinator.start();
        }
    }
    // A worker that has sent a request handles its signals, though all games may be accepted by
    // now.
    let asked = coordinator.state().asked;
    let worker = Process::start(&proxy.url(), state.path(), &[]);
    wait_until(|| coordinator.state().asked > asked);
    coordinator.wait_for(120);
    worker.signal("INT");
    assert_eq!(worker.end(), Some(0), "{}", log_of(state.path()));
    coordinator.check(digest_of(&header(300), Evaluation::Plain, None, 120));
}

/// Six hours, simulated in seconds: leases are finished, and waiting results are submitted when the
/// server is back.
#[test]
fn six_hours_without_a_server_lose_nothing() {
    let mut coordinator = Coordinator::new(header(500), 160, 10);
    let state = tempfile::tempdir().unwrap();
    let clock = Arc::new(testkit::JumpingClock::default());
    let worker = Worker::start(&coordinator.url(), state.path(), clock.clone());
    coordinator.wait_for(10);
    let before = {
        let mut state = coordinator.state();
        state.refuse = Some(|_| Some(Problem::new(Code::Internal, "the power is failing")));
        state.accepted.len()
    };
    coordinator.kill();
    for _ in 0..36 {
        clock.jump(Duration::from_mins(10));
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(coordinator.state().accepted.len(), before);
    let waiting = worker.said.wait_for(|snapshot| snapshot.doing == Doing::Waiting && snapshot.outbox > 0);
    assert!(waiting.reason.is_some() && waiting.outbox_reason.is_some(), "{waiting:?}");
    coordinator.state().refuse = None;
    coordinator.start();
    // Not at once: the backoff is in minutes by now.
    wait_until(|| {
        clock.jump(Duration::from_secs(20));
        coordinator.state().accepted.len() == 160
    });
    worker.finish();
    coordinator.check(digest_of(&header(500), Evaluation::Plain, None, 160));
}
