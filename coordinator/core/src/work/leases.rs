//! Life of a lease after it is granted: renewal (heartbeat), release and expiry.

use protocol::api::{problem::Code, work::Renewed};
use sqlx::AssertSqlSafe;

use super::{JobRow, audit, lock_job, segments};
use crate::{
    clock::{SECOND, Time},
    store::{Connection, StoreError},
};

/// Renewals without an upload extend a lease by at most this many times its duration.
const MAX_RENEWAL_FACTOR: i64 = 2;

/// Selects a [`LeaseRow`] by its token.
const SELECT_LEASE: &str =
    "SELECT id, job, worker, account, kind, state, first, games, finished, audited, duration, created,
                     delivered FROM leases WHERE token = $1";

/// A lease, locked until the transaction ends.
#[derive(sqlx::FromRow)]
pub(super) struct LeaseRow {
    pub(super) id: i64,
    pub(super) job: i64,
    pub(super) worker: i64,
    pub(super) account: i64,
    pub(super) kind: String,
    pub(super) state: String,
    pub(super) first: i64,
    pub(super) games: i64,
    pub(super) finished: i64,
    pub(super) audited: Option<i64>,
    pub(super) duration: i64,
    pub(super) created: i64,
    pub(super) delivered: i64,
}

/// Locks a lease of this account by its token, with its job.
pub(super) async fn lock(
    connection: &mut Connection<'_>,
    account: i64,
    token: &str,
) -> Result<(LeaseRow, JobRow), StoreError> {
    let query = "SELECT job FROM leases WHERE token = $1";
    let job: Option<i64> = sqlx::query_scalar(query).bind(token.to_owned()).fetch_optional(connection.raw()).await?;
    let job = job.ok_or_else(|| StoreError::rejected(Code::NotFound, "there is no such lease"))?;
    let job = lock_job(connection, job).await?;
    Ok((read(connection, AssertSqlSafe(SELECT_LEASE.to_owned()), account, token).await?, job))
}

/// Reads the row of [`SELECT_LEASE`] under any lock.
async fn read(
    connection: &mut Connection<'_>,
    query: AssertSqlSafe<String>,
    account: i64,
    token: &str,
) -> Result<LeaseRow, StoreError> {
    let query = sqlx::query_as(query).bind(token.to_owned());
    let lease: Option<LeaseRow> = query.fetch_optional(connection.raw()).await?;
    let lease = lease.ok_or_else(|| StoreError::rejected(Code::NotFound, "there is no such lease"))?;
    if lease.account == account {
        Ok(lease)
    } else {
        Err(StoreError::rejected(Code::NotOwner, "the lease belongs to another account"))
    }
}

/// Heartbeat: renews a lease whose worker makes progress.
///
/// # Errors
///
/// If there is no such lease, it is over, or nothing was finished since the last renewal.
pub async fn renew(
    connection: &mut Connection<'_>,
    now: Time,
    account: i64,
    token: &str,
    finished: u64,
) -> Result<Renewed, StoreError> {
    // The job is not locked, so a heartbeat never waits for an upload. A lease that ends meanwhile
    // has ended.
    let query = connection.for_update(SELECT_LEASE);
    let lease = read(connection, query, account, token).await?;
    if lease.state != "active" {
        return Err(StoreError::rejected(Code::LeaseLost, format!("the lease is {}", lease.state)));
    }
    let finished = i64::try_from(finished).unwrap_or(i64::MAX);
    if finished > lease.games {
        let detail = format!("the lease has {} games; {finished} cannot be finished", lease.games);
        return Err(StoreError::rejected(Code::Invalid, detail));
    }
    if finished <= lease.finished {
        return Err(StoreError::rejected(Code::NoProgress, "no game was finished since the last renewal"));
    }
    // Progress is only claimed: unlimited renewals would withhold the games from all other workers.
    let last = lease.created.max(lease.delivered) + (1 + MAX_RENEWAL_FACTOR) * lease.duration;
    let end = (now.0 + lease.duration).min(last);
    if end <= now.0 {
        return Err(StoreError::rejected(
            Code::LeaseLost,
            "the lease has lasted long enough: submit the finished games",
        ));
    }
    let query = "UPDATE leases SET finished = $2, expires = $3 WHERE id = $1";
    sqlx::query(query).bind(lease.id).bind(finished).bind(end).execute(connection.raw()).await?;
    let query = "UPDATE workers SET last_seen = $2 WHERE id = $1";
    sqlx::query(query).bind(lease.worker).bind(now.0).execute(connection.raw()).await?;
    Ok(Renewed { seconds: ((end - now.0) / SECOND) as u32 })
}

