//! Quarantine: uploads of an account with a wrong game, since its last clean audit, do not count.

use super::{audit, leases, lock_job, segments, totals};
use crate::{
    clock::Time,
    events::{Event, record_event},
    model::{AccountId, Reason},
    store::{Connection, StoreError},
};

/// Quarantines an account: its workers get no leases, and its uploads after its last clean audit
/// leave the pool. `by` is the deciding maintainer; none for the coordinator.
pub async fn quarantine(
    connection: &mut Connection<'_>,
    now: Time,
    account: i64,
    by: Option<i64>,
    reason: impl Into<Reason>,
) -> Result<(), StoreError> {
    apply(connection, now, account, None, by, reason.into()).await
}

/// Quarantines an account for a wrong shard, which leaves the pool whatever its age and whatever
/// audits passed.
pub(super) async fn quarantine_for_shard(
    connection: &mut Connection<'_>,
    now: Time,
    account: i64,
    shard: i64,
    reason: Reason,
) -> Result<(), StoreError> {
    apply(connection, now, account, Some(shard), None, reason).await
}

#[derive(Clone, Copy, sqlx::FromRow)]
struct ShardRow {
    id: i64,
    job: i64,
    first: i64,
    games: i64,
}

async fn apply(
    connection: &mut Connection<'_>,
    now: Time,
    account: i64,
    wrong_shard: Option<i64>,
    by: Option<i64>,
    reason: Reason,
) -> Result<(), StoreError> {
    // Blocked and deleted accounts keep their state.
    let message = Reason::Quarantined(Box::new(reason.clone()));
    let query =
        "UPDATE accounts SET state = 'quarantined', message = $2 WHERE id = $1 AND state IN ('active', 'pending')";
    let new = sqlx::query(query).bind(account).bind(message).execute(connection.raw()).await?.rows_affected() > 0;
    // Its confirmations of others are void in any case.
    let query = "UPDATE accounts SET distrusted = 1 WHERE id = $1";
    sqlx::query(query).bind(account).execute(connection.raw()).await?;
    let gone = withdraw_shards(connection, now, account, wrong_shard).await?;
    // Audits that it confirmed are void. Quarantined accounts among them lose the shards that
    // rested on it.
    for (other, distrusted) in audit::reverify_dependents(connection, account).await? {
        if distrusted != 0 {
            withdraw_shards(connection, now, other, None).await?;
        }
    }
    let query = "SELECT id, job, first FROM leases WHERE account = $1 AND state = 'active' ORDER BY job, id";
    let leases: Vec<(i64, i64, i64)> = sqlx::query_as(query).bind(account).fetch_all(connection.raw()).await?;
    for (lease, job, first) in leases {
        lock_job(connection, job).await?;
        leases::end(connection, job, lease, first).await?;
    }
    if new || gone > 0 {
        let event = Event::Quarantine { account: AccountId(account), reason, uploads: gone as u64 };
        record_event(connection, now, by, event).await?;
    }
    Ok(())
}

/// Withdraws the unproven shards of a quarantined account; returns their number.
async fn withdraw_shards(
    connection: &mut Connection<'_>,
    now: Time,
    account: i64,
    wrong_shard: Option<i64>,
) -> Result<usize, StoreError> {
    let query = "SELECT shards.id AS id, shards.job AS job, shards.first AS first, shards.games AS games
                 FROM shards JOIN accounts ON accounts.id = shards.account
                 WHERE shards.account = $1 AND shards.state IN ('received', 'validated', 'disputed')
                 AND (shards.id = $2 OR shards.state = 'disputed'
                      OR (shards.audit <> 'clean' AND shards.id > accounts.clean_until))
                 ORDER BY shards.job, shards.id";
    let query = sqlx::query_as(query).bind(account).bind(wrong_shard.unwrap_or(-1));
    let shards: Vec<ShardRow> = query.fetch_all(connection.raw()).await?;
    let mut gone = Vec::new();
    for shard in shards {
        lock_job(connection, shard.job).await?;
        // It may have been validated while this transaction waited for the lock.
        totals::leave(connection, shard.id).await?;
        let query = "UPDATE shards SET state = 'quarantined'
                     WHERE id = $1 AND state IN ('received', 'validated', 'disputed')";
        let changed = sqlx::query(query).bind(shard.id).execute(connection.raw()).await?.rows_affected();
        totals::enter(connection, shard.id).await?;
        if changed == 0 {
            continue;
        }
        gone.push(shard);
        let query = "UPDATE comparisons SET state = 'void'
                     WHERE state = 'waiting' AND (left_shard = $1 OR right_shard = $1)";
        sqlx::query(query).bind(shard.id).execute(connection.raw()).await?;
        recheck(connection, shard.job).await?;
    }
    for shard in &gone {
        segments::release_held(connection, shard.job, shard.id).await?;
    }
    for shard in &gone {
        audit::settle_disputes(connection, now, shard.job, shard.first..shard.first + shard.games).await?;
    }
    Ok(gone.len())
}

