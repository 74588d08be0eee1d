//! Retries: no failure rejects a result that the server would take, or delays another.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod common;

use std::{
    fs,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use common::{
    clock,
    coordinator::{Coordinator, reject_uploads},
    digest_of, header,
    in_process::Worker,
    process::leave_results,
    state_folder::leases,
    wait_until,
};
use dataset::{Digest, Header};
use engine::Evaluation;
use protocol::api::{
    problem::{Code, Problem},
    work::Lease,
};
use testkit::{
    FastClock, JumpingClock,
    http::Request,
    proxy::{self, Fault},
};
use worker::spool::{Contents, Record, SavedLease, Spool, SystemDisk};

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
    wait_until(|| {
        clock.jump(Duration::from_mins(1));
        REJECTED.load(Relaxed) >= ATTEMPTS
    });
    // The second lease needs no step of the clock.
    coordinator.state().games = 8;
    coordinator.wait_for(4);
    assert!(coordinator.state().refuse.take().is_some(), "the first lease is refused until then");
    worker.finish();
    coordinator.check(digest_of(&header(200), Evaluation::Plain, None, 8));
}

/// Returns the lease of a file.
fn lease_of(file: &Path) -> SavedLease {
    Contents::read(&fs::read(file).unwrap()).0.lease.unwrap()
}

/// A proxy declines a body that is too large for it, or cuts its connection.
#[test]
fn a_result_that_a_proxy_declines_delays_no_other() {
    for fault in [Fault::Error(413), Fault::DropRequest] {
        let coordinator = Coordinator::new(header(200), 12, 4);
        let declined = Arc::new(Mutex::new(None::<String>));
        let first = Arc::clone(&declined);
        let faults = move |_, request: &Request| match &*first.lock().unwrap() {
            Some(token) if request.path.contains(&format!("/{token}/games/")) => fault,
            _ => Fault::None,
        };
        let proxy = proxy::start(coordinator.socket(), faults).unwrap();
        let state = tempfile::tempdir().unwrap();
        let files = leave_results(&coordinator, &proxy.url(), state.path());
        *declined.lock().unwrap() = Some(lease_of(&files[0]).lease.token);
        let worker = Worker::start(&proxy.url(), state.path(), Arc::new(FastClock::new(20)));
        coordinator.wait_for(8);
        worker.said.wait_for(|snapshot| snapshot.outbox == 1 && snapshot.outbox_reason.is_some());
        *declined.lock().unwrap() = None;
        coordinator.wait_for(12);
        worker.finish();
        coordinator.check(digest_of(&header(200), Evaluation::Plain, None, 12));
    }
}

/// The spool does not fill the disk while no result can be sent.
#[test]
fn no_games_are_asked_for_while_a_hundred_results_wait() {
    let coordinator = Coordinator::new(header(200), 4, 4);
    let state = tempfile::tempdir().unwrap();
    let files = leave_results(&coordinator, &coordinator.url(), state.path());
    for number in 1..100 {
        fs::copy(&files[0], files[0].with_file_name(format!("copy-{number}.lease"))).unwrap();
    }
    coordinator.state().refuse = Some(reject_uploads);
    coordinator.state().games = 8;
    let asked = coordinator.state().asked;
    let worker = Worker::start(&coordinator.url(), state.path(), Arc::new(FastClock::new(20)));
    worker.said.wait_for(|snapshot| {
        snapshot.reason.as_deref().is_some_and(|why| why.starts_with("100 results wait: the server has to take"))
    });
    assert_eq!(coordinator.state().asked, asked);
    coordinator.state().refuse = None;
    coordinator.wait_for(8);
    worker.finish();
    coordinator.check(digest_of(&header(200), Evaluation::Plain, None, 8));
}

fn reject_nets(request: &Request) -> Option<Problem> {
    request.path.contains("/nets/").then(|| Problem::new(Code::Internal, "the coordinator failed"))
}

/// Results of an earlier run are sent, though a lease of that run waits for its net.
#[test]
fn a_net_that_cannot_be_fetched_delays_no_result() {
    let coordinator = Coordinator::new(header(200), 4, 4);
    let state = tempfile::tempdir().unwrap();
    let saved = lease_of(&leave_results(&coordinator, &coordinator.url(), state.path())[0]);
    coordinator.state().refuse = Some(reject_nets);
    let terms = Header { net: Some(Digest::of(b"a net")), ..saved.lease.terms.clone() };
    let until = clock().since_1970().as_secs() + 900;
    let open = SavedLease { until, lease: Lease { terms, ..saved.lease.clone() }, ..saved };
    // The first file in the folder.
    Spool::open(state.path(), Arc::new(SystemDisk)).unwrap().0.put("-", &[Record::Lease(Box::new(open))]).unwrap();
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    worker.said.wait_for(|snapshot| snapshot.reason.as_deref().is_some_and(|why| why.contains("A file is missing")));
    coordinator.wait_for(4);
    worker.stop();
}

/// An earlier attempt delivered them in another shard.
#[test]
fn games_that_the_server_has_already_are_delivered() {
    let coordinator = Coordinator::new(header(200), 4, 4);
    coordinator.state().refuse = Some(|request: &Request| {
        let mut problem = Problem::new(Code::Conflict, "the games 0 to 3 of the lease were received already");
        problem.parameters.insert("refusal".to_owned(), "games_received".into());
        request.path.contains("/games/").then_some(problem)
    });
    let state = tempfile::tempdir().unwrap();
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    let end = worker.said.wait_for(|snapshot| snapshot.games_accepted + snapshot.games_refused == 4);
    assert_eq!((end.games_accepted, end.refused), (4, 0));
    worker.finish();
    assert!(leases(state.path()).is_empty());
}

/// The limit of an account is that of all its results: they do not storm the server.
#[test]
fn one_result_tries_whether_the_account_may_upload_again() {
    static UPLOADS: AtomicUsize = AtomicUsize::new(0);
    let coordinator = Coordinator::new(header(200), 12, 4);
    let state = tempfile::tempdir().unwrap();
    leave_results(&coordinator, &coordinator.url(), state.path());
    coordinator.state().refuse = Some(|request: &Request| {
        request.path.contains("/games/").then(|| {
            UPLOADS.fetch_add(1, Relaxed);
            Problem::new(Code::TooMany, "100 uploads of the account wait for validation: send the next one later")
        })
    });
    let worker = Worker::start(&coordinator.url(), state.path(), Arc::new(JumpingClock::still()));
    worker.said.wait_for(|snapshot| snapshot.outbox == 3 && snapshot.outbox_reason.is_some());
    assert_eq!(UPLOADS.load(Relaxed), 1);
    coordinator.state().refuse = None;
    worker.finish();
    coordinator.check(digest_of(&header(200), Evaluation::Plain, None, 12));
}
