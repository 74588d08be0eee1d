//! Grants leases. Renewal, release and expiry are in [`super::leases`].

use dataset::Header;
use protocol::api::{
    problem::Code,
    work::{Ask, Lease, Work},
};
use sha2::{Digest as _, Sha256};

use super::{JobRow, MAX_GAMES_PER_LEASE, audit, header_of, lock_job, notices, segments, watching};
use crate::{
    clock::{HOUR, SECOND, Time},
    events::{Event, record_event},
    model::{JobId, Reason, Stall},
    ops::workers::MAX_THREADS,
    people::secret,
    store::{Connection, StoreError},
};

/// Intended work per lease, in seconds.
pub const LEASE_SECONDS: u32 = 300;

/// Intended work for a worker without any upload, whose claimed speed is unproven, in seconds.
const FIRST_LEASE_SECONDS: u32 = 30;

/// A lease expires after this many times the expected duration.
const LEASE_TIMEOUT_FACTOR: i64 = 3;

/// Minimum duration of a lease.
const MIN_LEASE_MS: i64 = 15 * 60 * SECOND;

/// Maximum duration of a lease, since the speed is only claimed.
const MAX_LEASE_MS: i64 = 12 * 3_600 * SECOND;

/// Numbers of attempts at which games without a result are reported as stalled.
const STALL_ATTEMPTS: [i64; 3] = [5, 50, 500];

/// Maximum active leases of a worker; more would hold games that others could play.
const MAX_LEASES_PER_WORKER: i64 = 64;

/// Maximum active leases of an account beyond the number it has fulfilled, over all its workers.
const BASE_LEASES_PER_ACCOUNT: i64 = 1_000;

/// Maximum threads credited to a worker without any upload.
const MAX_FIRST_THREADS: u64 = 16;

/// Assumed nodes per second of a thread whose speed is not known.
const DEFAULT_NODES_PER_SECOND: u64 = 400_000;

/// Maximum shards waiting for validation before no new self-play games are granted.
pub const MAX_VALIDATION_BACKLOG: i64 = 500;

/// The authenticated caller.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// The account of the token.
    pub account: i64,
    /// A random number, which decides on audits.
    pub draw: u64,
}

/// Coordinator-wide conditions for new leases.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The reason why no self-play games are granted.
    pub no_selfplay: Option<String>,
    /// The only bench signature allowed to play; any, if none.
    pub bench_signature: Option<u64>,
}

#[derive(sqlx::FromRow)]
struct WorkerRow {
    id: i64,
    bench_signature: i64,
    trusted: i64,
    blocked: Option<Reason>,
    state: String,
    message: Option<Reason>,
    delivered: i64,
}

/// Grants a worker a lease, or a time to wait.
///
/// # Errors
///
/// If it is not the account's, it is blocked, or the database fails.
pub async fn acquire(
    connection: &mut Connection<'_>,
    now: Time,
    caller: Caller,
    ask: &Ask,
    policy: &Policy,
) -> Result<Work, StoreError> {
    let worker = find_worker(connection, caller.account, ask.worker).await?;
    notices::acknowledge(connection, worker.id, &ask.acknowledged).await?;
    if let Some(message) = block_reason(&worker) {
        return Err(StoreError::rejected(Code::Blocked, message));
    }
    let threads = ask.threads.clamp(1, MAX_THREADS);
    let speed = speed(ask, u64::from(threads), worker.delivered != 0);
    let query = "UPDATE workers SET last_seen = $2, threads = $3, nodes_per_second = $4 WHERE id = $1";
    let query = sqlx::query(query).bind(worker.id).bind(now.0).bind(i64::from(threads));
    query.bind(ask.nodes_per_second.map(|speed| speed as i64)).execute(connection.raw()).await?;
    if let Some(lease) = find_by_nonce(connection, now, worker.id, &ask.nonce).await? {
        return Ok(Work::Games(lease));
    }
    if let Some(reason) = lease_limit_reason(connection, worker.id, caller.account).await? {
        return Ok(Work::Wait { seconds: 60, reason });
    }
    let seconds = seconds(ask, worker.delivered != 0);
    let threads = i64::from(threads);
    let request =
        LeaseRequest { worker: worker.id, account: caller.account, nonce: &ask.nonce, speed, threads, seconds, now };
    if worker.trusted != 0
        && let Some(lease) = grant_settlement(connection, &request, worker.bench_signature).await?
    {
        return Ok(Work::Games(lease));
    }
    let auditor = audit::Auditor {
        account: caller.account,
        bench_signature: worker.bench_signature,
        trusted: worker.trusted != 0,
    };
    if let Some(wanted) = audit::find_wanted(connection, now, &auditor, caller.draw).await? {
        let job = lock_job(connection, wanted.job).await?;
        if !audit::mark_leased(connection, wanted.shard).await? {
            return Ok(Work::Wait { seconds: 1, reason: "another worker was faster".to_owned() });
        }
        // The usual size, but at least a tenth: a small request must not make a small audit.
        let min_games = (audit::min_audit_games(wanted.games) + job.unit() - 1) / job.unit() * job.unit();
        let games = wanted.games.min(request.games(&job).max(min_games));
        // An unpredictable part of the shard; in a match, whole pairs.
        let part = audit::draw_range(connection, &wanted, games, job.unit(), caller.draw >> 16).await?;
        let lease = grant(connection, &request, &job, "audit", part, Some(wanted.shard)).await?;
        return Ok(Work::Games(lease));
    }
    grant_fresh(connection, &request, &worker, policy).await
}

