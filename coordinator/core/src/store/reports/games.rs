//! Shards in lists, and which of them are public.

use dataset::Digest;

use super::super::convert::{flag, row};
use crate::{
    model::{JobId, JobKind, MAX_GAMES_PER_LEASE, ShardId},
    store::{Connection, StoreError},
};

/// Shards, or games of a shard, per page.
pub const PAGE: usize = 100;

/// The condition that no upload of the same games is under audit. An auditor could copy any of
/// them, and tell a second audit or a ringer by them.
fn not_under_audit() -> String {
    format!(
        "NOT EXISTS (SELECT 1 FROM shards AS same WHERE same.job = shards.job
                     AND same.first > shards.first - {MAX_GAMES_PER_LEASE} AND same.first < shards.first + shards.games
                     AND same.first + same.games > shards.first AND same.audit IN ('wanted', 'leased'))"
    )
}

/// Whether a shard's games are public: the job is closed, and no audit depends on them.
pub async fn is_public(connection: &mut Connection<'_>, shard: Digest) -> Result<bool, StoreError> {
    // In no audit or dispute. A gate's audits are drawn after its last game, so its games wait for
    // its decision. Games of trusted workers are public at once.
    let query = "SELECT COUNT(*) FROM shards JOIN jobs ON jobs.id = shards.job
                 WHERE shards.hash = $1 AND shards.state = 'validated'
                 AND (jobs.state = 'closed' AND NOT EXISTS (SELECT 1 FROM campaigns WHERE campaigns.gate = jobs.id)
                      OR EXISTS (SELECT 1 FROM workers WHERE id = shards.worker AND trusted = 1
                                 AND shards.id > trusted_after))";
    let query = format!("{query} AND {}", not_under_audit());
    let query = sqlx::query_scalar(sqlx::AssertSqlSafe(query)).bind(shard.to_string());
    Ok(query.fetch_one(connection.raw()).await.map(|public: i64| public > 0)?)
}

/// The job of a shard.
pub async fn job_of(connection: &mut Connection<'_>, shard: Digest) -> Result<Option<JobId>, StoreError> {
    let query = "SELECT job FROM shards WHERE hash = $1 ORDER BY id LIMIT 1";
    Ok(sqlx::query_scalar(query).bind(shard.to_string()).fetch_optional(connection.raw()).await?)
}

/// A shard of a job in a list.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say what each is")]
pub struct ListedShard {
    pub id: ShardId,
    pub hash: String,
    pub first: i64,
    pub games: i64,
    pub positions: i64,
    pub outcomes: Option<String>,
    pub reasons: Option<String>,
    pub is_open: bool,
    pub kind: JobKind,
}

row!(ListedShard { id, hash, first, games, positions, outcomes, reasons, is_open: flag, kind });

/// Lists the validated shards of a job, or of all jobs, newest first, before a given one.
/// `sees_all` includes shards still under audit.
pub async fn shards(
    connection: &mut Connection<'_>,
    sees_all: bool,
    job: Option<JobId>,
    before: Option<i64>,
) -> Result<Vec<ListedShard>, StoreError> {
    // Shards under audit are hidden: a worker that saw them could recognise an audit lease. Of open
    // jobs and gates, those of trusted workers are shown, if they are among the newest of all.
    let of_job = "SELECT shards.id, hash, first, games, positions, outcomes, reasons,
                         CASE WHEN object = 'present' THEN 1 ELSE 0 END AS is_open, jobs.kind AS kind
                  FROM shards JOIN jobs ON jobs.id = shards.job
                  WHERE shards.state = 'validated' AND shards.id < $2 AND shards.job = $1
                  AND shards.id > (SELECT CASE WHEN $4 <> 0 OR (state = 'closed'
                                        AND NOT EXISTS (SELECT 1 FROM campaigns WHERE gate = $1)) THEN 0
                                   ELSE (SELECT MAX(id) - 10000 FROM shards) END FROM jobs WHERE id = $1)
                  AND ($4 <> 0 OR (audit NOT IN ('wanted', 'leased') AND ((jobs.state = 'closed'
                            AND NOT EXISTS (SELECT 1 FROM campaigns WHERE campaigns.gate = jobs.id))
                       OR EXISTS (SELECT 1 FROM workers WHERE id = shards.worker AND trusted = 1
                                  AND shards.id > trusted_after))
                       AND NOT_UNDER_AUDIT))
                  ORDER BY shards.id DESC LIMIT $3";
    // The newest public shard of each closed job tells which jobs can have the newest of all.
    let of_all = "SELECT shards.id, hash, first, games, positions, outcomes, reasons, 1 AS is_open,
                         jobs.kind AS kind
                  FROM shards JOIN jobs ON jobs.id = shards.job
                  WHERE shards.id IN (
                      SELECT own.id FROM (SELECT job FROM
                            (SELECT id AS job, COALESCE((SELECT MAX(id) FROM shards
                                 WHERE job = jobs.id AND id < $2 AND state = 'validated' AND object = 'present'
                                 AND audit NOT IN ('wanted', 'leased')), 0) AS newest
                             FROM jobs WHERE state = 'closed' AND $1 < 0
                                  AND NOT EXISTS (SELECT 1 FROM campaigns WHERE campaigns.gate = jobs.id)) AS closed
                        WHERE newest > 0 ORDER BY newest DESC LIMIT $3) AS recent
                      JOIN shards AS own ON own.id IN (SELECT id FROM shards AS other
                          WHERE other.job = recent.job AND id < $2 AND state = 'validated' AND object = 'present'
                          AND audit NOT IN ('wanted', 'leased') ORDER BY id DESC LIMIT $3)
                      UNION SELECT id FROM shards AS open
                      WHERE id < $2 AND id > (SELECT MAX(id) - 10000 FROM shards) AND state = 'validated'
                      AND object = 'present' AND audit NOT IN ('wanted', 'leased')
                      AND EXISTS (SELECT 1 FROM workers WHERE workers.id = open.worker AND trusted = 1
                                  AND open.id > trusted_after))
                  AND NOT_UNDER_AUDIT ORDER BY shards.id DESC LIMIT $3";
    let query = if job.is_some() { of_job } else { of_all }.replace("NOT_UNDER_AUDIT", &not_under_audit());
    let query = sqlx::query_as(sqlx::AssertSqlSafe(query));
    let mut query = query.bind(job.unwrap_or(JobId(-1))).bind(before.unwrap_or(i64::MAX)).bind(PAGE as i64);
    if job.is_some() {
        query = query.bind(i64::from(sees_all));
    }
    Ok(query.fetch_all(connection.raw()).await?)
}
