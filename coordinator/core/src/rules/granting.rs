//! Which games a worker gets, or why it waits.

use std::{collections::BTreeMap, ops::Range};

use sha2::{Digest as _, Sha256};

use crate::{
    clock::{SECOND, Time},
    model::{
        AccountState, Auditor, Fleet, Job, JobId, JobKind, LeaseLoad, MAX_GAMES_PER_LEASE, OpenJob, Player, WorkerId,
    },
};

/// Maximum shards waiting for validation before no new self-play games are granted.
pub const MAX_VALIDATION_BACKLOG: i64 = 500;

/// Maximum active leases of a worker; more would hold games that others could play.
const MAX_LEASES_PER_WORKER: i64 = 64;

/// Maximum active leases of an account beyond the number it has fulfilled, over all its workers.
const BASE_LEASES_PER_ACCOUNT: i64 = 1_000;

/// Numbers of attempts at which games without a result are reported as stalled.
const STALL_ATTEMPTS: [i64; 3] = [5, 50, 500];

/// Coordinator-wide conditions for new leases.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The reason why no self-play games are granted.
    pub no_selfplay: Option<String>,
    /// Whether the store of objects failed when it was last probed.
    pub lost_objects: bool,
    /// Maximum uploads of an account that wait for validation, beyond which it gets no self-play
    /// games; any number, if none.
    pub max_waiting: Option<i64>,
    /// The only bench signature allowed to play; any, if none.
    pub bench_signature: Option<u64>,
    /// The active workers.
    pub fleet: Fleet,
    /// The open sequential tests, each with the counted games that its last judgement has seen.
    pub judged: BTreeMap<JobId, i64>,
}

/// Share of the whole backlog that one account may fill: one in so many.
const BACKLOG_SHARE: i64 = 4;

/// Multiple of an account's backlog at which its uploads are refused: games in progress have room.
const UPLOAD_FACTOR: i64 = 2;

/// Returns the maximum uploads of one account that wait for validation. Beyond the maximum of all,
/// each of the waiting accounts has a fair share of half of it. So the account that fills the
/// backlog is passed over, and no other.
#[must_use]
pub fn max_waiting(max_backlog: i64, backlog: i64, waiting_accounts: i64) -> i64 {
    let share = if backlog > max_backlog { 2 * waiting_accounts.max(1) } else { BACKLOG_SHARE };
    (max_backlog / share).max(1)
}

/// Whether an account with so many waiting uploads may send another one. Beyond the maximum of all,
/// the waiting accounts share it: so a few cannot bring about [`is_overrun`], which stops all.
/// `max_waiting` is not known before the first count.
#[must_use]
pub fn may_upload(max_backlog: i64, max_waiting: Option<i64>, waiting: i64) -> bool {
    waiting <= UPLOAD_FACTOR * max_waiting.unwrap_or(max_backlog / BACKLOG_SHARE)
}

/// Whether the backlog is so long that no account gets self-play games.
#[must_use]
pub const fn is_overrun(max_backlog: i64, backlog: i64) -> bool {
    backlog > UPLOAD_FACTOR * max_backlog
}

impl Player {
    /// Seconds that it waits for faults of its account; none if it gets games.
    #[must_use]
    pub fn fault_seconds(&self, now: Time) -> Option<u32> {
        self.standing.wait_seconds(now).filter(|_| !self.key.is_trusted)
    }

    /// Returns the reason why it gets no leases, if there is one.
    #[must_use]
    pub fn block_reason(&self) -> Option<String> {
        if let Some(message) = &self.blocked {
            return Some(message.to_string());
        }
        if self.state == AccountState::Active {
            return None;
        }
        Some(self.message.as_ref().map_or_else(|| format!("the account is {}", self.state), ToString::to_string))
    }
}

impl LeaseLoad {
    /// Returns how many fulfilled leases the account needs for one more. There may be millions, so
    /// they are counted up to this number only.
    #[must_use]
    pub const fn needed_fulfilled(&self) -> i64 {
        let beyond = self.of_account - BASE_LEASES_PER_ACCOUNT + 1;
        if beyond > 0 { beyond } else { 0 }
    }

    /// Returns the reason if the worker or its account is at its limit.
    #[must_use]
    pub fn limit_reason(&self, fulfilled: i64) -> Option<String> {
        let over = |whose: &str, leases: i64| {
            format!("the {whose} has {leases} leases that are not over: deliver their games first")
        };
        if self.of_worker >= MAX_LEASES_PER_WORKER {
            return Some(over("worker", self.of_worker));
        }
        (fulfilled < self.needed_fulfilled()).then(|| over("account", self.of_account))
    }
}

impl Wait {
    /// The wait of an account that has played its share of a gate.
    #[must_use]
    pub fn for_others() -> Self {
        let reason = "the account has played its share of the match: others play the rest";
        Self { seconds: None, reason: reason.to_owned() }
    }