/// A worker's request for a lease.
struct LeaseRequest<'a> {
    worker: i64,
    account: i64,
    nonce: &'a str,
    /// Nodes per second of all threads.
    speed: u64,
    threads: i64,
    seconds: u32,
    now: Time,
}

impl LeaseRequest<'_> {
    /// Returns how many games fill the requested time.
    fn games(&self, job: &JobRow) -> i64 {
        let work = u128::from(self.speed_in(job)) * u128::from(self.seconds);
        let games = (work / (job.nodes_per_game.max(1) as u128)).min(MAX_GAMES_PER_LEASE as u128) as i64;
        let unit = job.unit();
        (games / unit * unit).max(unit)
    }

    /// Returns the work done per second: nodes, or under a clock milliseconds of all threads.
    fn speed_in(&self, job: &JobRow) -> u64 {
        if job.header.clock.is_some() { self.threads as u64 * SECOND as u64 } else { self.speed }
    }

    /// Returns the duration of a lease of this many games, in milliseconds.
    fn duration(&self, job: &JobRow, games: i64) -> i64 {
        // A game under a clock lasts as long on one thread as on many.
        let games = if job.header.clock.is_some() { games.max(self.threads) } else { games };
        let work = i128::from(games) * i128::from(job.nodes_per_game);
        let expected =
            (work * i128::from(SECOND) / i128::from(self.speed_in(job).max(1))).min(i128::from(MAX_LEASE_MS));
        (LEASE_TIMEOUT_FACTOR * expected as i64).clamp(MIN_LEASE_MS, MAX_LEASE_MS)
    }
}

/// Returns the seconds of work to grant.
fn seconds(ask: &Ask, has_delivered: bool) -> u32 {
    let max = if ask.nodes_per_second.is_some() { LEASE_SECONDS } else { FIRST_LEASE_SECONDS };
    let default = if has_delivered { max } else { FIRST_LEASE_SECONDS };
    ask.most_seconds.unwrap_or(default).clamp(1, max)
}

fn speed(ask: &Ask, threads: u64, has_delivered: bool) -> u64 {
    let claimed = ask.nodes_per_second.unwrap_or(threads * DEFAULT_NODES_PER_SECOND).clamp(1_000, threads * 20_000_000);
    if has_delivered { claimed } else { claimed.min(MAX_FIRST_THREADS * DEFAULT_NODES_PER_SECOND) }
}

async fn find_worker(connection: &mut Connection<'_>, account: i64, worker: i64) -> Result<WorkerRow, StoreError> {
    let query = "SELECT workers.id, bench_signature, trusted, blocked, accounts.state, message,
                        CASE WHEN EXISTS (SELECT 1 FROM leases WHERE leases.worker = workers.id AND leases.state = 'done')
                             THEN 1 ELSE 0 END AS delivered
                 FROM workers JOIN accounts ON accounts.id = workers.account
                 WHERE workers.id = $1 AND workers.account = $2";
    let row = sqlx::query_as(query).bind(worker).bind(account).fetch_optional(connection.raw()).await?;
    row.ok_or_else(|| StoreError::rejected(Code::NotFound, format!("the account has no worker {worker}")))
}

