//! Audits, in the table of shards.

use super::{
    convert::{flag, numbers, row},
    error::StoreError,
    jobs::Jobs,
    shards::Shards,
};
use crate::model::{AccountId, AuditCandidate, AuditState, HeldGames, JobId, Player, ShardId, ShardState};

/// Shards looked at for one audit.
const MAX_CANDIDATES: i64 = 32;

/// Shards of an engine $2 with a wanted audit and a hash from $5 to $6, that an account $1 may
/// audit.
const NEAR_HASH: &str = "SELECT shards.id AS id, shards.job AS job, shards.first AS first, shards.games AS games
     FROM (SELECT id FROM shards WHERE audit = 'wanted' AND bench_signature = $2 AND hash >= $5 AND hash < $6
           ORDER BY hash LIMIT $7) AS near JOIN shards ON shards.id = near.id JOIN jobs ON jobs.id = shards.job
     WHERE shards.state = 'validated' AND shards.object = 'present' AND shards.account <> $1
     AND jobs.kind <> 'timed' AND ($3 = 1 OR shards.account > $1 OR shards.account <= $4)";

struct Holdings {
    job: JobId,
    state: ShardState,
    games: i64,
    positions: i64,
    held: i64,
}

struct Auditable {
    shard: ShardId,
    untouched: bool,
}

row!(Auditable { shard, untouched: flag });
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
                     AND EXISTS (SELECT 1 FROM workers WHERE workers.id = shards.worker AND workers.trusted = 0)
                     THEN 'wanted' ELSE audit END
                     WHERE id = $1 RETURNING job, state, games, positions, held_games AS held";
        let it: Holdings = sqlx::query_as(query).bind(shard).bind(gain).fetch_one(self.0.raw()).await?;
        let of = |held| HeldGames::of(it.state, held, it.games, it.positions);
        Jobs::on(self.0.reborrow()).count_held(it.job, of(it.held) - of(it.held - gain)).await
    }

    /// Finds a shard to audit. It belongs to another account. That account is younger than the
    /// auditor's, unless the auditor is trusted or `first_account`, the oldest active one, is not
    /// older. Only shards near a drawn hash are looked at, so thousands of them cost no more.
    pub async fn to_audit(
        &mut self,
        auditor: &Player,
        first_account: AccountId,
        draw: u64,
    ) -> Result<Option<AuditCandidate>, StoreError> {
        // A hash is 64 hexadecimal digits. The golden ratio spreads the draws over its first 16.
        let start = format!("{:016x}", draw.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for (from, to) in [(start.as_str(), "g"), ("", start.as_str())] {
            let query = sqlx::query_as(NEAR_HASH).bind(auditor.account).bind(auditor.bench_signature);
            let query = query.bind(i64::from(auditor.is_trusted)).bind(first_account);
            let query = query.bind(from.to_owned()).bind(to.to_owned()).bind(MAX_CANDIDATES);
            let mut found: Vec<AuditCandidate> = query.fetch_all(self.0.raw()).await?;
            if !found.is_empty() {
                let drawn = (draw >> 40) as usize % found.len();
                return Ok(Some(found.swap_remove(drawn)));
            }
        }
        Ok(None)
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

    /// The shards of a match's games below a number of which a part can still be audited, each with
    /// whether none of it was.
    pub async fn auditable(&mut self, job: JobId, below: i64) -> Result<Vec<(ShardId, bool)>, StoreError> {
        let query = "SELECT shards.id AS shard, MAX(CASE WHEN shards.audit = 'none' THEN 1 ELSE 0 END) AS untouched
                     FROM shards JOIN segments ON segments.shard = shards.id
                     JOIN workers ON workers.id = shards.worker
                     WHERE shards.job = $1 AND segments.first < $2 AND shards.audit IN ('none', 'clean')
                     AND shards.audited_games < shards.games AND workers.trusted = 0 AND shards.state = 'validated'
                     AND shards.object = 'present' GROUP BY shards.id ORDER BY shards.id";
        let query = sqlx::query_as(query).bind(job).bind(below);
        let found: Vec<Auditable> = query.fetch_all(self.0.raw()).await?;
        Ok(found.into_iter().map(|row| (row.shard, row.untouched)).collect())
    }

    /// Requests the audit of a shard.
    pub async fn want_audit(&mut self, shard: ShardId) -> Result<(), StoreError> {
        let query = "UPDATE shards SET audit = 'wanted' WHERE id = $1 AND audit IN ('none', 'clean')
                     AND state = 'validated' AND object = 'present'";
        sqlx::query(query).bind(shard).execute(self.0.raw()).await?;
        Ok(())
    }
}
