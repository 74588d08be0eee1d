//! A campaign: its progress and the results of its generations.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::overview::{self, Point};
use crate::{
    matches::{self, Standing},
    model::{CampaignKey, Playing, Reason},
    store::{Campaigns, Connection, Leases, StoreError, counting},
};

/// Generations shown, the newest.
const MAX_GENERATIONS: i64 = 40;

/// A campaign's progress and the results of its generations.
#[derive(Clone, Debug, Serialize)]
pub struct Progress {
    /// Name of the campaign.
    pub name: String,
    /// One line about it, from the campaign's text.
    pub about: String,
    /// State: running, paused, stuck, stopped, complete.
    pub state: String,
    /// The reason of waiting for a person.
    #[serde(serialize_with = "Reason::as_text")]
    pub reason: Option<Reason>,
    /// Phase: collecting, training, gating.
    pub phase: String,
    /// Begin of the phase, in milliseconds since 1970.
    pub phase_since: i64,
    /// Number of the current generation.
    pub generation: i64,
    /// SHA-256 of the champion; none for the plain evaluation.
    pub champion: Option<String>,
    /// The champion's name, for people.
    pub champion_name: Option<String>,
    /// Number of rejected candidates of this generation.
    pub candidates: i64,
    /// Positions needed for a candidate's training.
    pub wanted_positions: i64,
    /// Positions collected for the next training.
    pub positions: i64,
    /// Number of games collected.
    pub games: i64,
    /// Self-play games being played.
    pub playing: Playing,
    /// The training of the candidate, while there is one.
    pub training: Option<Training>,
    /// The candidate's match against the champion, while there is one.
    pub gate: Option<Gate>,
    /// Begin of the campaign, in milliseconds since 1970.
    pub created: i64,
    /// Revision, for `If-Match` (optimistic concurrency).
    pub changed: i64,
    /// The text (TOML) that defines the campaign.
    pub text: String,
    /// Its generations, the newest first.
    pub generations: Vec<Generation>,
    /// The promotions with their strength, in order.
    pub strength: Vec<Point>,
}

/// The training of a generation's candidate.
#[derive(Clone, Debug, Serialize)]
pub struct Training {
    /// The training's id.
    pub training: i64,
    /// State: open, leased, done, failed.
    pub state: String,
    /// Name of the trainer that holds or held the lease.
    pub trainer: Option<String>,
    /// The trainer's last progress report.
    pub progress: Option<Value>,
}

/// A running gate.
#[derive(Clone, Debug, Serialize)]
pub struct Gate {
    /// Id of the match's job.
    pub job: i64,
    /// Results so far, and the verdict of the SPRT on them.
    pub standing: Standing,
    /// Games being played.
    pub playing: Playing,
}

/// A generation: its games, and the time that its phases took.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Generation {
    /// Number in the campaign.
    pub generation: i64,
    /// Id of the generation's first self-play job.
    pub job: Option<i64>,
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

/// Reads a campaign's progress and the results of its generations.
///
/// # Errors
///
/// If the campaign does not exist.
pub async fn progress(connection: &mut Connection<'_>, key: &CampaignKey) -> Result<Progress, StoreError> {
    let row = Campaigns::on(connection.reborrow()).get(key).await?;
    let id = row.id.0;
    let query = sqlx::query_scalar("SELECT created FROM campaigns WHERE id = $1").bind(id);
    let created = query.fetch_one(connection.raw()).await?;
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
    let playing = match row.selfplay {
        Some(job) => Leases::on(connection.reborrow()).playing(Some(job)).await?,
        None => Playing::default(),
    };
    let gate = match row.gate {
        Some(job) => Some(Gate {
            job: job.0,
            standing: matches::standing(connection, job.0).await?,
            playing: Leases::on(connection.reborrow()).playing(Some(job)).await?,
        }),
        None => None,
    };
    let training = match row.training {
        Some(training) => {
            let query = "SELECT state, trainer, progress FROM trainings WHERE id = $1";
            let query = sqlx::query_as(query).bind(training);
            let found: Option<(String, Option<String>, Option<String>)> =
                query.fetch_optional(connection.raw()).await?;
            found.map(|(state, trainer, progress)| Training {
                training: training.0,
                state,
                trainer,
                progress: progress.and_then(|text| serde_json::from_str(&text).ok()),
            })
        }
        None => None,
    };
    Ok(Progress {
        name: row.plan.name.clone(),
        about: row.plan.about.clone(),
        state: row.state.to_string(),
        reason: row.reason,
        phase: row.phase.to_string(),
        phase_since: row.phase_since.0,
        generation: row.generation,
        champion,
        champion_name,
        candidates: row.candidates,
        wanted_positions: row.wanted_positions,
        positions: tally.positions,
        games: tally.games,
        playing,
        training,
        gate,
        created,
        changed: row.changed,
        text: row.plan.to_text(),
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
