//! A campaign: its progress and the results of its generations.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::overview::{self, Point};
use crate::{
    campaigns::{self, matches, matches::Standing},
    store::{Connection, StoreError},
    work::counting,
};

/// Generations shown, the newest.
const MAX_GENERATIONS: i64 = 40;

/// A campaign's progress and the results of its generations.
#[derive(Clone, Debug, Serialize)]
pub struct Progress {
    /// Its name.
    pub name: String,
    /// One line about it.
    pub about: String,
    /// State: running, paused, stuck, stopped, complete.
    pub state: String,
    /// The reason of waiting for a person.
    pub reason: Option<String>,
    /// Phase: collecting, training, gating.
    pub phase: String,
    /// Begin of the phase.
    pub phase_since: i64,
    /// The current generation.
    pub generation: i64,
    /// The net of the current games.
    pub champion: Option<String>,
    /// The champion's name.
    pub champion_name: Option<String>,
    /// Number of rejected candidates of this generation.
    pub candidates: i64,
    /// Positions needed for a candidate's training.
    pub wanted_positions: i64,
    /// Positions collected.
    pub positions: i64,
    /// Games collected.
    pub games: i64,
    /// The training of the candidate.
    pub training: Option<Training>,
    /// The gate's match.
    pub gate: Option<Gate>,
    /// Begin of the campaign.
    pub created: i64,
    /// Revision, for `If-Match` (optimistic concurrency).
    pub changed: i64,
    /// Its text.
    pub text: String,
    /// Its generations, the newest first.
    pub generations: Vec<Generation>,
    /// Its promotions.
    pub strength: Vec<Point>,
}

/// A training.
#[derive(Clone, Debug, Serialize)]
pub struct Training {
    /// Its number.
    pub training: i64,
    /// State: open, leased, done, failed.
    pub state: String,
    /// The trainer.
    pub trainer: Option<String>,
    /// The trainer's last progress report.
    pub progress: Option<Value>,
}

/// A match of the gate.
#[derive(Clone, Debug, Serialize)]
pub struct Gate {
    /// The job.
    pub job: i64,
    /// The standing.
    pub standing: Standing,
}

/// A generation.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Generation {
    /// Its number.
    pub generation: i64,
    /// The self-play job.
    pub job: Option<i64>,
    /// Validated games, with those later replaced by audits.
    pub games: i64,
    /// Their positions.
    pub positions: i64,
    /// Games by outcome.
    pub outcomes: BTreeMap<String, i64>,
    /// Games by reason of their end.
    pub reasons: BTreeMap<String, i64>,
    /// Time from the first game to the first training, in milliseconds.
    pub collecting: Option<i64>,
    /// Time of its trainings.
    pub training: Option<i64>,
    /// Time of its matches.
    pub gating: Option<i64>,
}

/// Reads a campaign's progress and the results of its generations.
///
/// # Errors
///
/// If the campaign does not exist.
pub async fn progress(connection: &mut Connection<'_>, id: i64) -> Result<Progress, StoreError> {
    let row = campaigns::read(connection, id).await?;
    let query = "SELECT created, phase_since, text FROM campaigns WHERE id = $1";
    let (created, phase_since, text): (i64, i64, String) =
        sqlx::query_as(query).bind(id).fetch_one(connection.raw()).await?;
    let champion = row.champion.map(|net| net.to_string());
    let champion_name = match &champion {
        Some(net) => {
            let query = sqlx::query_scalar("SELECT name FROM nets WHERE hash = $1").bind(net.clone());
            query.fetch_optional(connection.raw()).await?
        }
        None => None,
    };
    let tally = match row.selfplay {
        Some(job) => counting::tally(connection, job).await?,
        None => counting::Tally::default(),
    };
    let gate = match row.gate {
        Some(job) => Some(Gate { job, standing: matches::standing(connection, job).await? }),
        None => None,
    };
    let training = match row.training {
        Some(training) => {
            let query = "SELECT state, trainer, progress FROM trainings WHERE id = $1";
            let query = sqlx::query_as(query).bind(training);
            let found: Option<(String, Option<String>, Option<String>)> =
                query.fetch_optional(connection.raw()).await?;
            found.map(|(state, trainer, progress)| Training {
                training,
                state,
                trainer,
                progress: progress.and_then(|text| serde_json::from_str(&text).ok()),
            })
        }
        None => None,
    };
    Ok(Progress {
        name: row.campaign.name.clone(),
        about: row.campaign.about.clone(),
        state: row.state,
        reason: row.reason,
        phase: row.phase,
        phase_since,
        generation: row.generation,
        champion,
        champion_name,
        candidates: row.candidates,
        wanted_positions: row.wanted_positions,
        positions: tally.positions,
        games: tally.games,
        training,
        gate,
        created,
        changed: row.changed,
        text,
        generations: generations(connection, id, row.generation).await?,
        strength: overview::strength(connection, id).await?,
    })
}

