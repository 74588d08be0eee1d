//! Uploaded shards.
//!
//! An upload takes three steps. [`expectation`] looks up the terms. The bytes are checked and
//! stored as an object. [`receive`] writes the shard's row, which commits the upload. A crash
//! before the last step leaves an orphan object, which the sweep deletes.

use dataset::{Digest, Header};
use protocol::api::{problem::Code, work::ReceiptStatus};

use super::{audit, leases, segments, totals};
use crate::{
    clock::Time,
    model::{Lease, LeaseKind, LeaseState, ShardId},
    store::{Connection, Leases, StoreError},
};

/// The terms for an upload.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The header that determines the games.
    pub header: Header,
    /// Allowed numbers: those of the lease from the named first game.
    pub games: std::ops::Range<u64>,
    /// Games that belong together: 2 in a match.
    pub unit: u64,
}

/// Returns the terms for an upload that begins with this game.
///
/// # Errors
///
/// If there is no such lease, it is another account's, or it does not have the game.
pub async fn expectation(
    connection: &mut Connection<'_>,
    account: i64,
    token: &str,
    first: u64,
) -> Result<Expectation, StoreError> {
    let query = "SELECT leases.account, leases.first, leases.games, jobs.header
                 FROM leases JOIN jobs ON jobs.id = leases.job WHERE leases.token = $1";
    type Row = (i64, i64, i64, String);
    let row: Option<Row> = sqlx::query_as(query).bind(token.to_owned()).fetch_optional(connection.raw()).await?;
    let Some((owner, lease_first, games, header)) = row else {
        return Err(StoreError::rejected(Code::NotFound, "there is no such lease"));
    };
    if owner != account {
        return Err(StoreError::rejected(Code::NotOwner, "the lease belongs to another account"));
    }
    let header = super::header_of(&header)?;
    let unit = if header.opponent.is_some() { 2 } else { 1 };
    let all = lease_first as u64..(lease_first + games) as u64;
    if !all.contains(&first) || !(first - all.start).is_multiple_of(unit) {
        let detail = format!("the lease has the games {} to {}; none begins at {first}", all.start, all.end - 1);
        return Err(StoreError::rejected(Code::WrongGames, detail));
    }
    Ok(Expectation { header, games: first..all.end, unit })
}

/// Whether a shard with this hash was received for any lease.
pub async fn is_known(connection: &mut Connection<'_>, hash: Digest) -> Result<bool, StoreError> {
    let query = "SELECT COUNT(*) FROM shards WHERE hash = $1";
    let known: i64 = sqlx::query_scalar(query).bind(hash.to_string()).fetch_one(connection.raw()).await?;
    Ok(known > 0)
}

/// A shard that passed the checks on receipt and is stored as an object.
#[derive(Clone, Debug)]
pub struct Upload {
    /// The lease's token.
    pub token: String,
    /// The account of the token.
    pub account: i64,
    /// The SHA-256 of the file.
    pub hash: Digest,
    /// Size of the file.
    pub bytes: u64,
    /// The first game.
    pub first: u64,
    /// Number of games.
    pub games: u64,
    /// Number of positions with a move of the search.
    pub positions: u64,
}

