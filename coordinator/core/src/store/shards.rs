//! The table of shards. The caller that changes a shard's state has locked its job.

use std::ops::Range;

use dataset::{Digest, Header};
use protocol::api::{problem::Code, work::Notice};
use sqlx::Row as _;

use super::{
    convert::{flag, hash, header, numbers, row},
    error::StoreError,
    operation::repository,
};
use crate::{
    clock::Time,
    model::{
        AccountId, AuditState, EarlierUpload, GateShare, JobId, LeaseId, MAX_GAMES_PER_LEASE, NewShard, Part, Reason,
        ShardId, ShardState, ShardToValidate, ToValidate, ValidationReport, WorkerId,
    },
};

/// Maximum number of the validation backlog that is counted.
const MAX_BACKLOG: i64 = 10_000;

/// Maximum notices of a response.
const MAX_NOTICES: i64 = 20;

row!(ShardToValidate {
    id,
    worker,
    account,
    numbers: numbers,
    state,
    validated,
    kind,
    is_trusted: flag,
    clean_games,
    proven_nodes,
    gate,
});
row!(Part { shard, numbers: numbers });
row!(GateShare { own, last_leased });
row!(EarlierUpload { hash: hash, numbers: numbers, state });

pub(super) struct Claimed {
    shard: ShardId,
    hash: String,
    header: Header,
    numbers: Range<i64>,
}

row!(Claimed { shard, hash, header: header, numbers: numbers });

struct Refused {
    hash: String,
    code: Option<String>,
    detail: Option<Reason>,
}

row!(Refused { hash, code, detail });

repository!(
    /// The shards, within a transaction.
    Shards, shards
);

