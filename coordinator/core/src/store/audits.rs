//! Audits, in the table of shards.

use super::{
    convert::{numbers, row},
    error::StoreError,
    shards::Shards,
};
use crate::{
    clock::{DAY, Time},
    model::{AuditCandidate, AuditState, JobId, Player, ShardId},
};

row!(AuditCandidate { id, job, numbers: numbers });

impl Shards<'_> {
    /// Stores the audit of a shard.
    pub async fn save_audit(
        &mut self,
        shard: ShardId,
        audited_games: i64,
        audit: AuditState,
    ) -> Result<(), StoreError> {
        let query = "UPDATE shards SET audited_games = $2, audit = $3 WHERE id = $1";
        sqlx::query(query).bind(shard).bind(audited_games).bind(audit).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Requires an audit of a shard that was itself an audit, now that its games count.
    pub async fn require_audit(&mut self, shard: ShardId) -> Result<(), StoreError> {
        let query = "UPDATE shards SET audit = 'wanted' WHERE id = $1 AND audit = 'none'
                     AND (audited_games = 0 OR audited_games < games / 10)
                     AND EXISTS (SELECT 1 FROM leases WHERE leases.id = shards.lease AND leases.kind <> 'fresh')
                     AND EXISTS (SELECT 1 FROM workers WHERE workers.id = shards.worker AND workers.trusted = 0)";
        sqlx::query(query).bind(shard).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Finds a shard to audit. It belongs to another account. That account is younger than the
    /// auditor's, unless the auditor is trusted or no older account with the engine was active in
    /// the last day.
    pub async fn to_audit(
        &mut self,
        now: Time,
        auditor: &Player,
        draw: u64,
    ) -> Result<Option<AuditCandidate>, StoreError> {
        let query = "SELECT shards.id AS id, shards.job AS job, shards.first AS first, shards.games AS games
                     FROM shards JOIN jobs ON jobs.id = shards.job
                     WHERE shards.audit = 'wanted' AND shards.state = 'validated' AND shards.object = 'present'
                     AND shards.account <> $1
                     AND jobs.bench_signature = $2 AND jobs.kind <> 'timed'
                     AND ($3 = 1 OR shards.account > $1 OR NOT EXISTS
                          (SELECT 1 FROM accounts WHERE accounts.id < shards.account AND accounts.state = 'active'
                           AND EXISTS (SELECT 1 FROM workers WHERE workers.account = accounts.id
                                       AND workers.bench_signature = $2 AND workers.last_seen > $5)))
                     ORDER BY (shards.id * 7919 + $4) % 1009, shards.id LIMIT 1";
        let query = sqlx::query_as(query).bind(auditor.account).bind(auditor.bench_signature);
        let query = query.bind(i64::from(auditor.is_trusted)).bind((draw >> 32) as i64 % 1009);
        Ok(query.bind(now.after(-DAY)).fetch_optional(self.0.raw()).await?)
    }

    /// Marks the audit as leased; false if it is no longer wanted.
    pub async fn lease_audit(&mut self, shard: ShardId) -> Result<bool, StoreError> {
        let query = "UPDATE shards SET audit = 'leased' WHERE id = $1 AND audit = 'wanted' AND state = 'validated'";
        Ok(sqlx::query(query).bind(shard).execute(self.0.raw()).await?.rows_affected() == 1)
    }

    /// Reopens audits whose lease has ended without anything left to compare. A lease ends in many
    /// ways: expiry, release, rejection of its games, quarantine. The query therefore reads the
    /// state and not the cause.
    pub async fn reopen_audits(&mut self) -> Result<(), StoreError> {
        let query = "UPDATE shards SET audit = 'wanted' WHERE audit = 'leased'
                     AND NOT EXISTS (SELECT 1 FROM leases WHERE leases.audited = shards.id AND leases.state = 'active')
                     AND NOT EXISTS (SELECT 1 FROM comparisons WHERE comparisons.state IN ('waiting', 'different')
                                     AND (left_shard = shards.id OR right_shard = shards.id))";
        sqlx::query(query).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Requests the audit of one more shard of a match's games below a number. The order by hash is
    /// unpredictable: it depends on games that were not played yet. A partly audited shard comes
    /// last, for an audit of another part.
    pub async fn want_audit(&mut self, job: JobId, below: i64) -> Result<(), StoreError> {
        let query = "UPDATE shards SET audit = 'wanted' WHERE id = (
                         SELECT shards.id FROM shards JOIN segments ON segments.shard = shards.id
                         JOIN workers ON workers.id = shards.worker
                         WHERE shards.job = $1 AND segments.first < $2 AND shards.audit IN ('none', 'clean')
                         AND shards.audited_games < shards.games AND workers.trusted = 0 AND shards.state = 'validated'
                         AND shards.object = 'present'
                         ORDER BY shards.audit DESC, shards.hash LIMIT 1)";
        sqlx::query(query).bind(job).bind(below).execute(self.0.raw()).await?;
        Ok(())
    }
}
