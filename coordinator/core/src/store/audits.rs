//! Audits, in the table of shards.

use std::ops::Range;

use super::{
    convert::{flag, numbers, row},
    error::StoreError,
    jobs::Jobs,
    shards::Shards,
};
use crate::{
    clock::Time,
    model::{
        AccountId, AuditCandidate, AuditState, HeldGames, JobId, MAX_GAMES_PER_LEASE, Player, ShardId, ShardState,
    },
};

/// Shards whose auditor is drawn at a time.
const MAX_UNDRAWN: i64 = 100;

/// A shard with a wanted audit.
pub struct Undrawn {
    /// The shard.
    pub shard: ShardId,
    /// The account that played it.
    pub account: AccountId,
    /// The job of its games.
    pub job: JobId,
    /// Numbers of its games.
    pub numbers: Range<i64>,
    /// Whether a trusted worker played it, so that its results are known.
    pub is_ringer: bool,
}

struct Holdings {
    job: JobId,
    state: ShardState,
    games: i64,
    positions: i64,
    held: i64,
}

row!(Undrawn { shard, account, job, numbers: numbers, is_ringer: flag });
row!(Holdings { job, state, games, positions, held });
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

    /// Adds games to those that a shard holds. A shard that was itself an audit needs one, now that
    /// its games count.
    pub async fn hold(&mut self, shard: ShardId, gain: i64) -> Result<(), StoreError> {
        let query = "UPDATE shards SET held_games = held_games + $2,
                     audit = CASE WHEN $2 > 0 AND audit = 'none' AND (audited_games = 0 OR audited_games < games / 10)
                     AND EXISTS (SELECT 1 FROM leases WHERE leases.id = shards.lease AND leases.kind <> 'fresh')
                     AND EXISTS (SELECT 1 FROM workers WHERE workers.id = shards.worker
                                 AND (workers.trusted = 0 OR shards.id <= workers.trusted_after))
                     THEN 'wanted' ELSE audit END
                     WHERE id = $1 RETURNING job, state, games, positions, held_games AS held";
        let it: Holdings = sqlx::query_as(query).bind(shard).bind(gain).fetch_one(self.0.raw()).await?;
        let of = |held| HeldGames::of(it.state, held, it.games, it.positions);
        Jobs::on(self.0.reborrow()).count_held(it.job, of(it.held) - of(it.held - gain)).await
    }

    /// The shards with a wanted audit of this engine, and without an auditor who may still ask.
    pub async fn undrawn(&mut self, now: Time, bench_signature: i64) -> Result<Vec<Undrawn>, StoreError> {
        let query = "SELECT shards.id AS shard, shards.account AS account, job, first, games,
                            CASE WHEN trusted = 1 AND shards.id > trusted_after THEN 1 ELSE 0 END AS is_ringer
                     FROM shards JOIN jobs ON jobs.id = shards.job JOIN workers ON workers.id = shards.worker
                     WHERE audit = 'wanted' AND auditor_until < $1 AND shards.bench_signature = $2 AND jobs.kind <> 'timed'
                     AND shards.state = 'validated' AND object = 'present' ORDER BY auditor_until, shards.id LIMIT $3";
        let query = sqlx::query_as(query).bind(now).bind(bench_signature).bind(MAX_UNDRAWN);
        Ok(query.fetch_all(self.0.raw()).await?)
    }

    /// The accounts that delivered any of these games.
    pub async fn players(&mut self, job: JobId, numbers: &Range<i64>) -> Result<Vec<AccountId>, StoreError> {
        let query = "SELECT DISTINCT account FROM shards
                     WHERE job = $1 AND first > $2 - $4 AND first < $3 AND first + games > $2";
        let query = sqlx::query_scalar(query).bind(job).bind(numbers.start).bind(numbers.end);
        Ok(query.bind(MAX_GAMES_PER_LEASE).fetch_all(self.0.raw()).await?)
    }

    /// Stores the auditor of a shard, who may ask until a time; none if no account may audit it
    /// now.
    pub async fn set_auditor(
        &mut self,
        shard: ShardId,
        auditor: Option<AccountId>,
        until: Time,
    ) -> Result<(), StoreError> {
        let query = "UPDATE shards SET auditor = $2, auditor_until = $3 WHERE id = $1 AND audit = 'wanted'";
        sqlx::query(query).bind(shard).bind(auditor).bind(until).execute(self.0.raw()).await?;
        Ok(())
    }

    /// A shard whose audit was drawn for this player's account.
    pub async fn to_audit(&mut self, auditor: &Player) -> Result<Option<AuditCandidate>, StoreError> {
        let query = "SELECT id, job, first, games FROM shards
                     WHERE audit = 'wanted' AND auditor = $1 AND bench_signature = $2
                     AND state = 'validated' AND object = 'present' ORDER BY id LIMIT 1";
        let query = sqlx::query_as(query).bind(auditor.account).bind(auditor.bench_signature);
        Ok(query.fetch_optional(self.0.raw()).await?)
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
        let query = "UPDATE shards SET audit = 'wanted', auditor_until = 0 WHERE audit = 'leased'
                     AND NOT EXISTS (SELECT 1 FROM leases WHERE leases.audited = shards.id AND leases.state = 'active')
                     AND NOT EXISTS (SELECT 1 FROM comparisons WHERE comparisons.state IN ('waiting', 'different')
                                     AND (left_shard = shards.id OR right_shard = shards.id))";
        sqlx::query(query).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Requests the audit of a shard.
    pub async fn want_audit(&mut self, shard: ShardId) -> Result<(), StoreError> {
        let query = "UPDATE shards SET audit = 'wanted', auditor_until = 0 WHERE id = $1 AND audit IN ('none', 'clean')
                     AND state = 'validated' AND object = 'present'";
        sqlx::query(query).bind(shard).execute(self.0.raw()).await?;
        Ok(())
    }
}
