//! The generations of a campaign, and its current training.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    clock::Time,
    model::{CampaignId, JobId, JobKind},
    store::{Connection, StoreError, convert::row},
};

/// Generations shown, the newest.
const MAX_GENERATIONS: i64 = 40;

/// A generation: its games, and the time that its phases took.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Generation {
    /// Number in the campaign.
    pub generation: i64,
    /// Id of the generation's first self-play job.
    pub job: Option<JobId>,
    /// Validated games, with those later replaced by audits.
    pub games: i64,
    /// Number of their positions with a searched move.
    pub positions: i64,
    /// Number of games by outcome.
    pub outcomes: BTreeMap<String, i64>,
    /// Number of games by reason of their end.
    pub reasons: BTreeMap<String, i64>,
    /// Time from the first game to the first training, in milliseconds.
    pub collecting: Option<i64>,
    /// Duration of its finished trainings in total, in milliseconds.
    pub training: Option<i64>,
    /// Duration of its closed matches in total, in milliseconds.
    pub gating: Option<i64>,
}

struct JobRow {
    id: JobId,
    generation: i64,
    kind: JobKind,
    created: i64,
    closed: Option<i64>,
}

row!(JobRow { id, generation, kind, created, closed });

struct TrainingRow {
    generation: i64,
    created: i64,
    finished: Option<i64>,
}

row!(TrainingRow { generation, created, finished });

struct TotalRow {
    generation: i64,
    games: i64,
    positions: i64,
}

row!(TotalRow { generation, games, positions });

struct LabelRow {
    generation: i64,
    kind: String,
    label: String,
    games: i64,
}

row!(LabelRow { generation, kind, label, games });

/// The time of a campaign's creation.
pub async fn created(connection: &mut Connection<'_>, campaign: CampaignId) -> Result<Time, StoreError> {
    let query = sqlx::query_scalar("SELECT created FROM campaigns WHERE id = $1").bind(campaign);
    Ok(query.fetch_one(connection.raw()).await?)
}

/// The ids of the newest campaigns.
pub async fn newest(connection: &mut Connection<'_>) -> Result<Vec<CampaignId>, StoreError> {
    let query = "SELECT id FROM campaigns ORDER BY id DESC LIMIT 200";
    Ok(sqlx::query_scalar(query).fetch_all(connection.raw()).await?)
}

/// The number of a campaign's promotions.
pub async fn promotions(connection: &mut Connection<'_>, campaign: CampaignId) -> Result<i64, StoreError> {
    let query = "SELECT COUNT(*) FROM promotions WHERE campaign = $1 AND kind <> 'rollback'";
    Ok(sqlx::query_scalar(query).bind(campaign).fetch_one(connection.raw()).await?)
}

/// The generations of a campaign, the newest first.
pub async fn generations(
    connection: &mut Connection<'_>,
    campaign: CampaignId,
    last: i64,
) -> Result<Vec<Generation>, StoreError> {
    let first = (last + 1 - MAX_GENERATIONS).max(0);
    let mut all: BTreeMap<i64, Generation> = BTreeMap::new();
    let query = "SELECT id, generation, kind, created, closed FROM jobs WHERE campaign = $1 AND generation >= $2
                 ORDER BY id";
    let query = sqlx::query_as(query).bind(campaign).bind(first);
    let jobs: Vec<JobRow> = query.fetch_all(connection.raw()).await?;
    let query =
        "SELECT generation, created, finished FROM trainings WHERE campaign = $1 AND generation >= $2 ORDER BY id";
    let query = sqlx::query_as(query).bind(campaign).bind(first);
    let trainings: Vec<TrainingRow> = query.fetch_all(connection.raw()).await?;
    let query = "SELECT generation, CAST(SUM(counted_games) AS BIGINT) AS games,
                        CAST(SUM(counted_positions) AS BIGINT) AS positions
                 FROM jobs WHERE campaign = $1 AND generation >= $2 AND kind = 'selfplay' GROUP BY generation";
    let query = sqlx::query_as(query).bind(campaign).bind(first);
    let totals: Vec<TotalRow> = query.fetch_all(connection.raw()).await?;
    let query = "SELECT jobs.generation AS generation, labels.kind AS kind, labels.label AS label,
                        CAST(SUM(labels.games) AS BIGINT) AS games
                 FROM labels JOIN jobs ON jobs.id = labels.job
                 WHERE jobs.campaign = $1 AND jobs.generation >= $2 AND jobs.kind = 'selfplay'
                 GROUP BY jobs.generation, labels.kind, labels.label";
    let query = sqlx::query_as(query).bind(campaign).bind(first);
    let labels: Vec<LabelRow> = query.fetch_all(connection.raw()).await?;
    for JobRow { id, generation, kind, created, closed } in jobs {
        let of = all.entry(generation).or_default();
        of.generation = generation;
        if kind == JobKind::Selfplay {
            of.job = of.job.or(Some(id));
            let own = trainings.iter().filter(|training| training.generation == generation);
            let trained = own.map(|training| training.created).min();
            of.collecting = of.collecting.or(trained.map(|trained| (trained - created).max(0)));
        } else if let Some(closed) = closed {
            of.gating = Some(of.gating.unwrap_or(0) + (closed - created).max(0));
        }
    }
    for TrainingRow { generation, created, finished } in trainings {
        if let (Some(of), Some(finished)) = (all.get_mut(&generation), finished) {
            of.training = Some(of.training.unwrap_or(0) + (finished - created).max(0));
        }
    }
    for TotalRow { generation, games, positions } in totals {
        if let Some(of) = all.get_mut(&generation) {
            (of.games, of.positions) = (games, positions);
        }
    }
    for LabelRow { generation, kind, label, games } in labels.into_iter().filter(|row| row.games > 0) {
        if let Some(of) = all.get_mut(&generation) {
            let labels = if kind == "outcome" { &mut of.outcomes } else { &mut of.reasons };
            labels.insert(label, games);
        }
    }
    Ok(all.into_values().rev().collect())
}