/// Returns the reason why a worker is blocked, if it is.
fn block_reason(worker: &WorkerRow) -> Option<String> {
    if let Some(message) = &worker.blocked {
        return Some(message.to_string());
    }
    if worker.state == "active" {
        return None;
    }
    Some(worker.message.as_ref().map_or_else(|| format!("the account is {}", worker.state), ToString::to_string))
}

/// Returns the reason if the worker or its account is at its limit of active leases.
async fn lease_limit_reason(
    connection: &mut Connection<'_>,
    worker: i64,
    account: i64,
) -> Result<Option<String>, StoreError> {
    let query = "SELECT COUNT(*) FROM leases WHERE worker = $1 AND state = 'active'";
    let leases: i64 = sqlx::query_scalar(query).bind(worker).fetch_one(connection.raw()).await?;
    if leases >= MAX_LEASES_PER_WORKER {
        return Ok(Some(format!("the worker has {leases} leases that are not over: deliver their games first")));
    }
    let query = "SELECT COUNT(*) FROM leases WHERE account = $1 AND state = 'active'";
    let leases: i64 = sqlx::query_scalar(query).bind(account).fetch_one(connection.raw()).await?;
    if leases < BASE_LEASES_PER_ACCOUNT {
        return Ok(None);
    }
    // There may be millions: count only up to the limit.
    let query = "SELECT COUNT(*) FROM
                 (SELECT 1 FROM leases WHERE account = $1 AND state = 'done' LIMIT $2) AS fulfilled";
    let query = sqlx::query_scalar(query).bind(account).bind(leases - BASE_LEASES_PER_ACCOUNT + 1);
    let fulfilled: i64 = query.fetch_one(connection.raw()).await?;
    let reason = format!("the account has {leases} leases that are not over: deliver their games first");
    Ok((leases >= BASE_LEASES_PER_ACCOUNT + fulfilled).then_some(reason))
}

/// Idempotent retry: finds the active lease granted for the same nonce.
async fn find_by_nonce(
    connection: &mut Connection<'_>,
    now: Time,
    worker: i64,
    nonce: &str,
) -> Result<Option<Lease>, StoreError> {
    let query = "SELECT leases.id, leases.token, leases.first, leases.games, leases.expires, jobs.header
                 FROM leases JOIN jobs ON jobs.id = leases.job
                 WHERE leases.worker = $1 AND leases.nonce = $2 AND leases.state = 'active'";
    type Row = (i64, String, i64, i64, i64, String);
    let query = sqlx::query_as(query).bind(worker).bind(nonce.to_owned());
    let row: Option<Row> = query.fetch_optional(connection.raw()).await?;
    let Some((lease, token, first, games, expires, header)) = row else { return Ok(None) };
    let left = ((expires - now.0) / SECOND).max(0) as u32;
    let live = watching::is_watched(connection, lease).await?;
    Ok(Some(Lease { live, ..lease_of(token, &header_of(&header)?, &(first..first + games), left) }))
}

fn lease_of(token: String, header: &Header, games: &std::ops::Range<i64>, seconds: u32) -> Lease {
    let terms = Header { first_game: games.start as u64, ..header.clone() };
    Lease { token, terms, games: (games.end - games.start) as u64, seconds, live: false }
}

/// Grants a disputed game to a trusted worker.
async fn grant_settlement(
    connection: &mut Connection<'_>,
    request: &LeaseRequest<'_>,
    bench_signature: i64,
) -> Result<Option<Lease>, StoreError> {
    let Some(dispute) = audit::open_dispute(connection, request.account, bench_signature).await? else {
        return Ok(None);
    };
    let job = lock_job(connection, dispute.job).await?;
    let first = dispute.game / job.unit() * job.unit();
    let lease = grant(connection, request, &job, "settle", first..first + job.unit(), None).await?;
    if !audit::mark_settling(connection, dispute.comparison, &lease.token).await? {
        // Another coordinator assigned the dispute meanwhile.
        let query = "DELETE FROM leases WHERE token = $1";
        sqlx::query(query).bind(lease.token).execute(connection.raw()).await?;
        return Ok(None);
    }
    Ok(Some(lease))
}