/// Marks a job's decision as outdated: its games have changed.
async fn recheck(connection: &mut Connection<'_>, job: i64) -> Result<(), StoreError> {
    let query = "UPDATE jobs SET recheck = 1 WHERE id = $1";
    sqlx::query(query).bind(job).execute(connection.raw()).await?;
    Ok(())
}

/// Lifts a quarantine. The account's shards count again where no other shard took their place, and
/// are compared with those that did.
pub async fn lift(
    connection: &mut Connection<'_>,
    now: Time,
    account: i64,
    by: Option<i64>,
    reason: impl Into<Reason>,
) -> Result<(), StoreError> {
    let query = "UPDATE accounts SET distrusted = 0 WHERE id = $1";
    sqlx::query(query).bind(account).execute(connection.raw()).await?;
    let query = "UPDATE accounts SET state = 'active', message = NULL WHERE id = $1 AND state = 'quarantined'";
    let lifted = sqlx::query(query).bind(account).execute(connection.raw()).await?.rows_affected() > 0;
    let query =
        "SELECT id, job, first, games FROM shards WHERE account = $1 AND state = 'quarantined' ORDER BY job, id";
    let shards: Vec<ShardRow> = sqlx::query_as(query).bind(account).fetch_all(connection.raw()).await?;
    if !lifted && shards.is_empty() {
        return Ok(());
    }
    audit::reverify_dependents(connection, account).await?;
    for shard in &shards {
        lock_job(connection, shard.job).await?;
        totals::leave(connection, shard.id).await?;
        let query = "UPDATE shards SET state = CASE WHEN validated IS NULL THEN 'received'
                     WHEN EXISTS (SELECT 1 FROM comparisons WHERE comparisons.state = 'different'
                                  AND (left_shard = $1 OR right_shard = $1)) THEN 'disputed'
                     ELSE 'validated' END WHERE id = $1 AND state = 'quarantined'";
        let changed = sqlx::query(query).bind(shard.id).execute(connection.raw()).await?.rows_affected();
        totals::enter(connection, shard.id).await?;
        if changed == 0 {
            continue;
        }
        // Void comparisons are queued again, unless the other shard is out.
        let query =
            "UPDATE comparisons SET state = 'waiting' WHERE state = 'void' AND (left_shard = $1 OR right_shard = $1)
                     AND NOT EXISTS (SELECT 1 FROM shards WHERE shards.id IN (left_shard, right_shard)
                                     AND (shards.state IN ('rejected', 'quarantined') OR shards.object <> 'present'))";
        sqlx::query(query).bind(shard.id).execute(connection.raw()).await?;
        let games = shard.first..shard.first + shard.games;
        for (holder, common) in segments::hold(connection, shard.job, games, shard.id).await? {
            audit::queue_comparison(connection, now, shard.job, (holder, shard.id), common).await?;
        }
        recheck(connection, shard.job).await?;
    }
    let (account, reason, uploads) = (AccountId(account), reason.into(), shards.len() as u64);
    record_event(connection, now, by, Event::QuarantineLifted { account, reason, uploads }).await?;
    Ok(())
}
