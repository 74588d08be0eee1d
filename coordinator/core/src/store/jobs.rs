//! The table of jobs.

use std::ops::RangeInclusive;

use dataset::Header;
use protocol::campaign::Gate;
use sqlx::Row as _;

use super::{
    convert::{header, row},
    error::StoreError,
    operation::repository,
};
use crate::{
    clock::Time,
    model::{
        AccountId, Campaign, CampaignId, ChangedJob, HeldGames, Job, JobCounts, JobId, JobKind, JobState, OpenJob,
    },
};

const BY_ID: &str =
    "SELECT id, kind, state, header, gate, game_limit, frontier, nodes_per_game FROM jobs WHERE id = $1";

/// Jobs looked at for one lease.
const MAX_CHOICE: i64 = 100;

row!(Job { id, kind, state, header: header, gate, game_limit, frontier, nodes_per_game });
row!(OpenJob { id, kind, created, spread });
row!(JobCounts { id, games, positions, pending, withdrawals });

/// A job to add.
pub struct NewJob<'a> {
    /// Its campaign, if it is of one.
    pub campaign: Option<&'a Campaign>,
    /// Its kind.
    pub kind: JobKind,
    /// The header of its games.
    pub header: &'a Header,
    /// The parameters of a match's test.
    pub gate: Option<&'a Gate>,
    /// The number of its games.
    pub game_limit: Option<i64>,
    /// The assumed cost of a game.
    pub nodes_per_game: i64,
    /// Milliseconds over which workers start.
    pub spread: i64,
}

repository!(
    /// The jobs, within a transaction.
    Jobs, jobs
);

pub(super) fn json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Corrupt(error.to_string()))
}

