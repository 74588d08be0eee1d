//! Matches, in the table of jobs.

use dataset::{Digest, Header};
use protocol::campaign::Gate;
use sqlx::{FromRow, Row as _, any::AnyRow};

use super::{
    error::StoreError,
    jobs::{Jobs, json},
};
use crate::{
    clock::Time,
    gate::Decided,
    model::{CampaignState, JobId, JobKind, JobState},
};

/// Matches looked at by one operation.
const MAX_BATCH: i64 = 100;

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
    pub decision: Option<Decided>,
    /// The net under test.
    pub net: Option<String>,
    /// The state of its campaign, if it is of one.
    pub campaign: Option<CampaignState>,
    /// How often counted games were withdrawn.
    pub withdrawals: i64,
    /// How often its games changed since its decision was rechecked.
    pub recheck: i64,
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
            withdrawals: row.try_get("withdrawals")?,
            recheck: row.try_get("recheck")?,
        })
    }
}

impl Jobs<'_> {
    /// A match. A job without a gate is none.
    pub async fn get_match(&mut self, job: JobId) -> Result<Match, StoreError> {
        let query =
            "SELECT jobs.id AS id, kind, jobs.state AS state, header, jobs.gate AS gate, game_limit, decision, net,
                            campaigns.state AS campaign_state, withdrawals, recheck
                     FROM jobs LEFT JOIN campaigns ON campaigns.id = jobs.campaign
                     WHERE jobs.id = $1 AND jobs.gate IS NOT NULL";
        Ok(sqlx::query_as(query).bind(job).fetch_one(self.0.raw()).await?)
    }

    /// Decided matches whose games have changed. The oldest recheck is first, so matches that wait
    /// for games do not delay the others.
    pub async fn to_recheck(&mut self) -> Result<Vec<JobId>, StoreError> {
        let query = "SELECT id FROM jobs WHERE recheck > 0 AND decision IS NOT NULL ORDER BY rechecked, id LIMIT $1";
        Ok(sqlx::query_scalar(query).bind(MAX_BATCH / 2).fetch_all(self.0.raw()).await?)
    }

    /// Open matches outside of campaigns that are not decided.
    pub async fn undecided(&mut self) -> Result<Vec<JobId>, StoreError> {
        let query = "SELECT id FROM jobs WHERE campaign IS NULL AND decision IS NULL AND state = 'open'
                     AND gate IS NOT NULL ORDER BY id LIMIT $1";
        Ok(sqlx::query_scalar(query).bind(MAX_BATCH).fetch_all(self.0.raw()).await?)
    }

    /// Stores the verdict of a match; none takes it back.
    pub async fn decide(&mut self, job: JobId, verdict: Option<&Decided>) -> Result<(), StoreError> {
        let query = sqlx::query("UPDATE jobs SET decision = $2 WHERE id = $1").bind(job);
        query.bind(verdict.map(json).transpose()?).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Stores whether the gate that rejected a net now proves it; whether that is new.
    pub async fn set_reversed(&mut self, job: JobId, is_reversed: bool) -> Result<bool, StoreError> {
        let query = sqlx::query("UPDATE jobs SET reversed = $2 WHERE id = $1 AND reversed <> $2").bind(job);
        Ok(query.bind(i64::from(is_reversed)).execute(self.0.raw()).await?.rows_affected() == 1)
    }

    /// Stores a recheck, and whether another one is due.
    pub async fn save_recheck(&mut self, now: Time, job: JobId, is_due: bool) -> Result<(), StoreError> {
        let query = sqlx::query("UPDATE jobs SET recheck = $2, rechecked = $3 WHERE id = $1").bind(job);
        query.bind(i64::from(is_due)).bind(now.0).execute(self.0.raw()).await?;
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
