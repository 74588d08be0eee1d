//! Quarantine: what an account that was found wrong delivered since it was last found right counts for nothing.

use super::{audit, leases, lock_job, segments, totals};
use crate::{
    clock::Time,
    events::{Event, note},
    store::{Connection, Outcome},
};

/// Puts an account into quarantine: its workers get no games, and what it delivered after its last clean audit leaves
/// the pool. `by` is who decides it; the coordinator itself if none.
///
/// # Errors
///
/// If the database fails.
pub async fn quarantine(
    connection: &mut Connection<'_>,
    now: Time,
    account: i64,
    by: Option<i64>,
    reason: &str,
) -> Outcome<()> {
    put_in(connection, now, account, None, by, reason).await
}

/// Puts an account into quarantine because a shard of it was found wrong, which goes however old it is and whatever
/// else of it was found right.
pub(super) async fn found_wrong(
    connection: &mut Connection<'_>,
    now: Time,
    account: i64,
    shard: i64,
    reason: &str,
) -> Outcome<()> {
    put_in(connection, now, account, Some(shard), None, reason).await
}

#[derive(Clone, Copy, sqlx::FromRow)]
struct ShardRow {
    id: i64,
    job: i64,
    first: i64,
    games: i64,
}

async fn put_in(
    connection: &mut Connection<'_>,
    now: Time,
    account: i64,
    wrong: Option<i64>,
    by: Option<i64>,
    reason: &str,
) -> Outcome<()> {
    // Who was blocked or deleted stays so.
    let message = format!("your games are in quarantine: {reason}");
    let query =
        "UPDATE accounts SET state = 'quarantined', message = $2 WHERE id = $1 AND state IN ('active', 'pending')";
    let new = sqlx::query(query).bind(account).bind(message).execute(connection.raw()).await?.rows_affected() > 0;
    // What it says of others is worth nothing all the same.
    let query = "UPDATE accounts SET distrusted = 1 WHERE id = $1";
    sqlx::query(query).bind(account).execute(connection.raw()).await?;
    let gone = take_out(connection, now, account, wrong).await?;
    // Those whom it confirmed are confirmed no more; who of them is in quarantine loses what rested on it.
    for (other, distrusted) in audit::weigh_again(connection, account).await? {
        if distrusted != 0 {
            take_out(connection, now, other, None).await?;
        }
    }
    let query = "SELECT id, job, first FROM leases WHERE account = $1 AND state = 'active' ORDER BY job, id";
    let leases: Vec<(i64, i64, i64)> = sqlx::query_as(query).bind(account).fetch_all(connection.raw()).await?;
    for (lease, job, first) in leases {
        lock_job(connection, job).await?;
        leases::end(connection, job, lease, first).await?;
    }
    if new || gone > 0 {
        let text = format!("{reason}; {gone} uploads of the account left the pool");
        let subject = format!("account:{account}");
        note(connection, now, Event { kind: "quarantine", account: by, subject, text }).await?;
    }
    Ok(())
}

/// What nothing proves of an account in quarantine leaves the pool; how many uploads it was.
async fn take_out(connection: &mut Connection<'_>, now: Time, account: i64, wrong: Option<i64>) -> Outcome<usize> {
    let query = "SELECT shards.id AS id, shards.job AS job, shards.first AS first, shards.games AS games
                 FROM shards JOIN accounts ON accounts.id = shards.account
                 WHERE shards.account = $1 AND shards.state IN ('received', 'validated', 'disputed')
                 AND (shards.id = $2 OR shards.state = 'disputed'
                      OR (shards.audit <> 'clean' AND shards.id > accounts.clean_until))
                 ORDER BY shards.job, shards.id";
    let query = sqlx::query_as(query).bind(account).bind(wrong.unwrap_or(-1));
    let shards: Vec<ShardRow> = query.fetch_all(connection.raw()).await?;
    let mut gone = Vec::new();
    for shard in shards {
        lock_job(connection, shard.job).await?;
        // Somebody may have judged it while this one waited for the job.
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
        segments::let_go(connection, shard.job, shard.id).await?;
    }
    for shard in &gone {
        audit::settle_disputes(connection, now, shard.job, shard.first..shard.first + shard.games).await?;
    }
    Ok(gone.len())
}

/// The job's games are others than those of which it was decided.
async fn recheck(connection: &mut Connection<'_>, job: i64) -> Outcome<()> {
    let query = "UPDATE jobs SET recheck = 1 WHERE id = $1";
    sqlx::query(query).bind(job).execute(connection.raw()).await?;
    Ok(())
}

/// Takes an account out of quarantine: what it delivered counts again, as far as nobody else's games took its place;
/// with those it is compared.
///
/// # Errors
///
/// If the database fails.
pub async fn lift(
    connection: &mut Connection<'_>,
    now: Time,
    account: i64,
    by: Option<i64>,
    reason: &str,
) -> Outcome<()> {
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
    audit::weigh_again(connection, account).await?;
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
        // What was to be compared with it still is, if the other is not out of the race.
        let query =
            "UPDATE comparisons SET state = 'waiting' WHERE state = 'void' AND (left_shard = $1 OR right_shard = $1)
                     AND NOT EXISTS (SELECT 1 FROM shards WHERE shards.id IN (left_shard, right_shard)
                                     AND (shards.state IN ('rejected', 'quarantined') OR shards.object <> 'present'))";
        sqlx::query(query).bind(shard.id).execute(connection.raw()).await?;
        let games = shard.first..shard.first + shard.games;
        for (holder, common) in segments::hold(connection, shard.job, games, shard.id).await? {
            audit::compare(connection, now, shard.job, (holder, shard.id), common).await?;
        }
        recheck(connection, shard.job).await?;
    }
    let text = format!("{reason}; {} uploads of the account are back in the pool", shards.len());
    let subject = format!("account:{account}");
    note(connection, now, Event { kind: "quarantine_lifted", account: by, subject, text }).await?;
    Ok(())
}
