//! Grants games to a worker.

use std::ops::Range;

use dataset::Header;
use protocol::api::{
    problem::Code,
    work::{Answer, Ask, Lease, Work},
};

use crate::{
    clock::{HOUR, SECOND, Time},
    model::{
        AccountId, Event, GateShare, Job, JobKind, JobState, LeaseId, LeaseKind, LeaseLoad, LeaseToken, NewLease,
        Player, Segment, ShardId, Stall, TokenId, WorkerId,
    },
    ops::{live, workers::MAX_THREADS},
    people::secret,
    rules::{
        case::Case,
        granting::{Policy, Wait, gate_accounts, gate_room, idle_seconds, is_small_gate, is_stall},
        leases::MIN_QUIET_MS,
        segments,
        sizing::Capacity,
    },
    store::{Operation, StoreError, Tx},
};

/// Seconds until a worker asks again whether a sequential test continues.
const VERDICT_SECONDS: u32 = 1;

/// Lost games of self-play are for accounts that asked for games in this time.
const OTHERS_MS: i64 = 10 * 60 * SECOND;

/// They are for others until so long after their lease began.
const RESERVED_MS: i64 = HOUR / 2;

/// Why it waits.
const VERDICT_REASON: &str = "the match may be decided: its last games are being judged";

/// Why an account with faults waits.
const FAULTS_REASON: &str = "games of the account were lost or rejected too often: it waits longer each time";

/// The authenticated caller.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// The account of the token.
    pub account: AccountId,
    /// The token of the request.
    pub token: Option<TokenId>,
    /// A random number, which decides on audits.
    pub draw: u64,
}

/// Grants a worker a lease, or a time to wait. Also returns the notices for the worker.
pub struct AcquireLease {
    /// The authenticated caller.
    pub caller: Caller,
    /// The request.
    pub ask: Ask,
    /// Conditions of the whole coordinator.
    pub policy: Policy,
}

impl Operation for AcquireLease {
    const NAME: &'static str = "acquire_lease";
    type Output = Answer;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Answer, StoreError> {
        let worker = WorkerId(self.ask.worker);
        let player = tx.workers().player(self.caller.account, worker).await?;
        let none = || StoreError::rejected(Code::NotFound, format!("the account has no worker {worker}"));
        let player = player.ok_or_else(none)?;
        player.key.check(worker, self.caller.token)?;
        if player.key.token != self.caller.token {
            tx.workers().bind_token(worker, self.caller.token).await?;
        }
        tx.shards().acknowledge(worker, &self.ask.acknowledged).await?;
        if let Some(message) = player.block_reason() {
            return Err(StoreError::rejected(Code::Blocked, message));
        }
        let work = self.work(tx, &player).await?;
        Ok(Answer { work, notices: tx.shards().notices(worker).await? })
    }
}

impl AcquireLease {
    /// The games for a worker: those of an equal request, or else a dispute, an audit or new ones.
    async fn work(&self, tx: &mut Tx<'_>, player: &Player) -> Result<Work, StoreError> {
        let now = tx.now();
        let threads = self.ask.threads.clamp(1, MAX_THREADS);
        let claim = self.ask.nodes_per_second.or_else(|| player.earlier_claim(threads));
        tx.workers().record_request(player.id, now, threads, claim).await?;
        if let Some(lease) = self.repeated(tx, player.id).await? {
            return Ok(Work::Games(lease));
        }
        if let Some(seconds) = player.fault_seconds(now) {
            return Ok(Work::Wait { seconds, reason: FAULTS_REASON.to_owned() });
        }
        let load = tx.leases().load(player.id, player.account).await?;
        let fulfilled = match load.needed_fulfilled() {
            0 => 0,
            needed => tx.leases().fulfilled(player.account, needed).await?,
        };
        if let Some(reason) = load.limit_reason(fulfilled) {
            return Ok(Work::Wait { seconds: 60, reason });
        }
        let capacity = Capacity::of(claim, threads, self.ask.most_seconds, player.has_delivered);
        let fleet = self.policy.fleet.active;
        let capacity = fleet.map_or(capacity, |workers| capacity.in_fleet(workers));
        let grant = Grant { player, nonce: &self.ask.nonce, capacity, fleet, load };
        if player.key.is_trusted
            && let Some(lease) = grant.settlement(tx).await?
        {
            return Ok(Work::Games(lease));
        }
        if let Some(work) = grant.audit(tx, self.caller.draw).await? {
            return Ok(work);
        }
        grant.fresh(tx, &self.policy).await
    }