impl Jobs<'_> {
    /// A job, locked until the transaction ends.
    pub async fn lock(&mut self, job: JobId) -> Result<Job, StoreError> {
        let query = self.0.for_update(BY_ID);
        Ok(sqlx::query_as(query).bind(job).fetch_one(self.0.raw()).await?)
    }

    /// A job, if there is one.
    pub async fn find(&mut self, job: JobId) -> Result<Option<Job>, StoreError> {
        Ok(sqlx::query_as(BY_ID).bind(job).fetch_optional(self.0.raw()).await?)
    }

    /// Locks the jobs in which an account has active leases.
    pub async fn lock_leased_by(&mut self, account: AccountId) -> Result<(), StoreError> {
        let query = self.0.for_update(
            "SELECT id FROM jobs WHERE id IN (SELECT job FROM leases WHERE account = $1 AND state = 'active')
             ORDER BY id",
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

    /// The open sequential tests, each with its counted games.
    pub async fn counted_in_tests(&mut self) -> Result<Vec<(JobId, i64)>, StoreError> {
        let query = "SELECT id, counted_games FROM jobs WHERE state = 'open' AND kind = 'match'";
        Ok(sqlx::query_as(query).fetch_all(self.0.raw()).await?)
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

    /// The estimated cost of a game.
    pub async fn cost(&mut self, job: JobId) -> Result<i64, StoreError> {
        let query = sqlx::query_scalar("SELECT nodes_per_game FROM jobs WHERE id = $1").bind(job);
        Ok(query.fetch_one(self.0.raw()).await?)
    }

    /// Stores the estimated cost of a game.
    pub async fn save_cost(&mut self, job: JobId, nodes_per_game: i64) -> Result<(), StoreError> {
        let query = "UPDATE jobs SET nodes_per_game = $2 WHERE id = $1";
        sqlx::query(query).bind(job).bind(nodes_per_game).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Marks a job's decision as outdated: its games have changed.
    pub async fn mark_for_recheck(&mut self, job: JobId) -> Result<(), StoreError> {
        sqlx::query("UPDATE jobs SET recheck = recheck + 1 WHERE id = $1").bind(job).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Ends the recheck of a job, unless its games have changed again.
    pub async fn end_recheck(&mut self, changed: &ChangedJob) -> Result<(), StoreError> {
        let query = sqlx::query("UPDATE jobs SET recheck = 0 WHERE id = $1 AND recheck = $2").bind(changed.job);
        query.bind(changed.recheck).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Adds an open job.
    pub async fn add(&mut self, now: Time, job: NewJob<'_>) -> Result<JobId, StoreError> {
        let query = "INSERT INTO jobs (campaign, generation, kind, state, header, bench_signature, net, opponent, gate,
                                       priority, game_limit, nodes_per_game, spread, created)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) RETURNING id";
        let NewJob { campaign, kind, header, gate, game_limit, nodes_per_game, spread } = job;
        let opponent = header.opponent.as_ref().and_then(|opponent| opponent.net);
        let query =
            sqlx::query_scalar(query).bind(campaign.map(|it| it.id)).bind(campaign.map_or(0, |it| it.generation));
        let query = query.bind(kind).bind(JobState::Open).bind(json(header)?).bind(header.bench_signature as i64);
        let query = query.bind(header.net.map(|net| net.to_string())).bind(opponent.map(|net| net.to_string()));
        let query = query.bind(gate.map(json).transpose()?);
        let query = query.bind(campaign.map_or(50, |it| i64::from(it.plan.priority))).bind(game_limit);
        Ok(query.bind(nodes_per_game).bind(spread).bind(now.0).fetch_one(self.0.raw()).await?)
    }

    /// Sets the state of a job, with the time at which it is closed.
    pub async fn set_state(&mut self, now: Time, job: JobId, state: JobState) -> Result<(), StoreError> {
        let query = "UPDATE jobs SET state = $2, closed = CASE WHEN $2 = 'closed' THEN $3 ELSE NULL END
                     WHERE id = $1 AND state <> $2";
        sqlx::query(query).bind(job).bind(state).bind(now.0).execute(self.0.raw()).await?;
        Ok(())
    }

    /// The state of a job and its bench signature.
    pub async fn state(&mut self, job: JobId) -> Result<(JobState, u64), StoreError> {
        let row = sqlx::query("SELECT state, bench_signature FROM jobs WHERE id = $1").bind(job);
        let row = row.fetch_one(self.0.raw()).await?;
        Ok((row.try_get("state")?, row.try_get::<i64, _>("bench_signature")? as u64))
    }

    /// Adds games to those that shards with a verdict hold. Fewer counted games are a withdrawal.
    pub async fn count_held(&mut self, job: JobId, held: HeldGames) -> Result<(), StoreError> {
        if held == HeldGames::default() {
            return Ok(());
        }
        let query = "UPDATE jobs SET settled_games = settled_games + $2, counted_games = counted_games + $3,
                     counted_positions = counted_positions + $4, withdrawals = withdrawals + $5 WHERE id = $1";
        let query = sqlx::query(query).bind(job).bind(held.settled).bind(held.counted).bind(held.positions);
        query.bind(i64::from(held.counted < 0)).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Counts a loss of proof as a withdrawal: a counted game is not verified any more.
    pub async fn count_loss(&mut self, job: JobId) -> Result<(), StoreError> {
        sqlx::query("UPDATE jobs SET withdrawals = withdrawals + 1 WHERE id = $1")
            .bind(job)
            .execute(self.0.raw())
            .await?;
        Ok(())
    }

    /// How often counted games of a job were withdrawn, or lost their proof.
    pub async fn withdrawals(&mut self, job: JobId) -> Result<i64, StoreError> {
        let query = sqlx::query_scalar("SELECT withdrawals FROM jobs WHERE id = $1").bind(job);
        Ok(query.fetch_one(self.0.raw()).await?)
    }

    /// The number from which on no game of a job was leased.
    pub async fn frontier(&mut self, job: JobId) -> Result<i64, StoreError> {
        let query = sqlx::query_scalar("SELECT frontier FROM jobs WHERE id = $1").bind(job);
        Ok(query.fetch_one(self.0.raw()).await?)
    }

    /// Limits the games of a job.
    pub async fn limit(&mut self, job: JobId, limit: i64) -> Result<(), StoreError> {
        let query = "UPDATE jobs SET game_limit = $2 WHERE id = $1 AND (game_limit IS NULL OR game_limit <> $2)";
        sqlx::query(query).bind(job).bind(limit).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Sets the priority of a campaign's jobs.
    pub async fn prioritize(&mut self, campaign: CampaignId, priority: i64) -> Result<(), StoreError> {
        let query = "UPDATE jobs SET priority = $2 WHERE campaign = $1 AND state <> 'closed'";
        sqlx::query(query).bind(campaign).bind(priority).execute(self.0.raw()).await?;
        Ok(())
    }

    /// The counts of the self-play jobs of these generations, in order.
    pub async fn selfplay_of(
        &mut self,
        campaign: CampaignId,
        generations: RangeInclusive<i64>,
    ) -> Result<Vec<JobCounts>, StoreError> {
        let query = "SELECT id, counted_games AS games, counted_positions AS positions,
                            frontier - settled_games AS pending, withdrawals
                     FROM jobs WHERE campaign = $1 AND generation >= $2 AND generation <= $3 AND kind = 'selfplay'
                     ORDER BY generation, id";
        let query = sqlx::query_as(query).bind(campaign).bind(*generations.start()).bind(*generations.end());
        Ok(query.fetch_all(self.0.raw()).await?)
    }
}
