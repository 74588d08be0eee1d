//! Quarantine: what an account that was found wrong delivered since it was last found right counts for nothing.

use super::{lock_job, segments};
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
    let message = format!("your games are in quarantine: {reason}");
    let query = "UPDATE accounts SET state = 'quarantined', message = $2 WHERE id = $1";
    sqlx::query(query).bind(account).bind(message).execute(connection.raw()).await?;
    let query = "SELECT shards.id, shards.job FROM shards JOIN accounts ON accounts.id = shards.account
                 WHERE shards.account = $1 AND shards.state IN ('received', 'validated', 'disputed')
                 AND shards.audit <> 'clean' AND (shards.received > accounts.clean_until OR shards.state = 'disputed')
                 ORDER BY shards.job, shards.id";
    let shards: Vec<(i64, i64)> = sqlx::query_as(query).bind(account).fetch_all(connection.raw()).await?;
    for &(shard, job) in &shards {
        lock_job(connection, job).await?;
        let query = "UPDATE shards SET state = 'quarantined' WHERE id = $1";
        sqlx::query(query).bind(shard).execute(connection.raw()).await?;
        let query = "UPDATE comparisons SET state = 'void'
                     WHERE state = 'waiting' AND (left_shard = $1 OR right_shard = $1)";
        sqlx::query(query).bind(shard).execute(connection.raw()).await?;
        segments::let_go(connection, job, shard).await?;
        let query = "UPDATE jobs SET recheck = 1 WHERE id = $1";
        sqlx::query(query).bind(job).execute(connection.raw()).await?;
    }
    let query = "UPDATE leases SET state = 'expired' WHERE account = $1 AND state = 'active'";
    let give_back = "SELECT id, job, first FROM leases WHERE account = $1 AND state = 'active' ORDER BY job, id";
    let leases: Vec<(i64, i64, i64)> = sqlx::query_as(give_back).bind(account).fetch_all(connection.raw()).await?;
    for (lease, job, first) in leases {
        lock_job(connection, job).await?;
        segments::give_back(connection, job, lease, first).await?;
        super::audit::unmark(connection, lease, None).await?;
    }
    let audits = "UPDATE shards SET audit = 'wanted' WHERE audit = 'leased' AND id IN
                  (SELECT audited FROM leases WHERE account = $1 AND state = 'active')";
    sqlx::query(audits).bind(account).execute(connection.raw()).await?;
    sqlx::query(query).bind(account).execute(connection.raw()).await?;
    let text = format!("{reason}; {} uploads of the account left the pool", shards.len());
    let subject = format!("account:{account}");
    note(connection, now, Event { kind: "quarantine", account: by, subject, text }).await?;
    Ok(())
}

/// Takes an account out of quarantine: what it delivered counts again, as far as nobody else's games took its place.
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
    let query = "UPDATE accounts SET state = 'active', message = NULL WHERE id = $1 AND state = 'quarantined'";
    let done = sqlx::query(query).bind(account).execute(connection.raw()).await?;
    if done.rows_affected() == 0 {
        return Ok(());
    }
    let query =
        "SELECT id, job, first, games FROM shards WHERE account = $1 AND state = 'quarantined' ORDER BY job, id";
    type Row = (i64, i64, i64, i64);
    let shards: Vec<Row> = sqlx::query_as(query).bind(account).fetch_all(connection.raw()).await?;
    for &(shard, job, first, games) in &shards {
        lock_job(connection, job).await?;
        let query = "UPDATE shards SET state = CASE WHEN validated IS NULL THEN 'received' ELSE 'validated' END
                     WHERE id = $1";
        sqlx::query(query).bind(shard).execute(connection.raw()).await?;
        segments::hold(connection, job, first..first + games, shard).await?;
        let query = "UPDATE jobs SET recheck = 1 WHERE id = $1";
        sqlx::query(query).bind(job).execute(connection.raw()).await?;
    }
    let text = format!("{reason}; {} uploads of the account are back in the pool", shards.len());
    let subject = format!("account:{account}");
    note(connection, now, Event { kind: "quarantine_lifted", account: by, subject, text }).await?;
    Ok(())
}
