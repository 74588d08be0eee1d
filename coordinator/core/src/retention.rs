//! Retention: games that published nets were trained on are kept for ever, all others for the
//! configured time.
//!
//! Only objects expire. A shard's row stays with its hash, counts and verdict, so no count changes.
//! Rows are marked here in a transaction; the sweep ([`driver`](crate::driver::sweep)) deletes the
//! unreferenced objects.

use std::collections::BTreeSet;

use dataset::manifest::Manifest;
use serde_json::Value;

use crate::{
    clock::Time,
    store::{Connection, StoreError},
};

/// Maximum shards marked per transaction.
const MAX_BATCH: i64 = 200;

/// Returns the hashes of all shards in manifests of nets that are published, in training or in
/// their gate.
pub async fn pinned(connection: &mut Connection<'_>) -> Result<BTreeSet<String>, StoreError> {
    let query = "SELECT trainings.manifests FROM trainings LEFT JOIN nets ON nets.hash = trainings.candidate
                 WHERE trainings.state IN ('open', 'leased')
                 OR nets.state IN ('candidate', 'promoted', 'disputed', 'rolled_back') ORDER BY trainings.id";
    let manifests: Vec<String> = sqlx::query_scalar(query).fetch_all(connection.raw()).await?;
    let mut names = BTreeSet::new();
    for manifests in manifests {
        let list: Vec<Value> = serde_json::from_str(&manifests)
            .map_err(|error| StoreError::Corrupt(format!("a training's manifests that are none: {error}")))?;
        names.extend(list.iter().filter_map(|named| named["sha256"].as_str().map(ToOwned::to_owned)));
    }
    let mut shards = BTreeSet::new();
    for name in names {
        let query = "SELECT text FROM manifests WHERE hash = $1";
        let text: String = sqlx::query_scalar(query).bind(name.clone()).fetch_one(connection.raw()).await?;
        let manifest = Manifest::from_text(&text)
            .map_err(|error| StoreError::Corrupt(format!("a manifest {name} that is none: {error}")))?;
        shards.extend(manifest.shards.into_iter().map(|entry| entry.sha256));
    }
    Ok(shards)
}

/// Marks one batch of shards as expired. They were received before a time and are not pinned. Their
/// job is closed, no later training needs them, and no comparison is pending. `after` is the
/// cursor; returns the number marked and the next cursor, none at the end.
pub async fn expire(
    connection: &mut Connection<'_>,
    before: Time,
    pinned: &BTreeSet<String>,
    after: i64,
) -> Result<(u64, Option<i64>), StoreError> {
    let query = "SELECT shards.id, shards.hash FROM shards JOIN jobs ON jobs.id = shards.job
                 LEFT JOIN campaigns ON campaigns.id = jobs.campaign
                 WHERE shards.id > $1 AND shards.object = 'present' AND shards.received < $2
                 AND shards.state <> 'received' AND shards.audit NOT IN ('wanted', 'leased') AND jobs.state = 'closed'
                 AND (jobs.kind <> 'selfplay' OR campaigns.id IS NULL OR campaigns.state IN ('stopped', 'complete')
                      OR jobs.generation < campaigns.generation)
                 AND NOT EXISTS (SELECT 1 FROM comparisons WHERE state IN ('waiting', 'different')
                                 AND (left_shard = shards.id OR right_shard = shards.id))
                 ORDER BY shards.id LIMIT $3";
    let query = sqlx::query_as(query).bind(after).bind(before.0).bind(MAX_BATCH);
    let rows: Vec<(i64, String)> = query.fetch_all(connection.raw()).await?;
    let next = (rows.len() as i64 == MAX_BATCH).then(|| rows.last().map(|row| row.0)).flatten();
    let mut expired = 0;
    for (shard, hash) in rows {
        if pinned.contains(&hash) || is_in_window(connection, shard).await? {
            continue;
        }
        let query = "UPDATE shards SET object = 'expired' WHERE id = $1 AND object = 'present'";
        expired += sqlx::query(query).bind(shard).execute(connection.raw()).await?.rows_affected();
    }
    Ok((expired, next))
}

/// Whether the next training of its campaign uses the shard.
async fn is_in_window(connection: &mut Connection<'_>, shard: i64) -> Result<bool, StoreError> {
    let query = "SELECT jobs.kind, jobs.generation, campaigns.generation, campaigns.state, campaigns.text
                 FROM shards JOIN jobs ON jobs.id = shards.job JOIN campaigns ON campaigns.id = jobs.campaign
                 WHERE shards.id = $1";
    type Row = (String, i64, i64, String, String);
    let row: Option<Row> = sqlx::query_as(query).bind(shard).fetch_optional(connection.raw()).await?;
    let Some((kind, generation, newest, state, text)) = row else { return Ok(false) };
    if kind != "selfplay" || matches!(state.as_str(), "stopped" | "complete") {
        return Ok(false);
    }
    let campaign = protocol::campaign::Campaign::from_text(&text)
        .map_err(|error| StoreError::Corrupt(format!("a campaign that is none: {error}")))?;
    Ok(generation > newest - i64::from(campaign.generation.window))
}