/// Records an uploaded shard. Once committed, its games are durable.
///
/// # Errors
///
/// If there is no such lease, it is another account's, or the games are not its.
pub async fn receive(connection: &mut Connection<'_>, now: Time, upload: &Upload) -> Result<ReceiptStatus, StoreError> {
    let (lease, job) = leases::lock(connection, upload.account, &upload.token).await?;
    let games = upload.first as i64..(upload.first + upload.games) as i64;
    if games.is_empty() || games.start < lease.first || games.end > lease.first + lease.games {
        return Err(StoreError::rejected(Code::WrongGames, "the games are not the lease's"));
    }
    if (games.start - lease.first) % job.unit() != 0 || (games.end - games.start) % job.unit() != 0 {
        return Err(StoreError::rejected(Code::WrongGames, "games that belong together were taken apart"));
    }
    if job.header.clock.is_some() {
        let query = "SELECT trusted FROM workers WHERE id = $1";
        let trusted: i64 = sqlx::query_scalar(query).bind(lease.worker).fetch_one(connection.raw()).await?;
        if trusted == 0 {
            let detail = "games under a clock are taken from trusted workers alone, and this one is trusted no more";
            return Err(StoreError::rejected(Code::Forbidden, detail));
        }
    }
    let query = "SELECT COUNT(*) FROM shards WHERE lease = $1 AND hash = $2";
    let query = sqlx::query_scalar(query).bind(lease.id).bind(upload.hash.to_string());
    let known: i64 = query.fetch_one(connection.raw()).await?;
    if known > 0 {
        return Ok(ReceiptStatus::Duplicate);
    }
    let query = "INSERT INTO shards (hash, job, lease, worker, account, first, games, positions, bytes, state,
                                     received, audit, object)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'received', $10, 'none', 'present') RETURNING id";
    let query = sqlx::query_scalar(query).bind(upload.hash.to_string()).bind(job.id).bind(lease.id);
    let query = query.bind(lease.worker).bind(lease.account).bind(games.start).bind(upload.games as i64);
    let query = query.bind(upload.positions as i64).bind(upload.bytes as i64).bind(now.0);
    let shard: i64 = query.fetch_one(connection.raw()).await?;

    // The shared lock orders this upload and a concurrent quarantine: one sees the other.
    let query = connection.for_share("SELECT state FROM accounts WHERE id = $1");
    let account: String = sqlx::query_scalar(query).bind(lease.account).fetch_one(connection.raw()).await?;
    if account == "quarantined" {
        // Kept, in case the quarantine is lifted.
        let query = "UPDATE shards SET state = 'quarantined' WHERE id = $1";
        sqlx::query(query).bind(shard).execute(connection.raw()).await?;
        totals::enter(connection, shard).await?;
    } else {
        hold_and_compare(connection, now, &lease, shard, games.clone()).await?;
    }

    let finished = games.end - lease.first;
    if finished > lease.finished {
        // Uploaded games are better evidence of progress than a heartbeat.
        let progress = Lease { finished, expires: now.after(lease.duration), delivered: now, ..lease.clone() };
        Leases::on(connection.reborrow()).save_progress(&progress).await?;
    }
    let is_done = lease.state == LeaseState::Active
        && if lease.kind == LeaseKind::Fresh {
            !segments::any_undelivered(connection, lease.id.0).await?
        } else {
            games.end == lease.first + lease.games
        };
    if is_done {
        Leases::on(connection.reborrow()).close(lease.id, LeaseState::Done).await?;
    }
    let query = "UPDATE workers SET last_seen = $2 WHERE id = $1";
    sqlx::query(query).bind(lease.worker).bind(now.0).execute(connection.raw()).await?;
    Ok(ReceiptStatus::Received)
}

/// Assigns the unheld games to the shard and compares the others with their holders.
async fn hold_and_compare(
    connection: &mut Connection<'_>,
    now: Time,
    lease: &Lease,
    shard: i64,
    games: std::ops::Range<i64>,
) -> Result<(), StoreError> {
    // An audited or disputed shard is compared in all common games, whichever shard holds them.
    let query = "SELECT id, first, games FROM shards WHERE id = $1 AND state IN ('validated', 'disputed')
                 UNION SELECT shards.id, shards.first, shards.games FROM shards JOIN comparisons
                 ON shards.id = comparisons.left_shard OR shards.id = comparisons.right_shard
                 WHERE comparisons.settled_by = $2 AND shards.state IN ('validated', 'disputed')";
    let query = sqlx::query_as(query).bind(lease.audited.unwrap_or(ShardId(-1))).bind(lease.id);
    let named: Vec<(i64, i64, i64)> = query.fetch_all(connection.raw()).await?;
    for &(other, first, count) in &named {
        let common = first.max(games.start)..(first + count).min(games.end);
        audit::queue_comparison(connection, now, lease.job.0, (other, shard), common).await?;
    }
    for (holder, common) in segments::hold(connection, lease.job.0, games, shard).await? {
        if named.iter().all(|(other, ..)| *other != holder) {
            audit::queue_comparison(connection, now, lease.job.0, (holder, shard), common).await?;
        }
    }
    Ok(())
}

/// Returns the bytes of an account's stored games.
pub async fn stored_bytes(connection: &mut Connection<'_>, account: i64) -> Result<u64, StoreError> {
    let query = "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM shards WHERE account = $1 AND object = 'present'";
    let used: i64 = sqlx::query_scalar(query).bind(account).fetch_one(connection.raw()).await?;
    Ok(used as u64)
}
