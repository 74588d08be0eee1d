//! The size of leases: how many games fill the time that a worker asks for.

use dataset::{Header, Time};
use protocol::campaign::Gate;

use crate::{
    clock::SECOND,
    model::{Job, JobKind, LeaseKind, MAX_GAMES_PER_LEASE, Player},
};

/// Intended work per lease, in seconds.
pub const LEASE_SECONDS: u32 = 300;

/// Intended work per lease and worker of the fleet, in seconds: a small fleet has short leases, so
/// that counts move. Up to [`LEASE_SECONDS`].
const SECONDS_PER_WORKER: i64 = 60;

/// Minimum number of games to which a share of the remaining ones is reduced.
const MIN_SHARE: i64 = 32;

/// Workers for each batch in a lease of a sequential test.
const WORKERS_PER_BATCH: i64 = 4;

/// Intended work for a worker without any upload, whose claimed speed is unproven, in seconds.
const FIRST_LEASE_SECONDS: u32 = 30;

/// Assumed moves per game before any was measured.
pub const DEFAULT_MOVES_PER_GAME: i64 = 100;

/// A lease expires after this many times the expected duration.
pub(super) const LEASE_TIMEOUT_FACTOR: i64 = 3;

/// Minimum duration of a lease.
pub(super) const MIN_LEASE_MS: i64 = 15 * 60 * SECOND;

/// Maximum duration of a lease, since the speed is only claimed.
const MAX_LEASE_MS: i64 = 12 * 3_600 * SECOND;

/// Maximum duration of the lease of an audit: a gate's verdict waits for it. With renewals it lasts
/// an hour.
const MAX_AUDIT_MS: i64 = 20 * 60 * SECOND;

/// Maximum threads credited to a worker without any upload.
const MAX_FIRST_THREADS: u64 = 16;

/// Assumed nodes per second of a thread whose speed is not known.
const DEFAULT_NODES_PER_SECOND: u64 = 400_000;

/// Returns the number of games that belong together: 2 in a match, where pairs share an opening.
#[must_use]
pub const fn unit(header: &Header) -> i64 {
    if header.opponent.is_some() { 2 } else { 1 }
}

impl Job {
    /// Games that belong together.
    #[must_use]
    pub const fn unit(&self) -> i64 {
        unit(&self.header)
    }

    /// The games of one lease, at most, in a fleet of so many workers. The fleet shares what
    /// remains, so that the last leases end together. A sequential test is leased in batches, so
    /// that it stops soon after its decision.
    #[must_use]
    pub fn max_games(&self, fleet: i64) -> i64 {
        let fleet = fleet.max(1);
        let share = self.game_limit.map(|limit| ((limit - self.frontier) / (2 * fleet)).max(MIN_SHARE));
        let batches = self.batch_games().map(|games| games * (fleet / WORKERS_PER_BATCH).max(1));
        let max = [share, batches].into_iter().flatten().min().unwrap_or(MAX_GAMES_PER_LEASE);
        (max / self.unit() * self.unit()).max(self.unit())
    }

    /// The games of a batch, if it is a sequential test.
    fn batch_games(&self) -> Option<i64> {
        let gate = self.gate.as_deref().filter(|_| self.kind == JobKind::Match);
        let gate = gate.and_then(|gate| serde_json::from_str::<Gate>(gate).ok());
        gate.map(|gate| 2 * i64::from(gate.batch_pairs))
    }

    /// Whether a sequential test has enough games that were leased and not yet judged: one batch
    /// for each worker of a small fleet. A worker then plays a batch while its last one is judged.
    /// A larger fleet never waits.
    #[must_use]
    pub fn awaits_verdict(&self, fleet: i64, judged: i64) -> bool {
        let fleet = fleet.max(1);
        fleet < 2 * WORKERS_PER_BATCH && self.batch_games().is_some_and(|games| self.frontier - judged > fleet * games)
    }

    /// Whether its games are played under a clock, so that they are not reproducible.
    #[must_use]
    pub const fn is_timed(&self) -> bool {
        self.header.clock.is_some()
    }
}