    /// The wait of an account to which as much is lent as it has proven.
    #[must_use]
    pub fn until_validated() -> Self {
        let reason = "a new account gets more games as soon as those that it sent are validated";
        // Short: a worker asks while it still has games to play.
        Self { seconds: Some(2), reason: reason.to_owned() }
    }
}

/// Why a job has no games for a worker now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Seconds until it asks again; without a number, the idle wait applies.
    pub seconds: Option<u32>,
    /// The reason.
    pub reason: String,
}

impl Wait {
    /// The wait of a worker that finds no job. `others`: there are jobs for another engine.
    #[must_use]
    pub fn without_jobs(others: bool) -> Self {
        if others {
            let reason = "the games at hand are for another version of the engine: update the worker";
            return Self { seconds: Some(3_600), reason: reason.to_owned() };
        }
        Self { seconds: None, reason: "there is nothing to play at the moment".to_owned() }
    }
}

impl Wait {
    /// The wait after a further job had no games either.
    #[must_use]
    pub fn or(self, later: Self) -> Self {
        Self { seconds: later.seconds.or(self.seconds), reason: later.reason }
    }
}

impl OpenJob {
    /// Why a worker does not play this job now, if it does not.
    #[must_use]
    pub fn wait(&self, worker: WorkerId, waiting: i64, now: Time, policy: &Policy) -> Option<Wait> {
        if self.kind == JobKind::Selfplay
            && let Some(reason) = &policy.no_selfplay
        {
            return Some(Wait { seconds: None, reason: reason.clone() });
        }
        if self.kind == JobKind::Selfplay && policy.max_waiting.is_some_and(|max| waiting > max) {
            let reason =
                format!("{waiting} uploads of the account wait for validation: no new games until there are fewer");
            return Some(Wait { seconds: None, reason });
        }
        let start = self.created.after(start_delay(worker, self.id, self.spread));
        (start > now).then(|| {
            let seconds = ((start.0 - now.0) / SECOND + 1) as u32;
            Wait { seconds: Some(seconds), reason: "a new net is about to be played".to_owned() }
        })
    }
}

/// Jitter: delays a worker's start with a new job, so that not all of them fetch its net at once.
fn start_delay(worker: WorkerId, job: JobId, spread: i64) -> i64 {
    if spread <= 0 {
        return 0;
    }
    let hash = Sha256::digest([worker.0.to_le_bytes(), job.0.to_le_bytes()].concat());
    let number = u64::from_le_bytes(*hash.first_chunk().expect("a hash is longer"));
    (number % spread as u64) as i64
}

impl Job {
    /// Returns up to so many games that were never leased; none at the job's limit.
    #[must_use]
    pub fn next_games(&self, games: i64) -> Option<Range<i64>> {
        let limit = self.game_limit.unwrap_or(i64::MAX - MAX_GAMES_PER_LEASE);
        let end = (self.frontier + games).min(limit);
        (end > self.frontier).then_some(self.frontier..end)
    }
}

/// One account plays at most one in so many of a gate's games, if enough others are there.
const GATE_SHARE: i64 = 3;

/// Games of a gate that any account may play.
const FREE_GATE_GAMES: i64 = 32;

/// The time without a lease after which a gate is for any account.
const GATE_IDLE_MS: i64 = 60 * SECOND;

/// The accounts of a fleet among which gates are shared: those with proven work. Others would stop
/// a gate by asking for it.
#[must_use]
pub fn gate_accounts(auditors: &[Auditor]) -> i64 {
    auditors.iter().filter(|auditor| auditor.proven_nodes > 0 || auditor.is_trusted).count() as i64
}

/// Whether a gate of so few accounts is for all of them alike, since it would never end.
#[must_use]
pub const fn is_small_gate(accounts: i64) -> bool {
    accounts <= GATE_SHARE
}

/// Games of a gate that an account gets at most, beside those that it was lent or has delivered.
/// So one account plays a third of the games up to the frontier, in whole `unit`s. `idle` is the
/// time since the last lease of the gate: then the others do not ask for it.
#[must_use]
pub fn gate_room(own: i64, frontier: i64, idle: i64, unit: i64) -> i64 {
    if idle > GATE_IDLE_MS {
        return i64::MAX;
    }
    (FREE_GATE_GAMES.max(frontier / GATE_SHARE) - own) / unit * unit
}

/// Returns the seconds until an idle worker asks again; they grow with the number of workers.
#[must_use]
pub fn idle_seconds(active_workers: i64) -> u32 {
    (10 + active_workers / 200).min(300) as u32
}

