//! What is kept: the games that published nets learned from, for ever; all others for as long as whoever runs the
//! coordinator says.
//!
//! Only objects expire. A shard's row stays, with its hash, its counts and what was found out about it, so nothing that
//! was counted changes. Rows are marked here, in a transaction; the objects that nobody names any more are deleted by the
//! sweep ([`driver`](crate::driver::sweep)), which does the same for those that were never named.

use std::collections::BTreeSet;

use dataset::manifest::Manifest;
use serde_json::Value;

use crate::{
    clock::Time,
    store::{Connection, Failure, Outcome},
};

/// So many are marked in one transaction.
const TOGETHER: i64 = 200;

/// The hashes of all shards that a manifest names from which a published net was made, or may be: one that is being
/// trained, or in its gate.
///
/// # Errors
///
/// If the database fails.
pub async fn pinned(connection: &mut Connection<'_>) -> Outcome<BTreeSet<String>> {
    let query = "SELECT trainings.manifests FROM trainings LEFT JOIN nets ON nets.hash = trainings.candidate
                 WHERE trainings.state IN ('open', 'leased')
                 OR nets.state IN ('candidate', 'promoted', 'disputed', 'rolled_back') ORDER BY trainings.id";
    let manifests: Vec<String> = sqlx::query_scalar(query).fetch_all(connection.raw()).await?;
    let mut names = BTreeSet::new();
    for manifests in manifests {
        let list: Vec<Value> = serde_json::from_str(&manifests)
            .map_err(|error| Failure::Broken(format!("a training's manifests that are none: {error}")))?;
        names.extend(list.iter().filter_map(|named| named["sha256"].as_str().map(ToOwned::to_owned)));
    }
    let mut shards = BTreeSet::new();
    for name in names {
        let query = "SELECT text FROM manifests WHERE hash = $1";
        let text: String = sqlx::query_scalar(query).bind(name.clone()).fetch_one(connection.raw()).await?;
        let manifest = Manifest::from_text(&text)
            .map_err(|error| Failure::Broken(format!("a manifest {name} that is none: {error}")))?;
        shards.extend(manifest.shards.into_iter().map(|entry| entry.sha256));
    }
    Ok(shards)
}

/// Marks some shards as expired that came before a time, and are neither pinned nor needed: their job is closed, no
/// later training will want them, and nothing is to be compared with them. `after` is the shard to go on behind. How
/// many were marked, and behind which to go on; none if there are no more.
///
/// # Errors
///
/// If the database fails.
pub async fn expire(
    connection: &mut Connection<'_>,
    before: Time,
    pinned: &BTreeSet<String>,
    after: i64,
) -> Outcome<(u64, Option<i64>)> {
    let query = "SELECT shards.id, shards.hash FROM shards JOIN jobs ON jobs.id = shards.job
                 LEFT JOIN campaigns ON campaigns.id = jobs.campaign
                 WHERE shards.id > $1 AND shards.object = 'present' AND shards.received < $2
                 AND shards.state <> 'received' AND shards.audit NOT IN ('wanted', 'leased') AND jobs.state = 'closed'
                 AND (jobs.kind <> 'selfplay' OR campaigns.id IS NULL OR campaigns.state IN ('stopped', 'complete')
                      OR jobs.generation < campaigns.generation)
                 AND NOT EXISTS (SELECT 1 FROM comparisons WHERE state IN ('waiting', 'different')
                                 AND (left_shard = shards.id OR right_shard = shards.id))
                 ORDER BY shards.id LIMIT $3";
    let query = sqlx::query_as(query).bind(after).bind(before.0).bind(TOGETHER);
    let rows: Vec<(i64, String)> = query.fetch_all(connection.raw()).await?;
    let next = (rows.len() as i64 == TOGETHER).then(|| rows.last().map(|row| row.0)).flatten();
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

/// Whether the next net of its campaign will learn from it.
async fn is_in_window(connection: &mut Connection<'_>, shard: i64) -> Outcome<bool> {
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
        .map_err(|error| Failure::Broken(format!("a campaign that is none: {error}")))?;
    Ok(generation > newest - i64::from(campaign.generation.window))
}