/// Cost of a position: nodes, or under a clock milliseconds of a thread. A soft limit adds a third,
/// because the iteration is finished.
#[must_use]
pub fn cost_per_position(header: &Header) -> i64 {
    match header.clock.map(|clock| clock.time) {
        Some(Time::Move { milliseconds }) => i64::from(milliseconds).max(1),
        // Each move uses a part of both sides' base time.
        Some(Time::Game { base_milliseconds, increment_milliseconds }) => {
            (i64::from(increment_milliseconds) + 2 * i64::from(base_milliseconds) / DEFAULT_MOVES_PER_GAME).max(1)
        }
        None => nodes_per_position(header),
    }
}

fn nodes_per_position(header: &Header) -> i64 {
    let nodes = |soft: Option<u64>, hard: u64| soft.map_or(hard, |soft| (soft + soft / 3).min(hard));
    let own = nodes(header.settings.soft_nodes, header.settings.hard_nodes);
    let nodes = header.opponent.as_ref().map_or(own, |other| own.midpoint(nodes(other.soft_nodes, other.hard_nodes)));
    nodes.clamp(1, i64::MAX as u64 / 1_000_000) as i64
}

/// Workers of an account that count in its fleet: no more than its proven work keeps busy. So names
/// of workers make no leases larger, nor waits longer.
#[must_use]
pub fn counted_workers(workers: i64, proven_nodes: i64) -> i64 {
    const BUSY_NODES: i64 = LEASE_SECONDS as i64 * DEFAULT_NODES_PER_SECOND as i64;
    workers.min(1 + proven_nodes.max(0) / BUSY_NODES)
}

impl Player {
    /// The speed that the worker claimed before, on so many threads: it restarts and knows none.
    #[must_use]
    pub fn earlier_claim(&self, threads: u32) -> Option<u64> {
        let claimed = self.nodes_per_second? as f64 / self.threads.max(1) as f64;
        Some((claimed * f64::from(threads)) as u64)
    }
}

/// The work that a worker can do, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Nodes per second of all threads.
    pub nodes_per_second: u64,
    /// Number of threads.
    pub threads: i64,
    /// Seconds of work to grant.
    pub seconds: u32,
}

impl Capacity {
    /// The capacity of a worker that claims this speed, with these threads, and wants at most so
    /// many seconds of work. Claims without any upload are limited.
    #[must_use]
    pub fn of(claim: Option<u64>, threads: u32, most_seconds: Option<u32>, has_delivered: bool) -> Self {
        let threads = u64::from(threads);
        let claimed = claim.unwrap_or(threads * DEFAULT_NODES_PER_SECOND);
        let claimed = claimed.clamp(1_000, threads * 20_000_000);
        let unproven = MAX_FIRST_THREADS * DEFAULT_NODES_PER_SECOND;
        let max = if claim.is_some() { LEASE_SECONDS } else { FIRST_LEASE_SECONDS };
        let default = if has_delivered { max } else { FIRST_LEASE_SECONDS };
        Self {
            nodes_per_second: if has_delivered { claimed } else { claimed.min(unproven) },
            threads: threads as i64,
            seconds: most_seconds.unwrap_or(default).clamp(1, max),
        }
    }

    /// The same in a fleet of so many workers.
    #[must_use]
    pub fn in_fleet(self, workers: i64) -> Self {
        let seconds = (SECONDS_PER_WORKER * workers.max(1)).min(i64::from(LEASE_SECONDS)) as u32;
        Self { seconds: self.seconds.min(seconds), ..self }
    }

    /// Returns how many games fill the time: whole pairs in a match.
    #[must_use]
    pub fn games(&self, job: &Job) -> i64 {
        let work = u128::from(self.speed_in(job)) * u128::from(self.seconds);
        let games = (work / (job.nodes_per_game.max(1) as u128)).min(MAX_GAMES_PER_LEASE as u128) as i64;
        let unit = job.unit();
        (games / unit * unit).max(unit)
    }

    /// Returns the work done per second: nodes, or under a clock milliseconds of all threads.
    const fn speed_in(&self, job: &Job) -> u64 {
        if job.is_timed() { self.threads as u64 * SECOND as u64 } else { self.nodes_per_second }
    }

