//! Jobs as campaigns and matches see them: created, opened and closed, limited, decided.

use dataset::{Digest, Header};
use protocol::campaign::Gate;
use sqlx::{FromRow, Row as _, any::AnyRow};

use super::{connection::Connection, error::StoreError, operation::Tx};
use crate::{
    clock::{SECOND, Time},
    gate::Verdict,
    model::{Campaign, CampaignId, CampaignState, JobId, JobKind, JobState},
};

/// Matches looked at by one operation.
const MAX_BATCH: i64 = 100;

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

/// A match.
#[derive(Clone, Debug)]
pub struct Match {
    /// Its job.
    pub job: JobId,
    /// Its kind.
    pub kind: JobKind,
    /// Its state.
    pub state: JobState,
    /// The header of its games.
    pub header: Header,
    /// The parameters of its test.
    pub gate: Gate,
    /// The number of its games.
    pub game_limit: Option<i64>,
    /// Its decision.
    pub decision: Option<Verdict>,
    /// The net under test.
    pub net: Option<String>,
    /// The state of its campaign, if it is of one.
    pub campaign: Option<CampaignState>,
}

impl FromRow<'_, AnyRow> for Match {
    fn from_row(row: &AnyRow) -> Result<Self, sqlx::Error> {
        let job: JobId = row.try_get("id")?;
        let text = |column| row.try_get::<Option<String>, _>(column);
        let none = || sqlx::Error::Protocol(format!("job {job}, which is no match"));
        let header = text("header")?.and_then(|text| serde_json::from_str(&text).ok()).ok_or_else(none)?;
        let gate = text("gate")?.and_then(|text| serde_json::from_str(&text).ok()).ok_or_else(none)?;
        Ok(Self {
            job,
            kind: row.try_get("kind")?,
            state: row.try_get("state")?,
            header,
            gate,
            game_limit: row.try_get("game_limit")?,
            decision: text("decision")?.and_then(|text| serde_json::from_str(&text).ok()),
            net: row.try_get("net")?,
            campaign: row.try_get("campaign_state")?,
        })
    }
}

/// The matches, within a transaction.
pub struct Matches<'t>(Connection<'t>);

impl Tx<'_> {
    /// The matches.
    pub fn matches(&mut self) -> Matches<'_> {
        Matches(self.connection())
    }
}

fn json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Corrupt(error.to_string()))
}

impl<'t> Matches<'t> {
    /// The matches, for a function that is no operation.
    #[must_use]
    pub const fn on(connection: Connection<'t>) -> Self {
        Self(connection)
    }

    /// The number of workers seen within an hour.
    pub async fn active_workers(&mut self, now: Time) -> Result<i64, StoreError> {
        let query = sqlx::query_scalar("SELECT COUNT(*) FROM workers WHERE last_seen > $1");
        Ok(query.bind(now.0 - 3_600 * SECOND).fetch_one(self.0.raw()).await?)
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

    /// The self-play jobs of a generation.
    pub async fn selfplay_of(&mut self, campaign: CampaignId, generation: i64) -> Result<Vec<JobId>, StoreError> {
        let query = "SELECT id FROM jobs WHERE campaign = $1 AND generation = $2 AND kind = 'selfplay' ORDER BY id";
        Ok(sqlx::query_scalar(query).bind(campaign).bind(generation).fetch_all(self.0.raw()).await?)
    }

    /// A match.
    pub async fn get(&mut self, job: JobId) -> Result<Match, StoreError> {
        let query =
            "SELECT jobs.id AS id, kind, jobs.state AS state, header, jobs.gate AS gate, game_limit, decision, net,
                            campaigns.state AS campaign_state
                     FROM jobs LEFT JOIN campaigns ON campaigns.id = jobs.campaign WHERE jobs.id = $1";
        Ok(sqlx::query_as(query).bind(job).fetch_one(self.0.raw()).await?)
    }

    /// Decided matches whose games have changed. The oldest recheck is first, so matches that wait
    /// for games do not delay the others.
    pub async fn to_recheck(&mut self) -> Result<Vec<JobId>, StoreError> {
        let query = "SELECT id FROM jobs WHERE recheck = 1 AND decision IS NOT NULL ORDER BY rechecked, id LIMIT $1";
        Ok(sqlx::query_scalar(query).bind(MAX_BATCH / 2).fetch_all(self.0.raw()).await?)
    }

    /// Open matches outside of campaigns that are not decided.
    pub async fn undecided(&mut self) -> Result<Vec<JobId>, StoreError> {
        let query = "SELECT id FROM jobs WHERE campaign IS NULL AND decision IS NULL AND state = 'open'
                     AND gate IS NOT NULL ORDER BY id LIMIT $1";
        Ok(sqlx::query_scalar(query).bind(MAX_BATCH).fetch_all(self.0.raw()).await?)
    }

    /// Stores the verdict of a match; none takes it back.
    pub async fn decide(&mut self, job: JobId, verdict: Option<&Verdict>) -> Result<(), StoreError> {
        let query = sqlx::query("UPDATE jobs SET decision = $2 WHERE id = $1").bind(job);
        query.bind(verdict.map(json).transpose()?).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Stores a recheck, and whether another one is due.
    pub async fn save_recheck(&mut self, now: Time, job: JobId, is_due: bool) -> Result<(), StoreError> {
        let query = sqlx::query("UPDATE jobs SET recheck = $2, rechecked = $3 WHERE id = $1").bind(job);
        query.bind(i64::from(is_due)).bind(now.0).execute(self.0.raw()).await?;
        Ok(())
    }

    /// The open comparisons of a match's games below a number.
    pub async fn open_comparisons(&mut self, job: JobId, below: i64) -> Result<i64, StoreError> {
        let query =
            "SELECT COUNT(*) FROM comparisons WHERE job = $1 AND state IN ('waiting', 'different') AND first < $2";
        Ok(sqlx::query_scalar(query).bind(job).bind(below).fetch_one(self.0.raw()).await?)
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

    /// The rating jobs between two players, each with whether `one` is its first player.
    pub async fn ratings_between(
        &mut self,
        one: Option<Digest>,
        other: Option<Digest>,
    ) -> Result<Vec<(JobId, bool)>, StoreError> {
        let query = "SELECT id, COALESCE(net, '') AS first FROM jobs WHERE kind = 'rating'
                     AND ((COALESCE(net, '') = $1 AND COALESCE(opponent, '') = $2)
                          OR (COALESCE(net, '') = $2 AND COALESCE(opponent, '') = $1)) ORDER BY id";
        let text = |player: Option<Digest>| player.map(|net| net.to_string()).unwrap_or_default();
        let query = sqlx::query(query).bind(text(one)).bind(text(other));
        let rows = query.fetch_all(self.0.raw()).await?;
        rows.iter().map(|row| Ok((row.try_get("id")?, row.try_get::<String, _>("first")? == text(one)))).collect()
    }
}
