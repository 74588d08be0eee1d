//! Running totals of shards and labels by job, so that no reader scans all shards.
//!
//! Any change to a shard's state or counts removes it from the totals before and adds it after.
//! Both happen in the transaction of the change, with the job locked. A shard that waits for
//! validation is in no total.

use std::collections::BTreeMap;

use super::figures;
use crate::{
    clock::DAY,
    store::{Connection, StoreError},
};

/// Removes a shard from the totals before a change.
pub(super) async fn leave(connection: &mut Connection<'_>, shard: i64) -> Result<(), StoreError> {
    count(connection, shard, -1).await
}

/// Adds a shard to the totals after a change.
pub(super) async fn enter(connection: &mut Connection<'_>, shard: i64) -> Result<(), StoreError> {
    count(connection, shard, 1).await
}

async fn count(connection: &mut Connection<'_>, shard: i64, sign: i64) -> Result<(), StoreError> {
    #[derive(sqlx::FromRow)]
    struct Shard {
        job: i64,
        state: String,
        at: i64,
        games: i64,
        positions: i64,
        bytes: i64,
        outcomes: Option<String>,
        reasons: Option<String>,
        figures: Option<String>,
    }
    let query = "SELECT job, state, COALESCE(validated, received) AS at, games, positions, bytes, outcomes, reasons,
                        figures
                 FROM shards WHERE id = $1 AND state <> 'received'";
    let found: Option<Shard> = sqlx::query_as(query).bind(shard).fetch_optional(connection.raw()).await?;
    let Some(shard) = found else { return Ok(()) };
    let query = "INSERT INTO totals (job, day, state, shards, games, positions, bytes)
                 VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (job, day, state) DO UPDATE SET
                 shards = totals.shards + excluded.shards, games = totals.games + excluded.games,
                 positions = totals.positions + excluded.positions, bytes = totals.bytes + excluded.bytes";
    let query = sqlx::query(query).bind(shard.job).bind(shard.at.div_euclid(DAY)).bind(shard.state.clone()).bind(sign);
    let query = query.bind(sign * shard.games).bind(sign * shard.positions).bind(sign * shard.bytes);
    query.execute(connection.raw()).await?;
    if shard.state != "validated" {
        return Ok(());
    }
    if let Some(of_shard) = shard.figures {
        figures::add_to_job(connection, shard.job, &of_shard, sign).await?;
    }
    for (kind, text) in [("outcome", shard.outcomes), ("reason", shard.reasons)] {
        let labels: BTreeMap<String, i64> = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        for (label, games) in labels.into_iter().filter(|(_, games)| *games != 0) {
            let query = "INSERT INTO labels (job, kind, label, games) VALUES ($1, $2, $3, $4)
                         ON CONFLICT (job, kind, label) DO UPDATE SET games = labels.games + excluded.games";
            let query = sqlx::query(query).bind(shard.job).bind(kind).bind(label).bind(sign * games);
            query.execute(connection.raw()).await?;
        }
    }
    Ok(())
}