    /// Returns the duration of a lease of this many games, in milliseconds.
    #[must_use]
    pub fn duration(&self, job: &Job, games: i64, kind: LeaseKind) -> i64 {
        // A game under a clock lasts as long on one thread as on many.
        let games = if job.is_timed() { games.max(self.threads) } else { games };
        let work = i128::from(games) * i128::from(job.nodes_per_game);
        let expected =
            (work * i128::from(SECOND) / i128::from(self.speed_in(job).max(1))).min(i128::from(MAX_LEASE_MS));
        let max = if kind == LeaseKind::Audit { MAX_AUDIT_MS } else { MAX_LEASE_MS };
        (LEASE_TIMEOUT_FACTOR * expected as i64).clamp(MIN_LEASE_MS, max)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        cmp::Reverse,
        collections::{BTreeMap, BinaryHeap},
    };

    use dataset::{Clock, Opponent};

    use super::*;
    use crate::rules::fixtures::{header, job};

    #[test]
    fn names_of_workers_do_not_count() {
        let counted = |workers, proven_seconds: i64| counted_workers(workers, proven_seconds * 400_000);
        let cases = [(1, 0), (1_000, 0), (0, 9_999), (1_000, 3_000), (5, 3_000), (9, -1)];
        assert_eq!(cases.map(|(workers, proven)| counted(workers, proven)), [1, 1, 0, 11, 5, 1]);
    }

    #[test]
    fn a_lease_fills_the_time() {
        let capacity = Capacity::of(Some(100_000), 4, None, true);
        assert_eq!((capacity.nodes_per_second, capacity.seconds), (100_000, LEASE_SECONDS));
        assert_eq!(capacity.games(&job(header())), 3_000);
        let short = Capacity { seconds: 1, ..capacity };
        assert_eq!(short.games(&job(header())), 10);
        assert_eq!(Capacity { nodes_per_second: u64::MAX, ..capacity }.games(&job(header())), 4_096);
        let opponent = Some(Opponent { net: None, soft_nodes: None, hard_nodes: 100 });
        let pairs = job(Header { opponent, ..header() });
        assert_eq!((Capacity { nodes_per_second: 75_000, ..short }.games(&pairs)), 6, "whole pairs");
        assert_eq!((Capacity { nodes_per_second: 1, ..short }.games(&pairs)), 2, "at least one");
    }

    #[test]
    fn a_small_fleet_has_short_leases() {
        let capacity = Capacity::of(Some(100_000), 4, None, true);
        let seconds = [0, 1, 2, 5, 5_000].map(|workers| capacity.in_fleet(workers).seconds);
        assert_eq!(seconds, [60, 60, 120, 300, 300]);
        let limited = Job { game_limit: Some(4_000), frontier: 1_000, ..job(header()) };
        assert_eq!([1, 2, 100].map(|fleet| limited.max_games(fleet)), [1_500, 750, 32]);
        assert_eq!(job(header()).max_games(1), MAX_GAMES_PER_LEASE, "there is no limit");
    }

    #[test]
    fn a_sequential_test_is_leased_in_batches() {
        let sequential = sequential_test();
        assert_eq!([1, 4, 7, 100].map(|fleet| sequential.max_games(fleet)), [16, 16, 16, 200]);
        let rating = Job { kind: JobKind::Rating, ..sequential.clone() };
        assert_eq!(rating.max_games(1), 20_000, "all of its pairs are played");
        let awaits = |frontier, fleet| Job { frontier, ..sequential.clone() }.awaits_verdict(fleet, 32);
        let at_least = |fleet| (0..1_000).find(|frontier| awaits(*frontier, fleet));
        assert_eq!([0, 1, 2, 7].map(at_least), [49, 49, 65, 145].map(Some), "a batch for each worker");
        assert_eq!(at_least(8), None, "a larger fleet never waits");
        assert!(!Job { frontier: 1_000, ..rating }.awaits_verdict(1, 0));
    }

    /// A sequential test of at most 40,000 games, in batches of 16.
    fn sequential_test() -> Job {
        let gate = serde_json::to_string(&Gate { batch_pairs: 8, ..Gate::default() }).unwrap();
        let opponent = Some(Opponent { net: None, soft_nodes: None, hard_nodes: 100 });
        Job { gate: Some(gate), game_limit: Some(40_000), ..job(Header { opponent, ..header() }) }
    }

