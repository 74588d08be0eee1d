//! Games under a clock.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod common;

use std::{
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use common::{match_run, net, play};
use dataset::{
    Header,
    shard::{Shard, ShardWriter},
    verify::verify_shard,
};
use engine::{Evaluation, Parameters};
use selfplay::{
    Clock, Reason, Time, Timed, Timer,
    selfplay::{Opponent, Run},
};
use xiangqi::rules::Outcome;

/// A clock that advances by a fixed number of microseconds per reading.
struct Ticks {
    step: u64,
    now: AtomicU64,
}

impl Timer for Ticks {
    fn now(&self) -> Duration {
        Duration::from_micros(self.now.fetch_add(self.step, Relaxed))
    }
}

fn ticks(step: u64) -> Arc<Ticks> {
    Arc::new(Ticks { step, now: AtomicU64::new(0) })
}

fn timed(time: Time, grace_milliseconds: u32, step: u64) -> Run {
    let mut run = match_run(4, 1);
    run.settings.hard_nodes = 0;
    run.settings.ply_cap = 24;
    run.opponent =
        Some(Opponent { evaluation: net(), parameters: Parameters::default(), soft_nodes: None, hard_nodes: 0 });
    run.timed = Some(Timed { clock: Clock { time, grace_milliseconds }, timer: ticks(step) });
    run
}

fn assert_valid(run: &Run, records: &[selfplay::Record]) {
    let mut writer = ShardWriter::new(Vec::new(), run.header()).unwrap();
    for record in records {
        writer.add(record).unwrap();
    }
    let shard = Shard::new(writer.finish().unwrap().0).unwrap();
    let report = verify_shard(&shard, None, NonZeroUsize::MIN).unwrap();
    assert_eq!((report.games, report.faults), (records.len() as u64, Vec::new()));
}

#[test]
fn games_within_the_time_control_end_without_time_loss() {
    let game = Time::Game { base_milliseconds: 2_000, increment_milliseconds: 20 };
    for time in [Time::Move { milliseconds: 20 }, game] {
        let run = timed(time, 60_000, 4_000);
        let records = play(&run);
        assert!(records.iter().all(|record| record.reason != Reason::TimeLoss && !record.moves.is_empty()));
        assert_eq!(Header::from_bytes(&run.header().to_bytes()), Ok(run.header()));
        assert_valid(&run, &records);
    }
}

#[test]
fn a_late_move_loses() {
    // Ten seconds pass at every reading.
    let run = timed(Time::Move { milliseconds: 20 }, 100, 10_000_000);
    let records = play(&run);
    for record in &records {
        // Openings have an even number of plies: Red is the first to move.
        assert_eq!((record.outcome, record.reason), (Outcome::BlackWins, Reason::TimeLoss));
        assert!(record.moves.is_empty());
    }
    assert_valid(&run, &records);
    // A clock per game runs out in the middle.
    let run = timed(Time::Game { base_milliseconds: 30, increment_milliseconds: 0 }, 5, 2_000);
    let records = play(&run);
    assert!(records.iter().any(|record| record.reason == Reason::TimeLoss && !record.moves.is_empty()));
    assert_valid(&run, &records);
}

#[test]
fn timed_games_are_not_replayed_without_a_timer() {
    let header = timed(Time::Move { milliseconds: 20 }, 0, 1).header();
    let plain = Evaluation::Plain;
    let error = Run::from_header(&header, plain.clone(), Some(net()), None).unwrap_err();
    assert!(error.to_string().starts_with("the games are played under a clock"), "{error}");
    let run = Run::from_header_with_timer(&header, plain.clone(), Some(net()), None, ticks(1)).unwrap();
    assert_eq!(run.header(), header);
    // A header without a clock never reads the timer.
    let other = match_run(2, 1);
    let timer = ticks(1);
    let run = Run::from_header_with_timer(&other.header(), plain, Some(net()), None, timer.clone()).unwrap();
    let again = Run { games: 2, ..run };
    assert_eq!(play(&again), play(&other));
    assert_eq!(timer.now.load(Relaxed), 0);
}
