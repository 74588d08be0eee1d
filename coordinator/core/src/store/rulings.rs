//! The table of rulings, and the games that a referee takes.

use super::{
    comparisons::Comparisons,
    convert::{hash, header, row},
    error::StoreError,
    operation::repository,
    shards::{Claimed, Shards},
};
use crate::{
    clock::{SECOND, Time},
    model::{ComparisonId, DisputedGame, JobId, RulingId, ShardId, ToValidate},
    rules::audits,
};

/// Minimum milliseconds between two records of a referee's claims.
const RECORD_MS: i64 = 60 * SECOND;

row!(DisputedGame { comparison, game, one: hash, other: hash, header: header });

/// Orders of accounts, one of which a draw chooses: a prime number.
const ACCOUNT_ORDERS: i64 = 1_000_003;

/// Unchecked uploads among which a claim chooses, the newest of matches and those of self-play.
const MAX_UNCHECKED: i64 = 4_000;

/// Unchecked uploads with pairs, as matches have, or without.
macro_rules! unchecked {
    ($pairs:literal) => {
        concat!(
            "SELECT shards.id AS shard, shards.hash AS hash, shards.first AS first, shards.games AS games,
                    jobs.header AS header
             FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY account ORDER BY id DESC) AS turn
                   FROM (SELECT id, account FROM shards WHERE bench_signature = $2 AND pairs ",
            $pairs,
            " AND checked = 0 AND state = 'validated' AND object = 'present'
                         AND time_losses IS NULL AND claimed_until < $1 ORDER BY id DESC LIMIT $4) AS newest) AS turns
             JOIN shards ON shards.id = turns.id JOIN jobs ON jobs.id = shards.job
             ORDER BY turn, shards.account * $5 % $6, shards.id DESC LIMIT $3"
        )
    };
}

repository!(
    /// The rulings, within a transaction.
    Rulings, rulings
);

impl Rulings<'_> {
    /// Adds a ruling on a game, with its certificate.
    pub async fn add(&mut self, now: Time, job: JobId, game: u64, certificate: &str) -> Result<RulingId, StoreError> {
        let query = "INSERT INTO rulings (job, game, certificate, at) VALUES ($1, $2, $3, $4) RETURNING id";
        let query = sqlx::query_scalar(query).bind(job).bind(game as i64).bind(certificate.to_owned());
        Ok(query.bind(now).fetch_one(self.0.raw()).await?)
    }

    /// Records the time of a claim by a referee of this engine.
    pub async fn record_claim(&mut self, bench_signature: i64, now: Time) -> Result<(), StoreError> {
        let query = "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name)
                     DO UPDATE SET value = excluded.value WHERE CAST(settings.value AS BIGINT) < $3";
        let query = sqlx::query(query).bind(format!("referee.{bench_signature}")).bind(now.0.to_string());
        query.bind(now.after(-RECORD_MS)).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Uploads of a job that were validated after this time wait for their check.
    pub async fn checks_since(&mut self, job: JobId, now: Time) -> Result<Time, StoreError> {
        let query = "SELECT value FROM jobs JOIN settings
                     ON settings.name = 'referee.' || CAST(jobs.bench_signature AS TEXT) WHERE jobs.id = $1";
        let claimed: Option<String> = sqlx::query_scalar(query).bind(job).fetch_optional(self.0.raw()).await?;
        let claimed = claimed.and_then(|time| time.parse().ok()).map(Time);
        Ok(audits::checks_since(now, claimed))
    }

    /// The certificate of a ruling.
    pub async fn certificate(&mut self, ruling: RulingId) -> Result<Option<String>, StoreError> {
        let query = sqlx::query_scalar("SELECT certificate FROM rulings WHERE id = $1").bind(ruling);
        Ok(query.fetch_optional(self.0.raw()).await?)
    }
}

impl Comparisons<'_> {
    /// Claims disputes over games of an engine until a time.
    pub async fn claim_disputes(
        &mut self,
        now: Time,
        bench_signature: i64,
        limit: i64,
        until: Time,
    ) -> Result<Vec<DisputedGame>, StoreError> {
        let query = self.0.skip_locked(
            "SELECT comparisons.id AS comparison, COALESCE(comparisons.game, comparisons.first) AS game,
                    l.hash AS one, r.hash AS other, jobs.header AS header
             FROM comparisons JOIN jobs ON jobs.id = comparisons.job JOIN shards AS l ON l.id = comparisons.left_shard
                              JOIN shards AS r ON r.id = comparisons.right_shard
             WHERE comparisons.state = 'different' AND comparisons.claimed_until < $1 AND jobs.bench_signature = $2
             AND l.object = 'present' AND r.object = 'present' ORDER BY comparisons.id LIMIT $3",
            "comparisons",
        );
        let query = sqlx::query_as(query).bind(now).bind(bench_signature).bind(limit);
        let rows: Vec<DisputedGame> = query.fetch_all(self.0.raw()).await?;
        for row in &rows {
            self.postpone(row.comparison, until).await?;
        }
        Ok(rows)
    }

    /// Leaves a comparison until a time.
    pub async fn postpone(&mut self, comparison: ComparisonId, until: Time) -> Result<(), StoreError> {
        let query = "UPDATE comparisons SET claimed_until = $2 WHERE id = $1";
        sqlx::query(query).bind(comparison).bind(until).execute(self.0.raw()).await?;
        Ok(())
    }
}

impl Shards<'_> {
    /// Claims unchecked shards of an engine until a time: those of matches, which decide gates,
    /// before those of self-play. The newest of each account come first, then the next ones. `draw`
    /// orders the accounts.
    pub async fn claim_unchecked(
        &mut self,
        now: Time,
        bench_signature: i64,
        limit: i64,
        until: Time,
        draw: u64,
    ) -> Result<Vec<ToValidate>, StoreError> {
        let factor = (draw % (ACCOUNT_ORDERS as u64 - 1)) as i64 + 1;
        let mut claimed: Vec<Claimed> = Vec::new();
        for query in [unchecked!("IS NOT NULL"), unchecked!("IS NULL")] {
            let query = self.0.skip_locked(query, "shards");
            let query = sqlx::query_as(query).bind(now).bind(bench_signature).bind(limit - claimed.len() as i64);
            let query = query.bind(MAX_UNCHECKED).bind(factor).bind(ACCOUNT_ORDERS);
            claimed.extend(query.fetch_all(self.0.raw()).await?);
        }
        self.claim_until(claimed, until).await
    }

    /// Leaves a shard until a time.
    pub async fn postpone(&mut self, shard: ShardId, until: Time) -> Result<(), StoreError> {
        let query = "UPDATE shards SET claimed_until = $2 WHERE id = $1";
        sqlx::query(query).bind(shard).bind(until).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Records that a referee played a game of a shard again; the game if its moves were the same.
    pub async fn mark_checked(&mut self, shard: ShardId, game: Option<i64>) -> Result<(), StoreError> {
        let query = "UPDATE shards SET checked = 1, checked_game = COALESCE($2, checked_game) WHERE id = $1";
        sqlx::query(query).bind(shard).bind(game).execute(self.0.raw()).await?;
        Ok(())
    }
}