async fn generations(connection: &mut Connection<'_>, id: i64, last: i64) -> Result<Vec<Generation>, StoreError> {
    let first = (last + 1 - MAX_GENERATIONS).max(0);
    let mut all: BTreeMap<i64, Generation> = BTreeMap::new();
    let query = "SELECT id, generation, kind, created, closed FROM jobs WHERE campaign = $1 AND generation >= $2
                 ORDER BY id";
    type Job = (i64, i64, String, i64, Option<i64>);
    let jobs: Vec<Job> = sqlx::query_as(query).bind(id).bind(first).fetch_all(connection.raw()).await?;
    let query =
        "SELECT generation, created, finished FROM trainings WHERE campaign = $1 AND generation >= $2 ORDER BY id";
    let query = sqlx::query_as(query).bind(id).bind(first);
    let trainings: Vec<(i64, i64, Option<i64>)> = query.fetch_all(connection.raw()).await?;
    let query = "SELECT jobs.generation, CAST(SUM(totals.games) AS BIGINT), CAST(SUM(totals.positions) AS BIGINT)
                 FROM totals JOIN jobs ON jobs.id = totals.job
                 WHERE jobs.campaign = $1 AND jobs.generation >= $2 AND jobs.kind = 'selfplay'
                 AND totals.state = 'validated' GROUP BY jobs.generation";
    let query = sqlx::query_as(query).bind(id).bind(first);
    let totals: Vec<(i64, i64, i64)> = query.fetch_all(connection.raw()).await?;
    let query = "SELECT jobs.generation, labels.kind, labels.label, CAST(SUM(labels.games) AS BIGINT)
                 FROM labels JOIN jobs ON jobs.id = labels.job
                 WHERE jobs.campaign = $1 AND jobs.generation >= $2 AND jobs.kind = 'selfplay'
                 GROUP BY jobs.generation, labels.kind, labels.label";
    let query = sqlx::query_as(query).bind(id).bind(first);
    let labels: Vec<(i64, String, String, i64)> = query.fetch_all(connection.raw()).await?;
    for (job, generation, kind, created, closed) in jobs {
        let of = all.entry(generation).or_default();
        of.generation = generation;
        if kind == "selfplay" {
            of.job = of.job.or(Some(job));
            let trained = trainings.iter().filter(|training| training.0 == generation).map(|training| training.1).min();
            of.collecting = of.collecting.or(trained.map(|trained| (trained - created).max(0)));
        } else if let Some(closed) = closed {
            of.gating = Some(of.gating.unwrap_or(0) + (closed - created).max(0));
        }
    }
    for (generation, created, finished) in trainings {
        if let (Some(of), Some(finished)) = (all.get_mut(&generation), finished) {
            of.training = Some(of.training.unwrap_or(0) + (finished - created).max(0));
        }
    }
    for (generation, games, positions) in totals {
        if let Some(of) = all.get_mut(&generation) {
            (of.games, of.positions) = (games, positions);
        }
    }
    for (generation, kind, label, games) in labels.into_iter().filter(|label| label.3 > 0) {
        if let Some(of) = all.get_mut(&generation) {
            let labels = if kind == "outcome" { &mut of.outcomes } else { &mut of.reasons };
            labels.insert(label, games);
        }
    }
    Ok(all.into_values().rev().collect())
}
