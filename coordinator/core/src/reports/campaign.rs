//! A campaign: its progress and the results of its generations.

use serde::Serialize;
use serde_json::Value;

pub use crate::store::reports::campaign::Generation;
use crate::{
    matches::{self, Standing},
    model::{CampaignKey, CampaignState, CampaignStep, JobId, Playing, Reason, TrainingId, TrainingState},
    store::{
        Campaigns, Connection, Leases, Nets, StoreError, Trainings, counting,
        reports::{
            campaign as rows,
            overview::{self, Point},
        },
    },
};

/// A campaign's progress and the results of its generations.
#[derive(Clone, Debug, Serialize)]
pub struct Progress {
    /// Name of the campaign.
    pub name: String,
    /// One line about it, from the campaign's text.
    pub about: String,
    /// State: running, paused, stuck, stopped, complete.
    pub state: CampaignState,
    /// The reason of waiting for a person.
    #[serde(serialize_with = "Reason::as_text")]
    pub reason: Option<Reason>,
    /// Phase: collecting, training, gating.
    pub phase: CampaignStep,
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
    /// Positions of this generation, of all its self-play jobs.
    pub positions: i64,
    /// Number of its self-play games that count.
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
    pub training: TrainingId,
    /// State: open, leased, done, failed.
    pub state: TrainingState,
    /// Name of the trainer that holds or held the lease.
    pub trainer: Option<String>,
    /// The trainer's last progress report.
    pub progress: Option<Value>,
}

/// A running gate.
#[derive(Clone, Debug, Serialize)]
pub struct Gate {
    /// Id of the match's job.
    pub job: JobId,
    /// Results so far, and the verdict of the SPRT on them.
    pub standing: Standing,
    /// Games being played.
    pub playing: Playing,
}

/// Reads a campaign's progress and the results of its generations.
///
/// # Errors
///
/// If the campaign does not exist.
pub async fn progress(connection: &mut Connection<'_>, key: &CampaignKey) -> Result<Progress, StoreError> {
    let row = Campaigns::on(connection.reborrow()).get(key).await?;
    let champion_name = match row.champion {
        Some(net) => Nets::on(connection.reborrow()).find_name(&net.to_string()).await?,
        None => None,
    };
    let tally = counting::tally_of_generation(connection, row.id, row.generation).await?;
    let playing = match row.selfplay {
        Some(job) => Leases::on(connection.reborrow()).playing(Some(job)).await?,
        None => Playing::default(),
    };
    let gate = match row.gate {
        Some(job) => Some(Gate {
            job,
            standing: matches::standing(connection, job).await?,
            playing: Leases::on(connection.reborrow()).playing(Some(job)).await?,
        }),
        None => None,
    };
    let training = match row.training {
        Some(training) => {
            let found = Trainings::on(connection.reborrow()).get(training).await?;
            let progress = found.progress.and_then(|text| serde_json::from_str(&text).ok());
            Some(Training { training, state: found.state, trainer: found.trainer, progress })
        }
        None => None,
    };
    Ok(Progress {
        name: row.plan.name.clone(),
        about: row.plan.about.clone(),
        state: row.state,
        reason: row.reason,
        phase: row.phase,
        phase_since: row.phase_since.0,
        generation: row.generation,
        champion: row.champion.map(|net| net.to_string()),
        champion_name,
        candidates: row.candidates,
        wanted_positions: row.wanted_positions,
        positions: tally.positions,
        games: tally.games,
        playing,
        training,
        gate,
        created: rows::created(connection, row.id).await?.0,
        changed: row.changed,
        text: row.plan.to_text(),
        generations: rows::generations(connection, row.id, row.generation).await?,
        strength: overview::strength(connection, row.id).await?,
    })
}
