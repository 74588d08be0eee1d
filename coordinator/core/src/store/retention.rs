//! Shards whose games may expire, and those that must stay.

use sqlx::{FromRow, Row as _, any::AnyRow};

use super::{convert::row, error::StoreError, operation::repository};
use crate::{
    clock::Time,
    model::{CampaignState, JobKind, LeaseId, ObjectState, ShardId},
};

/// A shard that no job and no comparison needs.
#[derive(Clone, Debug)]
pub struct Expirable {
    /// Its id.
    pub shard: ShardId,
    /// The hash of its bytes.
    pub hash: String,
    /// The kind of its job.
    pub kind: JobKind,
    /// The generation of its games.
    pub generation: i64,
    /// Its campaign.
    pub campaign: Option<Current>,
}

/// The state of a campaign that may need games.
#[derive(Clone, Debug)]
pub struct Current {
    /// The current generation.
    pub newest: i64,
    /// Its state.
    pub state: CampaignState,
    /// Its text.
    pub text: String,
    /// Its name.
    pub name: String,
}

row!(Current { newest, state, text, name });

impl FromRow<'_, AnyRow> for Expirable {
    fn from_row(row: &AnyRow) -> Result<Self, sqlx::Error> {
        let has_campaign = row.try_get::<Option<i64>, _>("newest")?.is_some();
        Ok(Self {
            shard: row.try_get("id")?,
            hash: row.try_get("hash")?,
            kind: row.try_get("kind")?,
            generation: row.try_get("generation")?,
            campaign: has_campaign.then(|| Current::from_row(row)).transpose()?,
        })
    }
}

repository!(
    /// Retention, within a transaction.
    Retention, retention
);

impl Retention<'_> {
    /// The training sets (JSON) of nets that are published, in training or in their gate.
    pub async fn training_sets(&mut self) -> Result<Vec<String>, StoreError> {
        let query = "SELECT trainings.manifests FROM trainings LEFT JOIN nets ON nets.hash = trainings.candidate
                     WHERE trainings.state IN ('open', 'leased')
                     OR nets.state IN ('candidate', 'promoted', 'disputed', 'rolled_back') ORDER BY trainings.id";
        Ok(sqlx::query_scalar(query).fetch_all(self.0.raw()).await?)
    }

    /// Shards among the next `window` ids after a number, received before a time. Their job is
    /// closed, no later training needs them, and no comparison is pending.
    pub async fn expirable(&mut self, before: Time, after: ShardId, window: i64) -> Result<Vec<Expirable>, StoreError> {
        let query = "SELECT shards.id AS id, shards.hash AS hash, jobs.kind AS kind, jobs.generation AS generation,
                    campaigns.generation AS newest, campaigns.state AS state, campaigns.text AS text,
                    campaigns.name AS name
             FROM (SELECT id, hash, job FROM shards WHERE id > $1 AND id <= $1 + $3 AND object = 'present'
                   AND received < $2 AND state <> 'received' AND audit NOT IN ('wanted', 'leased')) AS shards
             CROSS JOIN jobs LEFT JOIN campaigns ON campaigns.id = jobs.campaign
             WHERE jobs.id = shards.job AND jobs.state = 'closed'
             AND (jobs.kind <> 'selfplay' OR campaigns.id IS NULL OR campaigns.state IN ('stopped', 'complete')
                  OR jobs.generation < campaigns.generation)
             AND NOT EXISTS (SELECT 1 FROM comparisons WHERE state IN ('waiting', 'different')
                             AND (left_shard = shards.id OR right_shard = shards.id))";
        let query = sqlx::query_as(query).bind(after).bind(before.0).bind(window);
        Ok(query.fetch_all(self.0.raw()).await?)
    }

    /// The texts of the campaigns that are not over.
    pub async fn texts(&mut self) -> Result<Vec<String>, StoreError> {
        let query = sqlx::query_scalar("SELECT text FROM campaigns WHERE state NOT IN ('stopped', 'complete')");
        Ok(query.fetch_all(self.0.raw()).await?)
    }

    /// The newest shard.
    pub async fn newest(&mut self) -> Result<ShardId, StoreError> {
        let newest: Option<ShardId> = sqlx::query_scalar("SELECT MAX(id) FROM shards").fetch_one(self.0.raw()).await?;
        Ok(newest.unwrap_or_default())
    }

    /// Marks a shard's bytes as expired; whether they were present. Its line for manifests and its
    /// statistics go too: no training set can name it any more, and its job's statistics stay.
    pub async fn expire(&mut self, shard: ShardId) -> Result<bool, StoreError> {
        let query = "UPDATE shards SET object = $2, entry = NULL, figures = NULL WHERE id = $1 AND object = $3";
        let query = sqlx::query(query).bind(shard).bind(ObjectState::Expired).bind(ObjectState::Present);
        Ok(query.execute(self.0.raw()).await?.rows_affected() > 0)
    }

    /// Rejected shards with bytes, received before a time; the oldest first.
    pub async fn rejected(&mut self, before: Time, limit: i64) -> Result<Vec<ShardId>, StoreError> {
        let query = "SELECT id FROM shards WHERE state = 'rejected' AND object = 'present' AND received < $1
                     ORDER BY received LIMIT $2";
        Ok(sqlx::query_scalar(query).bind(before).bind(limit).fetch_all(self.0.raw()).await?)
    }

    /// Deletes the segments that a shard holds. Its job is closed for ever, and the shard itself
    /// keeps their count.
    pub async fn drop_segments(&mut self, shard: ShardId) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM segments WHERE shard = $1").bind(shard).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Merges the finished lease of a shard with the first of its worker in the same job. One lease
    /// is left for each worker and job.
    pub async fn merge_lease(&mut self, shard: ShardId) -> Result<(), StoreError> {
        let query = "SELECT own.id AS own, (SELECT other.id FROM leases AS other
                             WHERE other.worker = own.worker AND other.state = 'done' AND other.job = own.job
                             AND other.kind = 'fresh' ORDER BY other.id LIMIT 1) AS first
                     FROM shards JOIN leases AS own ON own.id = shards.lease
                     WHERE shards.id = $1 AND own.state = 'done' AND own.kind = 'fresh'";
        let found = sqlx::query(query).bind(shard).fetch_optional(self.0.raw()).await?;
        let Some(found) = found else { return Ok(()) };
        let (own, first): (LeaseId, LeaseId) = (found.try_get("own")?, found.try_get("first")?);
        let query = "UPDATE shards SET lease = $2 WHERE id = $1 AND lease <> $2
                     AND NOT EXISTS (SELECT 1 FROM shards AS other WHERE other.lease = $2 AND other.hash = shards.hash)";
        sqlx::query(query).bind(shard).bind(first).execute(self.0.raw()).await?;
        let query = "DELETE FROM leases WHERE id = $1 AND id <> $2
                     AND NOT EXISTS (SELECT 1 FROM shards WHERE shards.lease = leases.id)
                     AND NOT EXISTS (SELECT 1 FROM segments WHERE segments.lease = leases.id)";
        sqlx::query(query).bind(own).bind(first).execute(self.0.raw()).await?;
        Ok(())
    }
}
