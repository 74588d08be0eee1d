//! The live view of a worker's games, and that it does not change them.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod common;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use common::{coordinator::Coordinator, digest_of, header, in_process::Worker, wait_until};
use dataset::{Header, Opponent};
use engine::Evaluation;
use protocol::api::problem::{Code, Problem};
use testkit::{FastClock, JumpingClock};
use xiangqi::{Fen, rules::Game};

/// A match in which one side has half the nodes.
fn a_match(nodes: u64) -> Header {
    let opponent = Opponent { net: None, soft_nodes: None, hard_nodes: nodes / 2 };
    Header { opponent: Some(opponent), ..header(nodes) }
}

/// The rate is one of the worker's clock, which this test moves.
#[test]
fn a_watched_match_is_shown_and_is_the_same_match() {
    let terms = a_match(60_000);
    let coordinator = Coordinator::new(terms.clone(), 4, 4);
    coordinator.state().watched = true;
    let state = tempfile::tempdir().unwrap();
    let (clock, mut seconds) = (Arc::new(JumpingClock::still()), 0);
    let worker = Worker::start(&coordinator.url(), state.path(), clock.clone());
    wait_until(|| {
        clock.jump(Duration::from_secs(1));
        seconds += 1;
        let state = coordinator.state();
        state.accepted.len() == 4 && !state.shown.is_empty()
    });
    worker.finish();
    coordinator.check(digest_of(&terms, Evaluation::Plain, Some(Evaluation::Plain), 4));
    let state = coordinator.state();
    assert!(state.shown.len() <= seconds, "{} updates in {seconds} s", state.shown.len());
    for (_, live) in &state.shown {
        let mut game = Game::new(live.start.parse::<Fen>().unwrap(), terms.rules);
        for text in live.moves.split(' ').chain(live.variation.split(' ')).filter(|text| !text.is_empty()) {
            let mv = game.position().parse_move(text).unwrap();
            if game.push(mv).is_err() {
                break;
            }
        }
        let (record, ..) = &state.accepted[&live.game];
        let played = record.opening.moves.iter().copied().chain(record.moves.iter().map(|scored| scored.mv));
        let played = played.map(|mv| mv.to_string()).collect::<Vec<_>>().join(" ");
        assert!(played.starts_with(&live.moves), "{played} / {}", live.moves);
        assert_eq!(live.end.is_some(), played == live.moves);
        assert!(live.nodes.iter().sum::<u64>() > 0);
    }
}

/// A rejected live view does not stop the games.
#[test]
fn games_do_not_depend_on_the_live_view() {
    let terms = a_match(400);
    for watched in [false, true] {
        let coordinator = Coordinator::new(terms.clone(), 16, 8);
        coordinator.state().watched = watched;
        if watched {
            coordinator.state().refuse = Some(|request| {
                request
                    .path
                    .ends_with("/live")
                    .then(|| Problem::new(Code::Internal, "the coordinator failed: its log says why"))
            });
        }
        let state = tempfile::tempdir().unwrap();
        let worker = Worker::start(&coordinator.url(), state.path(), Arc::new(FastClock::new(50)));
        coordinator.wait_for(16);
        std::thread::sleep(Duration::from_millis(100));
        worker.finish();
        coordinator.check(digest_of(&terms, Evaluation::Plain, Some(Evaluation::Plain), 16));
        assert!(coordinator.state().shown.is_empty());
    }
}

/// After a declined update no game of the lease is shown, though another lease is declined later.
#[test]
fn a_declined_lease_is_not_shown_again() {
    static DECLINED: AtomicUsize = AtomicUsize::new(0);
    let terms = header(2000);
    let coordinator = Coordinator::new(terms.clone(), 24, 12);
    coordinator.state().watched = true;
    coordinator.state().refuse = Some(|request| {
        request.path.ends_with("/live").then(|| {
            DECLINED.fetch_add(1, Relaxed);
            Problem::new(Code::Conflict, "no account watches these games")
        })
    });
    let state = tempfile::tempdir().unwrap();
    let worker = Worker::start(&coordinator.url(), state.path(), Arc::new(FastClock::new(200)));
    coordinator.wait_for(24);
    // The last game's end waits for its update.
    wait_until(|| DECLINED.load(Relaxed) > 0);
    worker.finish();
    let declined = DECLINED.load(Relaxed);
    // A lease that is done cannot be marked: the end of its last game may be shown.
    assert!((1..=4).contains(&declined), "{declined} updates of two leases were declined");
    coordinator.check(digest_of(&terms, Evaluation::Plain, None, 24));
}