/// Whether games are reported as stalled at this attempt: they may be at fault themselves.
#[must_use]
pub fn is_stall(attempts: i64) -> bool {
    STALL_ATTEMPTS.contains(&attempts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::AccountId;

    #[test]
    fn an_account_has_a_thousand_leases_and_one_more_for_each_that_it_fulfilled() {
        let load = |of_worker, of_account| LeaseLoad { of_worker, of_account, lent_nodes: 0, waiting: 0 };
        assert_eq!((load(63, 999).needed_fulfilled(), load(63, 999).limit_reason(0)), (0, None));
        assert!(load(64, 64).limit_reason(99).unwrap().starts_with("the worker has 64 leases"));
        assert_eq!(load(0, 1_000).needed_fulfilled(), 1);
        assert!(load(0, 1_000).limit_reason(0).unwrap().starts_with("the account has 1000 leases"));
        assert_eq!((load(0, 1_000).limit_reason(1), load(0, 1_004).limit_reason(5)), (None, None));
        assert!(load(0, 1_004).limit_reason(4).is_some());
    }

    #[test]
    fn workers_begin_with_a_new_job_at_different_times() {
        let delays: Vec<i64> = (0..200).map(|worker| start_delay(WorkerId(worker), JobId(1), 1_000)).collect();
        assert!(delays.iter().all(|delay| (0..1_000).contains(delay)));
        assert!(delays.iter().filter(|delay| **delay < 500).count().abs_diff(100) < 40, "{delays:?}");
        let job = OpenJob { id: JobId(1), kind: JobKind::Match, created: Time(5_000), spread: 1_000 };
        let start = 5_000 + delays[7];
        let wait = |now| job.wait(WorkerId(7), 0, Time(now), &Policy::default());
        assert_eq!((wait(start - 1).unwrap().seconds, wait(start)), (Some(1), None));
    }

    #[test]
    fn a_full_disk_stops_selfplay_alone() {
        let policy = Policy { no_selfplay: Some("the disk is full".to_owned()), ..Policy::default() };
        for kind in JobKind::ALL {
            let job = OpenJob { id: JobId(1), kind: *kind, created: Time(0), spread: 0 };
            assert_eq!(job.wait(WorkerId(1), 0, Time(1), &policy).is_some(), *kind == JobKind::Selfplay);
        }
    }

    #[test]
    fn an_account_that_fills_the_backlog_is_passed_over() {
        assert_eq!([0, 500].map(|backlog| max_waiting(500, backlog, 9)), [125, 125]);
        assert_eq!([0, 1, 5, 10_000].map(|accounts| max_waiting(500, 501, accounts)), [250, 250, 50, 1]);
        assert_eq!([250, 251].map(|waiting| may_upload(500, None, waiting)), [true, false]);
        assert_eq!([100, 101].map(|waiting| may_upload(500, Some(50), waiting)), [true, false]);
        for accounts in 1..=250 {
            let last = UPLOAD_FACTOR * max_waiting(500, 501, accounts) + 1;
            assert!(!is_overrun(500, accounts * last), "{accounts} accounts of one owner stop no others");
        }
        assert_eq!([1_000, 1_001].map(|backlog| is_overrun(500, backlog)), [false, true]);
        let policy = Policy { max_waiting: Some(125), ..Policy::default() };
        for kind in JobKind::ALL {
            let job = OpenJob { id: JobId(1), kind: *kind, created: Time(0), spread: 0 };
            let wait = |waiting| job.wait(WorkerId(1), waiting, Time(1), &policy).is_some();
            assert_eq!((wait(125), wait(126)), (false, *kind == JobKind::Selfplay));
        }
    }

    #[test]
    fn an_account_plays_a_third_of_a_gate_at_most() {
        let room = |own, frontier| gate_room(own, frontier, 60_000, 2);
        assert_eq!([0, 30, 32, 40].map(|own| room(own, 96)), [32, 2, 0, -8], "the first games are free");
        assert_eq!([98, 100].map(|own| room(own, 300)), [2, 0]);
        assert_eq!([100, 102].map(|frontier| room(16, frontier)), [16, 18], "whole pairs");
        assert_eq!(gate_room(300, 300, 60_001, 2), i64::MAX, "others do not ask for it");
        assert_eq!([3, 4].map(is_small_gate), [true, false], "few accounts play all of it");
        let auditor = |proven_nodes, is_trusted| Auditor { account: AccountId(1), proven_nodes, is_trusted };
        assert_eq!(gate_accounts(&[auditor(0, false), auditor(1, false), auditor(0, true)]), 2);
    }

    #[test]
    fn idle_workers_ask_less_often_the_more_there_are() {
        assert_eq!([0, 199, 200, 20_000, 1_000_000].map(idle_seconds), [10, 10, 11, 110, 300]);
        assert_eq!((0..600).filter(|attempts| is_stall(*attempts)).collect::<Vec<_>>(), STALL_ATTEMPTS);
    }
}
