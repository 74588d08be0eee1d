//! The results of comparisons, and what follows from them: audits, disputes, quarantines.

use super::{audit, lock_job, quarantine, totals};
use crate::{
    clock::Time,
    events::{Event, record_event},
    model::{JobId, Reason},
    store::{Connection, StoreError},
};

#[derive(sqlx::FromRow)]
struct ComparisonRow {
    job: i64,
    state: String,
    left_shard: i64,
    right_shard: i64,
    first: i64,
    games: i64,
}

#[derive(sqlx::FromRow)]
struct Side {
    id: i64,
    account: i64,
    trusted: i64,
}

async fn side(connection: &mut Connection<'_>, shard: i64) -> Result<Side, StoreError> {
    let query = "SELECT shards.id AS id, shards.account AS account, workers.trusted AS trusted
                 FROM shards JOIN workers ON workers.id = shards.worker WHERE shards.id = $1";
    Ok(sqlx::query_as(query).bind(shard).fetch_one(connection.raw()).await?)
}

/// Records a comparison; `differs` is the first game that differs.
pub async fn record(
    connection: &mut Connection<'_>,
    now: Time,
    comparison: i64,
    differs: Option<u64>,
) -> Result<(), StoreError> {
    let job: i64 = sqlx::query_scalar("SELECT job FROM comparisons WHERE id = $1")
        .bind(comparison)
        .fetch_one(connection.raw())
        .await?;
    lock_job(connection, job).await?;
    let query = "SELECT job, state, left_shard, right_shard, first, games FROM comparisons WHERE id = $1";
    let row: ComparisonRow = sqlx::query_as(query).bind(comparison).fetch_one(connection.raw()).await?;
    if row.state != "waiting" {
        return Ok(());
    }
    let (left, right) = (side(connection, row.left_shard).await?, side(connection, row.right_shard).await?);
    let state = if differs.is_some() { "different" } else { "equal" };
    let query = "UPDATE comparisons SET state = $2, game = $3 WHERE id = $1";
    let query = sqlx::query(query).bind(comparison).bind(state).bind(differs.map(|game| game as i64));
    query.execute(connection.raw()).await?;
    if differs.is_none() {
        for shard in [&left, &right] {
            apply_audit(connection, shard).await?;
        }
    } else if left.trusted == right.trusted {
        for shard in [&left, &right] {
            mark_disputed(connection, shard.id).await?;
        }
        let event = Event::Dispute { job: JobId(row.job), game: differs.unwrap_or_default() };
        record_event(connection, now, None, event).await?;
    } else {
        // The trusted worker's result is authoritative.
        let outvoted = if left.trusted == 0 { &left } else { &right };
        audit::mark_settled(connection, comparison).await?;
        let reason = Reason::GameDiffered { game: differs.unwrap_or_default(), job: row.job };
        quarantine::quarantine_for_shard(connection, now, outvoted.account, outvoted.id, reason).await?;
    }
    audit::settle_disputes(connection, now, row.job, row.first..row.first + row.games).await
}

/// Runs [`audit::recompute_audit`] and updates the account.
async fn apply_audit(connection: &mut Connection<'_>, shard: &Side) -> Result<(), StoreError> {
    let (change, is_enough) = audit::recompute_audit(connection, shard.id).await?;
    if change < 0 {
        return audit::recompute_account(connection, shard.account).await;
    }
    let query = "UPDATE accounts SET clean_games = clean_games + $2,
                 clean_until = CASE WHEN $4 = 1 AND clean_until < $3 THEN $3 ELSE clean_until END WHERE id = $1";
    let query = sqlx::query(query).bind(shard.account).bind(change).bind(shard.id);
    query.bind(i64::from(is_enough)).execute(connection.raw()).await?;
    Ok(())
}

/// Withholds a shard's games until its dispute is settled.
async fn mark_disputed(connection: &mut Connection<'_>, shard: i64) -> Result<(), StoreError> {
    totals::leave(connection, shard).await?;
    let query = "UPDATE shards SET state = 'disputed' WHERE id = $1 AND state = 'validated'";
    sqlx::query(query).bind(shard).execute(connection.raw()).await?;
    totals::enter(connection, shard).await
}