/// Grants new games of the first job that has any.
async fn grant_fresh(
    connection: &mut Connection<'_>,
    request: &LeaseRequest<'_>,
    worker: &WorkerRow,
    policy: &Policy,
) -> Result<Work, StoreError> {
    let query = "SELECT id, kind, created, spread FROM jobs
                 WHERE state = 'open' AND bench_signature = $1 AND (kind <> 'timed' OR $2 = 1)
                 ORDER BY priority DESC,
                          CASE kind WHEN 'match' THEN 0 WHEN 'rating' THEN 1 WHEN 'timed' THEN 1 ELSE 2 END,
                          last_leased, id
                 LIMIT 100";
    type Row = (i64, String, i64, i64);
    let query = sqlx::query_as(query).bind(worker.bench_signature).bind(worker.trusted);
    let jobs: Vec<Row> = query.fetch_all(connection.raw()).await?;
    // Without a wait of its own, the idle wait applies; it is read only when needed.
    let mut wait = (None, "there is nothing to play at the moment".to_owned());
    if jobs.is_empty() {
        let query = "SELECT COUNT(*) FROM jobs WHERE state = 'open' AND bench_signature <> $1";
        let query = sqlx::query_scalar(query).bind(worker.bench_signature);
        let others: i64 = query.fetch_one(connection.raw()).await?;
        if others > 0 {
            wait =
                (Some(3_600), "the games at hand are for another version of the engine: update the worker".to_owned());
        }
    }
    for (job, kind, created, spread) in jobs {
        if kind == "selfplay"
            && let Some(reason) = &policy.no_selfplay
        {
            wait.1.clone_from(reason);
            continue;
        }
        let start = Time(created).after(start_delay(worker.id, job, spread));
        if start > request.now {
            let seconds = ((start.0 - request.now.0) / SECOND + 1) as u32;
            wait = (Some(seconds), "a new net is about to be played".to_owned());
            continue;
        }
        let job = lock_job(connection, job).await?;
        if job.state != "open" {
            continue;
        }
        let open = segments::first_open(connection, job.id, request.games(&job)).await?;
        let open = match open {
            Some(open) if job.unit() > 1 && is_reserved_for_others(connection, request, &job, open.start).await? => {
                None
            }
            open => open,
        };
        let games = if let Some(open) = open {
            open
        } else {
            let limit = job.game_limit.unwrap_or(i64::MAX - MAX_GAMES_PER_LEASE);
            let end = (job.frontier + request.games(&job)).min(limit);
            if end <= job.frontier {
                continue;
            }
            segments::extend(connection, job.id, job.frontier..end).await?;
            job.frontier..end
        };
        let query = "UPDATE jobs SET last_leased = $2 WHERE id = $1";
        sqlx::query(query).bind(job.id).bind(request.now.0).execute(connection.raw()).await?;
        return Ok(Work::Games(grant(connection, request, &job, "fresh", games, None).await?));
    }
    let (seconds, reason) = wait;
    let seconds = match seconds {
        Some(seconds) => seconds,
        None => idle_seconds(connection, request.now).await?,
    };
    Ok(Work::Wait { seconds, reason })
}

