//! Campaigns and their trainings and nets.

use dataset::Digest;
use protocol::campaign::Campaign as Plan;

use super::{AccountId, CampaignId, CampaignState, CampaignStep, JobId, NetState, Reason, TrainingId, TrainingState};
use crate::clock::Time;

/// A campaign.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// Its id.
    pub id: CampaignId,
    /// The parsed text (TOML) that defines it.
    pub plan: Plan,
    /// Its state.
    pub state: CampaignState,
    /// The reason why it waits.
    pub reason: Option<Reason>,
    /// Its step within the generation.
    pub phase: CampaignStep,
    /// Begin of the step.
    pub phase_since: Time,
    /// The generation being played.
    pub generation: i64,
    /// The champion's net; the plain evaluation if none.
    pub champion: Option<Digest>,
    /// Number of rejected candidates of this generation.
    pub candidates: i64,
    /// Positions required before a candidate is trained.
    pub wanted_positions: i64,
    /// The generation's self-play job.
    pub selfplay: Option<JobId>,
    /// The candidate's training.
    pub training: Option<TrainingId>,
    /// The job of the candidate's gate.
    pub gate: Option<JobId>,
    /// Version of the row, for optimistic locking.
    pub changed: i64,
}

/// A campaign as a request names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CampaignKey {
    /// By its id.
    Id(CampaignId),
    /// By its name.
    Name(String),
}

impl From<CampaignId> for CampaignKey {
    fn from(id: CampaignId) -> Self {
        Self::Id(id)
    }
}

impl From<String> for CampaignKey {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

/// A training: a frozen training set and a recipe, leased to a trainer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Training {
    /// Its id.
    pub id: TrainingId,
    /// Its campaign.
    pub campaign: CampaignId,
    /// The generation that its net will have.
    pub generation: i64,
    /// Its state.
    pub state: TrainingState,
    /// The recipe (TOML).
    pub recipe: String,
    /// The training set (JSON).
    pub manifests: String,
    /// The champion to beat.
    pub champion: Option<String>,
    /// Hash of the token of its lease.
    pub token: Option<String>,
    /// The account of its trainer.
    pub account: Option<AccountId>,
    /// The name of its trainer.
    pub trainer: Option<String>,
    /// The time at which its lease expires.
    pub expires: Option<Time>,
    /// Number of attempts without progress beyond an earlier one.
    pub attempts: i64,
    /// The reported progress (JSON).
    pub progress: Option<String>,
    /// Hash of the uploaded net.
    pub candidate: Option<String>,
    /// Hash of the uploaded plot of losses.
    pub curves: Option<String>,
    /// The reason why it failed.
    pub reason: Option<Reason>,
    /// The furthest step of all attempts.
    pub furthest: i64,
    /// The step of this attempt.
    pub step: i64,
    /// The time of the last progress.
    pub moved: Time,
    /// The time of its completion.
    pub finished: Option<Time>,
}

/// A net to add.
#[derive(Clone, Debug)]
pub struct NewNet {
    /// SHA-256 of its file, which is stored as an object.
    pub hash: Digest,
    /// Its display name.
    pub name: String,
    /// `Base` (uploaded by a person) or `Candidate`.
    pub state: NetState,
    /// Size of its file.
    pub bytes: u64,
    /// Its architecture, as text for people.
    pub architecture: String,
    /// Its training manifest, if known.
    pub manifest: Option<String>,
    /// Its campaign and generation.
    pub campaign: Option<(CampaignId, i64)>,
    /// The champion it is to beat.
    pub parent: Option<String>,
}