/// Releases the games of a lease from this number.
///
/// # Errors
///
/// If there is no such lease. A lease that has ended is no error: its games are reassigned.
pub async fn release(connection: &mut Connection<'_>, account: i64, token: &str, from: u64) -> Result<(), StoreError> {
    let (lease, job) = lock(connection, account, token).await?;
    if lease.state != "active" {
        return Ok(());
    }
    let end = lease.first + lease.games;
    let from = i64::try_from(from).unwrap_or(i64::MAX);
    if !(lease.first..=end).contains(&from) || (from - lease.first) % job.unit() != 0 {
        return Err(StoreError::rejected(Code::WrongGames, format!("game {from} is no border of the lease's games")));
    }
    segments::release(connection, job.id, lease.id, from, true).await?;
    let is_over = if lease.kind == "fresh" {
        // Earlier games may still be uploaded; if they never are, the lease expires.
        !segments::any_undelivered(connection, lease.id).await?
    } else {
        from == lease.first
    };
    if is_over {
        close(connection, lease.id, "returned").await?;
    }
    Ok(())
}

/// Ends an unfulfilled lease.
async fn close(connection: &mut Connection<'_>, lease: i64, state: &str) -> Result<(), StoreError> {
    let query = "UPDATE leases SET state = $2 WHERE id = $1 AND state = 'active'";
    sqlx::query(query).bind(lease).bind(state.to_owned()).execute(connection.raw()).await?;
    Ok(())
}

/// Ends a lease and reopens its games. The caller has locked the job.
pub(super) async fn end(connection: &mut Connection<'_>, job: i64, lease: i64, first: i64) -> Result<(), StoreError> {
    segments::release(connection, job, lease, first, false).await?;
    close(connection, lease, "expired").await
}

/// Lease expiry: ends overdue leases and reopens their games and abandoned audits. Returns the
/// number of leases.
pub async fn expire(connection: &mut Connection<'_>, now: Time) -> Result<u64, StoreError> {
    let query = "SELECT token, account FROM leases WHERE state = 'active' AND expires < $1 ORDER BY job, id LIMIT 200";
    let due: Vec<(String, i64)> = sqlx::query_as(query).bind(now.0).fetch_all(connection.raw()).await?;
    let mut expired = 0;
    for (token, account) in due {
        let (lease, job) = lock(connection, account, &token).await?;
        // Another coordinator may have ended it while this one waited for the lock.
        let query = "SELECT COUNT(*) FROM leases WHERE id = $1 AND state = 'active' AND expires < $2";
        let still: i64 = sqlx::query_scalar(query).bind(lease.id).bind(now.0).fetch_one(connection.raw()).await?;
        if still == 1 {
            end(connection, job.id, lease.id, lease.first).await?;
            expired += 1;
        }
    }
    audit::reopen_abandoned(connection).await?;
    Ok(expired)
}

/// Returns the worker of a lease.
///
/// # Errors
///
/// If there is none.
pub async fn worker_of_lease(connection: &mut Connection<'_>, token: &str) -> Result<i64, StoreError> {
    let query = "SELECT worker FROM leases WHERE token = $1";
    Ok(sqlx::query_scalar(query).bind(token.to_owned()).fetch_one(connection.raw()).await?)
}
