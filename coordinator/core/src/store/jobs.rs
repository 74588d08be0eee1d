//! The table of jobs.

use super::{
    connection::Connection,
    convert::{header, row},
    error::StoreError,
    operation::Tx,
};
use crate::{
    clock::Time,
    model::{AccountId, Job, JobId, JobState, OpenJob},
};

const BY_ID: &str = "SELECT id, state, header, game_limit, frontier, nodes_per_game FROM jobs WHERE id = $1";

/// Jobs looked at for one lease.
const MAX_CHOICE: i64 = 100;

row!(Job { id, state, header: header, game_limit, frontier, nodes_per_game });
row!(OpenJob { id, kind, created, spread });

/// The jobs, within a transaction.
pub struct Jobs<'t>(Connection<'t>);

impl Tx<'_> {
    /// The jobs.
    pub fn jobs(&mut self) -> Jobs<'_> {
        Jobs(self.connection())
    }
}

impl<'t> Jobs<'t> {
    /// The jobs, for a function that is no operation yet.
    #[must_use]
    pub const fn on(connection: Connection<'t>) -> Self {
        Self(connection)
    }

    /// A job, locked until the transaction ends.
    pub async fn lock(&mut self, job: JobId) -> Result<Job, StoreError> {
        let query = self.0.for_update(BY_ID);
        Ok(sqlx::query_as(query).bind(job).fetch_one(self.0.raw()).await?)
    }

    /// A job, if there is one.
    pub async fn find(&mut self, job: JobId) -> Result<Option<Job>, StoreError> {
        Ok(sqlx::query_as(BY_ID).bind(job).fetch_optional(self.0.raw()).await?)
    }

    /// Locks the jobs in which an account has leases, or shards other than rejected ones.
    pub async fn lock_all_of(&mut self, account: AccountId) -> Result<(), StoreError> {
        let query = self.0.for_update(
            "SELECT id FROM jobs WHERE id IN
             (SELECT job FROM shards WHERE account = $1 AND state <> 'rejected'
              UNION SELECT job FROM leases WHERE account = $1 AND state = 'active') ORDER BY id",
        );
        sqlx::query(query).bind(account).fetch_all(self.0.raw()).await?;
        Ok(())
    }

    /// The jobs that a worker may play, the most urgent first.
    pub async fn open(&mut self, bench_signature: i64, is_trusted: bool) -> Result<Vec<OpenJob>, StoreError> {
        let query = "SELECT id, kind, created, spread FROM jobs
                     WHERE state = 'open' AND bench_signature = $1 AND (kind <> 'timed' OR $2 = 1)
                     ORDER BY priority DESC,
                              CASE kind WHEN 'match' THEN 0 WHEN 'rating' THEN 1 WHEN 'timed' THEN 1 ELSE 2 END,
                              last_leased, id
                     LIMIT $3";
        let query = sqlx::query_as(query).bind(bench_signature).bind(i64::from(is_trusted)).bind(MAX_CHOICE);
        Ok(query.fetch_all(self.0.raw()).await?)
    }

    /// Whether there are open jobs for another engine.
    pub async fn any_open_for_others(&mut self, bench_signature: i64) -> Result<bool, StoreError> {
        let query = "SELECT COUNT(*) FROM jobs WHERE state = $2 AND bench_signature <> $1";
        let query = sqlx::query_scalar(query).bind(bench_signature).bind(JobState::Open);
        Ok(query.fetch_one(self.0.raw()).await.map(|others: i64| others > 0)?)
    }

    /// Records a grant of fresh games, which may move the frontier.
    pub async fn record_grant(&mut self, job: JobId, now: Time, frontier: i64) -> Result<(), StoreError> {
        let query = "UPDATE jobs SET last_leased = $2, frontier = $3 WHERE id = $1";
        sqlx::query(query).bind(job).bind(now).bind(frontier).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Stores the estimated cost of a game.
    pub async fn save_cost(&mut self, job: JobId, nodes_per_game: i64) -> Result<(), StoreError> {
        let query = "UPDATE jobs SET nodes_per_game = $2 WHERE id = $1";
        sqlx::query(query).bind(job).bind(nodes_per_game).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Marks a job's decision as outdated: its games have changed.
    pub async fn mark_for_recheck(&mut self, job: JobId) -> Result<(), StoreError> {
        sqlx::query("UPDATE jobs SET recheck = 1 WHERE id = $1").bind(job).execute(self.0.raw()).await?;
        Ok(())
    }
}