    /// The games that were leased beyond the one that decided a test, when a fleet had played up to
    /// there. Every `slowest`-th worker takes so many times as long for a game as the fastest.
    fn wasted(fleet: i64, decided: i64, slowest: i64) -> i64 {
        let mut test = sequential_test();
        let (mut playing, mut done, mut judged) = (BinaryHeap::new(), BTreeMap::new(), 0);
        let (mut idle, mut now): (Vec<i64>, i64) = ((0..fleet).collect(), 0);
        loop {
            idle.retain(|worker| {
                let left = test.game_limit.unwrap() - test.frontier;
                let games = test.max_games(fleet).min(left);
                let plays = left > 0 && !test.awaits_verdict(fleet, judged);
                if plays {
                    playing.push(Reverse((now + games * (1 + worker % slowest), test.frontier, games, *worker)));
                    test.frontier += games;
                }
                !plays
            });
            let Reverse((ended, first, games, worker)) = playing.pop().unwrap();
            done.insert(first, games);
            while let Some(games) = done.remove(&judged) {
                judged += games;
            }
            if judged >= decided {
                return test.frontier - decided;
            }
            now = ended;
            idle.push(worker);
        }
    }

    #[test]
    fn a_decided_test_wastes_at_most_two_leases_of_each_worker() {
        for slowest in 1..=2 {
            for decided in [128, 2_000, 10_000] {
                for fleet in [1, 2, 7] {
                    let batches = wasted(fleet, decided, slowest) / 16;
                    assert!(batches <= fleet, "{batches} batches of {fleet} workers after {decided} games");
                }
                for fleet in [8, 16, 40, 100, 400] {
                    let (games, lease) = (wasted(fleet, decided, slowest), sequential_test().max_games(fleet));
                    assert!(games <= 2 * fleet * lease, "{games} games of {fleet} workers after {decided} games");
                }
            }
        }
        // The figures of docs/ARCHITECTURE.md, for workers of one speed.
        assert_eq!([1, 7, 8, 16, 40].map(|fleet| wasted(fleet, 2_000, 1)), [0, 96, 240, 1_008, 6_320]);
    }

    #[test]
    fn claims_without_an_upload_are_limited() {
        let first = Capacity::of(Some(80_000_000), 4, None, false);
        assert_eq!((first.nodes_per_second, first.seconds), (6_400_000, 30));
        assert_eq!(Capacity::of(Some(u64::MAX), 4, Some(600), true).nodes_per_second, 80_000_000);
        let unknown = Capacity::of(None, 4, Some(600), true);
        assert_eq!((unknown.nodes_per_second, unknown.seconds), (1_600_000, 30));
    }

    #[test]
    fn a_lease_lasts_three_times_the_expected_time_within_limits() {
        let capacity = Capacity { nodes_per_second: 10_000, threads: 4, seconds: 300 };
        let job = job(header());
        assert_eq!(capacity.duration(&job, 1, LeaseKind::Fresh), MIN_LEASE_MS);
        assert_eq!(capacity.duration(&job, 1_000, LeaseKind::Fresh), 3_000 * SECOND);
        assert_eq!(capacity.duration(&job, i64::MAX, LeaseKind::Fresh), MAX_LEASE_MS);
        // With renewals, a slow auditor holds up a verdict for an hour.
        assert_eq!(capacity.duration(&job, 1_000, LeaseKind::Audit), 20 * 60 * SECOND);
    }

    #[test]
    fn a_clock_costs_time_on_each_thread() {
        let time = Time::Move { milliseconds: 100 };
        let mut job = job(Header { clock: Some(Clock { time, grace_milliseconds: 0 }), ..header() });
        job.nodes_per_game = cost_per_position(&job.header) * DEFAULT_MOVES_PER_GAME;
        let capacity = Capacity { nodes_per_second: 1, threads: 4, seconds: 300 };
        assert_eq!((job.nodes_per_game, capacity.games(&job)), (10_000, 120));
        assert_eq!(capacity.duration(&job, 120, LeaseKind::Fresh), 900 * SECOND);
        assert_eq!(capacity.duration(&job, 1_200, LeaseKind::Fresh), 9_000 * SECOND);
    }
}