impl Shards<'_> {
    /// Whether a shard with this hash was received for any lease.
    pub async fn is_known(&mut self, hash: Digest) -> Result<bool, StoreError> {
        let query = "SELECT COUNT(*) FROM shards WHERE hash = $1";
        let query = sqlx::query_scalar(query).bind(hash.to_string());
        Ok(query.fetch_one(self.0.raw()).await.map(|known: i64| known > 0)?)
    }

    /// The uploads of a lease so far.
    pub async fn of_lease(&mut self, lease: LeaseId) -> Result<Vec<EarlierUpload>, StoreError> {
        let query = "SELECT hash, first, games, state FROM shards WHERE lease = $1";
        Ok(sqlx::query_as(query).bind(lease).fetch_all(self.0.raw()).await?)
    }

    /// The number of shards that wait for validation, up to 10,000.
    pub async fn backlog(&mut self) -> Result<i64, StoreError> {
        let query = "SELECT COUNT(*) FROM (SELECT 1 FROM shards WHERE state = 'received' LIMIT $1) AS waiting";
        Ok(sqlx::query_scalar(query).bind(MAX_BACKLOG).fetch_one(self.0.raw()).await?)
    }

    /// The number of accounts whose shards wait for validation.
    pub async fn waiting_accounts(&mut self) -> Result<i64, StoreError> {
        let query = "SELECT COUNT(DISTINCT account) FROM
                     (SELECT account FROM shards WHERE state = 'received' LIMIT $1) AS waiting";
        Ok(sqlx::query_scalar(query).bind(MAX_BACKLOG).fetch_one(self.0.raw()).await?)
    }

    /// The number of an account's shards that wait for validation.
    pub async fn waiting_of(&mut self, account: AccountId) -> Result<i64, StoreError> {
        let query = "SELECT COUNT(*) FROM shards WHERE account = $1 AND state = 'received'";
        Ok(sqlx::query_scalar(query).bind(account).fetch_one(self.0.raw()).await?)
    }

    /// Adds a shard.
    pub async fn insert(&mut self, shard: &NewShard, now: Time) -> Result<ShardId, StoreError> {
        let query = "INSERT INTO shards (hash, job, lease, worker, account, first, games, positions, bytes, state,
                                         received, bench_signature, audit, object)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'none', 'present') RETURNING id";
        let query = sqlx::query_scalar(query).bind(shard.hash.to_string()).bind(shard.job).bind(shard.lease);
        let query = query.bind(shard.worker).bind(shard.account).bind(shard.numbers.start);
        let query = query.bind(shard.numbers.end - shard.numbers.start).bind(shard.positions).bind(shard.bytes);
        Ok(query.bind(shard.state).bind(now).bind(shard.bench_signature).fetch_one(self.0.raw()).await?)
    }

    /// The shards that this lease concerns: the audited one, and those of the settled dispute. An
    /// upload is compared with them in all common games, whichever shard holds them.
    pub async fn named_by(&mut self, lease: LeaseId, audited: Option<ShardId>) -> Result<Vec<Part>, StoreError> {
        let query = "SELECT id AS shard, first, games FROM shards
                     WHERE id = $1 AND state IN ('validated', 'disputed')
                     UNION SELECT shards.id AS shard, shards.first AS first, shards.games AS games
                     FROM shards JOIN comparisons
                     ON shards.id = comparisons.left_shard OR shards.id = comparisons.right_shard
                     WHERE comparisons.settled_by = $2 AND shards.state IN ('validated', 'disputed')";
        Ok(sqlx::query_as(query).bind(audited).bind(lease).fetch_all(self.0.raw()).await?)
    }

    /// The shards in the pool, but for one, that have any of these games and are not disputed; the
    /// earliest first.
    pub async fn others_with(
        &mut self,
        job: JobId,
        numbers: &Range<i64>,
        except: ShardId,
    ) -> Result<Vec<Part>, StoreError> {
        // No shard is longer than a lease.
        let query = "SELECT id AS shard, first, games FROM shards
                     WHERE job = $1 AND first > $2 - $5 AND first < $3 AND first + games > $2 AND id <> $4
                     AND state IN ('received', 'validated') ORDER BY id";
        let query = sqlx::query_as(query).bind(job).bind(numbers.start).bind(numbers.end).bind(except);
        Ok(query.bind(MAX_GAMES_PER_LEASE).fetch_all(self.0.raw()).await?)
    }

    /// The other validated shards of an account with any of these games, by their first game.
    pub async fn validated_of(
        &mut self,
        job: JobId,
        account: AccountId,
        numbers: &Range<i64>,
        except: ShardId,
    ) -> Result<Vec<Part>, StoreError> {
        let query = "SELECT id AS shard, first, games FROM shards
                     WHERE job = $1 AND account = $2 AND id <> $3 AND validated IS NOT NULL
                     AND first > $4 - $6 AND first < $5 AND first + games > $4 ORDER BY first";
        let query = sqlx::query_as(query).bind(job).bind(account).bind(except).bind(numbers.start);
        Ok(query.bind(numbers.end).bind(MAX_GAMES_PER_LEASE).fetch_all(self.0.raw()).await?)
    }

    /// The next shards of an account after one, with their jobs.
    pub async fn next_of(
        &mut self,
        account: AccountId,
        after: ShardId,
        limit: i64,
    ) -> Result<Vec<(ShardId, JobId)>, StoreError> {
        let query = "SELECT id, job FROM shards WHERE account = $1 AND id > $2 ORDER BY id LIMIT $3";
        let rows = sqlx::query(query).bind(account).bind(after).bind(limit).fetch_all(self.0.raw()).await?;
        rows.iter().map(|row| Ok((row.try_get("id")?, row.try_get("job")?))).collect()
    }

    /// Claims shards until a time; if this coordinator crashes, others claim them after it.
    pub async fn claim(&mut self, now: Time, limit: i64, until: Time) -> Result<Vec<ToValidate>, StoreError> {
        let query = "SELECT shards.id AS shard, shards.hash AS hash, shards.first AS first, shards.games AS games,
                            jobs.header AS header
                     FROM shards JOIN jobs ON jobs.id = shards.job
                     WHERE shards.state = 'received' AND claimed_until < $1 ORDER BY shards.id LIMIT $2";
        let query = self.0.skip_locked(query, "shards");
        let found: Vec<Claimed> = sqlx::query_as(query).bind(now).bind(limit).fetch_all(self.0.raw()).await?;
        self.claim_until(found, until).await
    }

    pub(super) async fn claim_until(
        &mut self,
        found: Vec<Claimed>,
        until: Time,
    ) -> Result<Vec<ToValidate>, StoreError> {
        let mut claimed = Vec::new();
        for Claimed { shard, hash, header, numbers } in found {
            let query = "UPDATE shards SET claimed_until = $2 WHERE id = $1";
            sqlx::query(query).bind(shard).bind(until).execute(self.0.raw()).await?;
            let Ok(hash) = hash.parse() else { continue };
            claimed.push(ToValidate { shard, hash, header, games: numbers.start as u64..numbers.end as u64 });
        }
        Ok(claimed)
    }

    /// Ends all claims.
    pub async fn release_claims(&mut self) -> Result<(), StoreError> {
        let query = "UPDATE shards SET claimed_until = 0 WHERE state = 'received' AND claimed_until > 0";
        sqlx::query(query).execute(self.0.raw()).await?;
        Ok(())
    }

    /// The job of a shard, which is locked before the shard is read.
    pub async fn job_of(&mut self, shard: ShardId) -> Result<JobId, StoreError> {
        let query = "SELECT job FROM shards WHERE id = $1";
        Ok(sqlx::query_scalar(query).bind(shard).fetch_one(self.0.raw()).await?)
    }

    /// The games of a match that an account was lent or has delivered, without its audits.
    pub async fn gate_share(&mut self, job: JobId, account: AccountId) -> Result<GateShare, StoreError> {
        let query = "SELECT last_leased, CAST(
                         (SELECT COALESCE(SUM(held_games), 0) FROM shards WHERE job = $1 AND account = $2
                          AND state = 'validated' AND pairs IS NOT NULL)
                         + (SELECT COALESCE(SUM(held_games), 0) FROM shards WHERE account = $2 AND state = 'received'
                            AND job = $1)
                         + (SELECT COALESCE(SUM(games), 0) FROM leases WHERE account = $2 AND state = 'active'
                            AND job = $1 AND kind = 'fresh') AS BIGINT) AS own
                     FROM jobs WHERE id = $1";
        Ok(sqlx::query_as(query).bind(job).bind(account).fetch_one(self.0.raw()).await?)
    }

    /// A shard that gets its verdict, under the lock of its job.
    pub async fn to_validate(&mut self, shard: ShardId) -> Result<ShardToValidate, StoreError> {
        let query = "SELECT shards.id AS id, shards.worker AS worker, shards.account AS account, shards.first AS first,
                            shards.games AS games, shards.state AS state, shards.validated AS validated,
                            leases.kind AS kind, clean_games, proven_nodes,
                            CASE WHEN workers.trusted = 1 AND shards.id > workers.trusted_after THEN 1 ELSE 0 END
                                AS is_trusted,
                            jobs.gate AS gate
                     FROM shards JOIN leases ON leases.id = shards.lease JOIN workers ON workers.id = shards.worker
                     JOIN accounts ON accounts.id = shards.account JOIN jobs ON jobs.id = shards.job
                     WHERE shards.id = $1";
        Ok(sqlx::query_as(query).bind(shard).fetch_one(self.0.raw()).await?)
    }

    /// Stores the verdict on a valid shard.
    pub async fn accept(
        &mut self,
        shard: ShardId,
        now: Time,
        report: &ValidationReport,
        state: ShardState,
        audit: AuditState,
    ) -> Result<(), StoreError> {
        let query = "UPDATE shards SET validated = $2, positions = $3, outcomes = $4, reasons = $5, pairs = $6,
                            entry = $7, figures = $8, time_losses = $9, state = $10, claimed_until = 0,
                            audit = CASE audit WHEN 'none' THEN $11 ELSE audit END WHERE id = $1";
        let query = sqlx::query(query).bind(shard).bind(now).bind(report.positions as i64);
        let query = query.bind(report.outcomes.clone()).bind(report.reasons.clone()).bind(report.pairs.clone());
        let query = query.bind(report.entry.clone()).bind(report.figures.to_text()).bind(report.time_losses.clone());
        query.bind(state).bind(audit).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Stores the verdict on an invalid shard.
    pub async fn reject(&mut self, shard: ShardId, code: Code, detail: &Reason) -> Result<(), StoreError> {
        let query = "UPDATE shards SET state = $4, code = $2, detail = $3 WHERE id = $1";
        let query = sqlx::query(query).bind(shard).bind(code.name()).bind(detail.clone());
        query.bind(ShardState::Rejected).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Changes the state of a shard.
    pub async fn set_state(&mut self, shard: ShardId, state: ShardState) -> Result<(), StoreError> {
        let query = "UPDATE shards SET state = $2 WHERE id = $1";
        sqlx::query(query).bind(shard).bind(state).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Acknowledges the notices to a worker of these shards' rejection.
    pub async fn acknowledge(&mut self, worker: WorkerId, shards: &[Digest]) -> Result<(), StoreError> {
        for shard in shards {
            let query =
                "UPDATE shards SET told = 1 WHERE worker = $1 AND hash = $2 AND state = 'rejected' AND told = 0";
            sqlx::query(query).bind(worker).bind(shard.to_string()).execute(self.0.raw()).await?;
        }
        Ok(())
    }

    /// The unacknowledged notices to a worker of rejected shards. They repeat until acknowledged.
    pub async fn notices(&mut self, worker: WorkerId) -> Result<Vec<Notice>, StoreError> {
        let query = "SELECT hash, code, detail FROM shards
                     WHERE worker = $1 AND state = 'rejected' AND told = 0 ORDER BY id LIMIT $2";
        let rows: Vec<Refused> = sqlx::query_as(query).bind(worker).bind(MAX_NOTICES).fetch_all(self.0.raw()).await?;
        let notice = |Refused { hash, code, detail }: Refused| {
            let text = detail.map_or_else(|| "it was rejected".to_owned(), |detail| detail.to_string());
            Notice { kind: ShardState::Rejected.to_string(), shard: hash.parse::<Digest>().ok(), code, text }
        };
        Ok(rows.into_iter().map(notice).collect())
    }
}