/// Whether a lost pair is left to other accounts. It is if one of them was active in the last hour,
/// has the right engine and has not lost the pair. A match is decided by the pairs up to the first
/// gap, so no account may block that pair.
async fn is_reserved_for_others(
    connection: &mut Connection<'_>,
    request: &LeaseRequest<'_>,
    job: &JobRow,
    first: i64,
) -> Result<bool, StoreError> {
    let query = "SELECT COUNT(*) FROM leases WHERE account = $1 AND state IN ('expired', 'returned') AND job = $2
                 AND first <= $3 AND first + games > $3";
    let query = sqlx::query_scalar(query).bind(request.account).bind(job.id).bind(first);
    let lost: i64 = query.fetch_one(connection.raw()).await?;
    if lost == 0 {
        return Ok(false);
    }
    let query = "SELECT COUNT(*) FROM workers JOIN accounts ON accounts.id = workers.account
                 WHERE workers.last_seen > $4 AND workers.account <> $1 AND workers.bench_signature = $5
                 AND workers.blocked IS NULL AND accounts.state = 'active'
                 AND (workers.trusted <> 0 OR $6 = 0)
                 AND NOT EXISTS (SELECT 1 FROM leases WHERE leases.account = workers.account
                                 AND leases.state IN ('expired', 'returned') AND leases.job = $2
                                 AND leases.first <= $3 AND leases.first + leases.games > $3)";
    let query = sqlx::query_scalar(query).bind(request.account).bind(job.id).bind(first).bind(request.now.0 - HOUR);
    let query = query.bind(job.header.bench_signature as i64).bind(i64::from(job.header.clock.is_some()));
    let others: i64 = query.fetch_one(connection.raw()).await?;
    Ok(others > 0)
}

/// Returns the seconds until an idle worker asks again; they grow with the number of workers.
async fn idle_seconds(connection: &mut Connection<'_>, now: Time) -> Result<u32, StoreError> {
    let query = "SELECT COUNT(*) FROM workers WHERE last_seen > $1";
    let active: i64 = sqlx::query_scalar(query).bind(now.0 - HOUR).fetch_one(connection.raw()).await?;
    Ok((10 + active / 200).min(300) as u32)
}

/// Jitter: delays a worker's start with a new job, so that not all of them fetch its net at once.
fn start_delay(worker: i64, job: i64, spread: i64) -> i64 {
    if spread <= 0 {
        return 0;
    }
    let hash = Sha256::digest([worker.to_le_bytes(), job.to_le_bytes()].concat());
    let number = u64::from_le_bytes(*hash.first_chunk().expect("a hash is longer"));
    (number % spread as u64) as i64
}

async fn grant(
    connection: &mut Connection<'_>,
    request: &LeaseRequest<'_>,
    job: &JobRow,
    kind: &str,
    games: std::ops::Range<i64>,
    audited: Option<i64>,
) -> Result<Lease, StoreError> {
    let count = games.end - games.start;
    let duration = request.duration(job, count);
    let token = secret("")?;
    let query = "INSERT INTO leases
                 (token, job, worker, account, nonce, kind, state, first, games, audited, duration, created, expires)
                 VALUES ($1, $2, $3, $4, $5, $6, 'active', $7, $8, $9, $10, $11, $12) RETURNING id";
    let query = sqlx::query_scalar(query).bind(token.clone()).bind(job.id).bind(request.worker).bind(request.account);
    let query = query.bind(request.nonce.to_owned()).bind(kind.to_owned()).bind(games.start).bind(count).bind(audited);
    let query = query.bind(duration).bind(request.now.0).bind(request.now.0 + duration);
    let lease: i64 = query.fetch_one(connection.raw()).await?;
    let mut live = false;
    if kind == "fresh" {
        let attempts = segments::lease(connection, job.id, games.clone(), lease).await?;
        if attempts > 1 {
            record_retry(connection, request.now, job, lease, &games, attempts).await?;
        }
        live = job.header.opponent.is_some() && watching::claim(connection, job.id, lease, &games).await?;
    }
    Ok(Lease { live, ..lease_of(token, &job.header, &games, (duration / SECOND) as u32) })
}

/// Counts a further attempt at games that earlier leases did not deliver. Repeated failures are
/// reported as an event, since the games themselves may be at fault.
async fn record_retry(
    connection: &mut Connection<'_>,
    now: Time,
    job: &JobRow,
    lease: i64,
    games: &std::ops::Range<i64>,
    attempts: i64,
) -> Result<(), StoreError> {
    let query = "UPDATE leases SET attempts = $2 WHERE id = $1";
    sqlx::query(query).bind(lease).bind(attempts).execute(connection.raw()).await?;
    if STALL_ATTEMPTS.contains(&attempts) {
        let stall = Stall::Games { job: JobId(job.id), first: games.start, last: games.end - 1, attempts };
        record_event(connection, now, None, Event::Stall(stall)).await?;
    }
    Ok(())
}