    /// Idempotent retry: the active lease that was granted for the same nonce.
    async fn repeated(&self, tx: &mut Tx<'_>, worker: WorkerId) -> Result<Option<Lease>, StoreError> {
        let Some(lease) = tx.leases().by_nonce(worker, &self.ask.nonce).await? else { return Ok(None) };
        let left = ((lease.expires.0 - tx.now().0) / SECOND).max(0) as u32;
        let live = live::is_watched(&mut tx.connection(), lease.id).await?;
        Ok(Some(Lease { live, ..answer(lease.token, &lease.header, &lease.numbers, left) }))
    }
}

fn answer(token: LeaseToken, header: &Header, games: &Range<i64>, seconds: u32) -> Lease {
    let terms = Header { first_game: games.start as u64, ..header.clone() };
    Lease { token: token.0, terms, games: (games.end - games.start) as u64, seconds, live: false }
}

/// A worker that gets a lease.
struct Grant<'a> {
    player: &'a Player,
    nonce: &'a str,
    capacity: Capacity,
    fleet: Option<i64>,
    load: LeaseLoad,
}

impl Grant<'_> {
    /// Adds a lease of these games.
    async fn lease(
        &self,
        tx: &mut Tx<'_>,
        job: &Job,
        kind: LeaseKind,
        numbers: &Range<i64>,
        audited: Option<ShardId>,
        attempts: i64,
    ) -> Result<(LeaseId, Lease), StoreError> {
        let duration = self.capacity.duration(job, numbers.end - numbers.start, kind);
        let lease = NewLease {
            token: LeaseToken(secret("")?),
            job: job.id,
            worker: self.player.id,
            account: self.player.account,
            nonce: self.nonce.to_owned(),
            kind,
            numbers: numbers.clone(),
            audited,
            duration,
            created: tx.now(),
            attempts,
        };
        let id = tx.leases().insert(&lease).await?;
        Ok((id, answer(lease.token, &job.header, numbers, (duration / SECOND) as u32)))
    }

    /// Grants a disputed game to a trusted worker.
    async fn settlement(&self, tx: &mut Tx<'_>) -> Result<Option<Lease>, StoreError> {
        let Some(dispute) = tx.comparisons().to_settle(self.player).await? else { return Ok(None) };
        let job = tx.jobs().lock(dispute.job).await?;
        let first = dispute.game / job.unit() * job.unit();
        let (id, lease) = self.lease(tx, &job, LeaseKind::Settle, &(first..first + job.unit()), None, 1).await?;
        if !tx.comparisons().assign(dispute.comparison, id).await? {
            // Another coordinator assigned the dispute meanwhile.
            tx.leases().delete(id).await?;
            return Ok(None);
        }
        Ok(Some(lease))
    }

    /// Grants games of a shard again, if this account was drawn as its auditor.
    async fn audit(&self, tx: &mut Tx<'_>, draw: u64) -> Result<Option<Work>, StoreError> {
        let Some(wanted) = tx.shards().to_audit(self.player).await? else { return Ok(None) };
        let job = tx.jobs().lock(wanted.job).await?;
        let mut case = Case::default();
        case.extend(tx.comparisons().evidence_of(wanted.id).await?);
        let usual = self.capacity.games(&job);
        let part = wanted.draw_range(&case.verified(wanted.id), usual, job.unit(), draw >> 16);
        if self.load.lent_nodes > 0 && part.end - part.start > self.max_lent(&job) {
            // Its audit comes before new games: no account avoids it by taking these.
            let Wait { seconds, reason } = Wait::until_validated();
            return Ok(Some(Work::Wait {
                seconds: seconds.unwrap_or_else(|| idle_seconds(self.fleet.unwrap_or(0))),
                reason,
            }));
        }
        if !tx.shards().lease_audit(wanted.id).await? {
            return Ok(Some(Work::Wait { seconds: 1, reason: "another worker was faster".to_owned() }));
        }
        let (_, lease) = self.lease(tx, &job, LeaseKind::Audit, &part, Some(wanted.id), 1).await?;
        Ok(Some(Work::Games(lease)))
    }

    /// Grants new games of the first job that has any.
    async fn fresh(&self, tx: &mut Tx<'_>, policy: &Policy) -> Result<Work, StoreError> {
        let now = tx.now();
        let signature = self.player.bench_signature;
        let jobs = tx.jobs().open(signature, self.player.key.is_trusted).await?;
        let mut wait = Wait::without_jobs(jobs.is_empty() && tx.jobs().any_open_for_others(signature).await?);
        for job in jobs {
            if let Some(reason) = job.wait(self.player.id, self.load.waiting, now, policy) {
                wait = wait.or(reason);
                continue;
            }
            let job = tx.jobs().lock(job.id).await?;
            if job.state != JobState::Open {
                continue;
            }
            let room = self.gate_room(tx, &job, policy).await?;
            let max_games = self.max_games(&job).min(room);
            if room < job.unit() {
                wait = wait.or(Wait::for_others());
            } else if max_games == 0 {
                wait = wait.or(Wait::until_validated());
            } else if let Some(work) = self.fresh_of(tx, &job, max_games, policy).await? {
                return Ok(work);
            }
        }
        let seconds = wait.seconds.unwrap_or_else(|| idle_seconds(policy.fleet.workers));
        Ok(Work::Wait { seconds, reason: wait.reason })
    }

    /// Games that the account may still take of the job: its share, if it is a gate.
    async fn gate_room(&self, tx: &mut Tx<'_>, job: &Job, policy: &Policy) -> Result<i64, StoreError> {
        let is_small = is_small_gate(gate_accounts(&policy.fleet.auditors));
        if job.kind != JobKind::Match || self.player.key.is_trusted || is_small {
            return Ok(i64::MAX);
        }
        let GateShare { own, last_leased } = tx.shards().gate_share(job.id, self.player.account).await?;
        Ok(gate_room(own, job.frontier, tx.now().0 - last_leased.0, job.unit()))
    }

    /// Maximum games of a lease of this job: what the worker can play, the fleet leaves to it, and
    /// the account has proven.
    fn max_games(&self, job: &Job) -> i64 {
        let max_games = self.capacity.games(job).min(self.max_lent(job));
        self.fleet.map_or(max_games, |workers| max_games.min(job.max_games(workers)))
    }

    /// Maximum games of this job that the account may borrow now.
    fn max_lent(&self, job: &Job) -> i64 {
        if self.player.key.is_trusted {
            return i64::MAX;
        }
        self.player.standing.max_games(self.load.lent_nodes, job.nodes_per_game, job.unit())
    }

    /// Grants the first open games of a job, or else those behind its frontier, or else those of a
    /// late lease. In a match these are the first, since it is decided by the pairs up to the first
    /// gap. A sequential test may be decided by the games at hand: then the worker waits for
    /// its next judgement.
    async fn fresh_of(
        &self,
        tx: &mut Tx<'_>,
        job: &Job,
        max_games: i64,
        policy: &Policy,
    ) -> Result<Option<Work>, StoreError> {
        let now = tx.now();
        if job.unit() > 1
            && let Some(second) = self.second_of(tx, job, max_games).await?
        {
            return Ok(Some(Work::Games(second)));
        }
        let mut open = tx.segments().open(job.id).await?;
        let mut numbers = segments::first_open(&open, max_games);
        if let Some(games) = &numbers
            && self.is_reserved(tx, job, games, now).await?
        {
            numbers = None;
        }
        if numbers.is_none() {
            let judged = policy.judged.get(&job.id).copied().unwrap_or(0);
            if self.fleet.is_some_and(|workers| job.awaits_verdict(workers, judged)) {
                return Ok(Some(Work::Wait { seconds: VERDICT_SECONDS, reason: VERDICT_REASON.to_owned() }));
            }
            open.clear();
            numbers = job.next_games(max_games);
        }
        let Some(numbers) = numbers else {
            return Ok(if job.unit() > 1 { None } else { self.second_of(tx, job, max_games).await?.map(Work::Games) });
        };
        tx.jobs().record_grant(job.id, now, job.frontier.max(numbers.end)).await?;
        let attempts = segments::next_attempt(&open, &numbers);
        let (id, lease) = self.lease(tx, job, LeaseKind::Fresh, &numbers, None, attempts).await?;
        tx.segments().apply(job.id, segments::lease(&open, &numbers, id)).await?;
        record_stall(tx, job, &numbers, attempts).await?;
        let live = job.unit() > 1 && live::claim(&mut tx.connection(), job.id, id, &numbers).await?;
        Ok(Some(Work::Games(Lease { live, ..lease })))
    }

    /// Grants games a second time. The first result counts, and the second is compared with it.
    async fn second_of(&self, tx: &mut Tx<'_>, job: &Job, max_games: i64) -> Result<Option<Lease>, StoreError> {
        let now = tx.now();
        let Some(segment) = self.held_by_others(tx, job, now).await? else { return Ok(None) };
        let numbers = segments::second_part(&segment, job.unit(), max_games);
        tx.jobs().record_grant(job.id, now, job.frontier).await?;
        let attempts = segment.attempts + 1;
        let (id, lease) = self.lease(tx, job, LeaseKind::Fresh, &numbers, None, attempts).await?;
        tx.segments().apply(job.id, segments::hand_on(&segment, &numbers, id)).await?;
        record_stall(tx, job, &numbers, attempts).await?;
        Ok(Some(lease))
    }

    /// Games of the oldest late lease. In a match contested pairs come first, since the verdict
    /// waits for each. Accounts that ask just as a lease becomes late would hold one in turn.
    async fn held_by_others(&self, tx: &mut Tx<'_>, job: &Job, now: Time) -> Result<Option<Segment>, StoreError> {
        let account = self.player.account;
        if job.unit() > 1
            && let Some(contested) =
                tx.segments().contested(job.id, account, now.after(-segments::CONTESTED_MS)).await?
        {
            return Ok(Some(contested));
        }
        let quiet = tx.leases().quiet(job.id, now.after(-MIN_QUIET_MS)).await?;
        let Some(late) = quiet.iter().find(|lease| lease.is_late(now, account)) else { return Ok(None) };
        Ok(tx.segments().leased(late.id).await?.into_iter().next())
    }

    /// Whether lost games are left to other accounts. They are if one of these asked for games
    /// lately, has the right engine and has not lost the first of the games. So no account keeps
    /// games from all others by giving them back. Games of self-play are left to others for a
    /// while; a match is decided by the pairs up to the first gap.
    async fn is_reserved(&self, tx: &mut Tx<'_>, job: &Job, games: &Range<i64>, now: Time) -> Result<bool, StoreError> {
        let (account, first) = (self.player.account, games.start);
        let is_match = job.unit() > 1;
        let lost = if is_match { first..first + 1 } else { games.clone() };
        let (lost_since, since) =
            if is_match { (Time(0), now.after(-HOUR)) } else { (now.after(-RESERVED_MS), now.after(-OTHERS_MS)) };
        Ok(tx.leases().has_lost(account, job.id, &lost, lost_since).await?
            && tx.workers().others_may_play(account, job, first, now, since).await?)
    }
}

/// Reports games that many earlier leases did not deliver, since they may be at fault themselves.
async fn record_stall(tx: &mut Tx<'_>, job: &Job, games: &Range<i64>, attempts: i64) -> Result<(), StoreError> {
    if !is_stall(attempts) {
        return Ok(());
    }
    let stall = Stall::Games { job: job.id, first: games.start, last: games.end - 1, attempts };
    tx.record_event(None, Event::Stall(stall)).await.map(drop)
}
