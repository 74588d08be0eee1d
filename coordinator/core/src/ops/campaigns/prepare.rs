//! Data of a campaign's step that take a while to read, and the manifest of its training set. They
//! are read and stored before the operation, which would hold up all writes meanwhile.

use stats::Decision;

use super::{freeze, missing_audits, steps};
use crate::{
    clock::Time,
    gate::Decided,
    model::{Campaign, CampaignKey, CampaignState, CampaignStep, JobId},
    query,
    rules::readiness::{MissingAudits, OpenGames},
    store::{Campaigns, Connection, Database, Jobs, Nets, StoreError, TrainingSet, counting},
};

/// Data of a campaign's next step.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    /// The training sets, if a training is due and there are games: the campaign's own, and those
    /// of the campaigns that it learns from.
    pub(super) training_sets: Vec<TrainingSet>,
    /// The names of these campaigns when the sets were read.
    pub(super) learns_from: Vec<String>,
    /// Whether the training waits for open games: then only its own set was read.
    is_held_up: bool,
    /// The standing of the gate, if there is one.
    pub(super) gate: Option<GateStanding>,
}

/// The standing of a gate. It holds as long as no counted game of it is withdrawn. The pairs are
/// judged in the order of their numbers, so later ones change no decision.
#[derive(Clone, Copy, Debug)]
pub(super) struct GateStanding {
    /// Its job.
    pub(super) job: JobId,
    /// How often counted games were withdrawn before it was read.
    pub(super) withdrawals: i64,
    /// The verdict.
    pub(super) decided: Decided,
    /// Whether all pairs are counted.
    pub(super) is_out: bool,
    /// The audits and checks that the verdict still needs.
    pub(super) missing: Option<MissingAudits>,
}

impl Prepared {
    /// Reads what the next step of a campaign needs.
    pub(super) async fn step(
        store: &Database,
        campaign: CampaignKey,
        draw: u64,
        now: Time,
    ) -> Result<Self, StoreError> {
        let prepared = prepare(store, campaign, draw, now, false).await?;
        prepared.store_manifests(store).await?;
        Ok(prepared)
    }

    /// Reads what an early training needs.
    pub(super) async fn training(store: &Database, campaign: CampaignKey, now: Time) -> Result<Self, StoreError> {
        let prepared = prepare(store, campaign, 0, now, true).await?;
        prepared.store_manifests(store).await?;
        Ok(prepared)
    }

    /// Counted games of the campaign's own set that are open.
    pub(super) fn open(&self) -> OpenGames {
        self.training_sets.first().map_or(OpenGames::default(), |own| own.open)
    }

    async fn store_manifests(&self, store: &Database) -> Result<(), StoreError> {
        if self.is_held_up {
            return Ok(());
        }
        for set in &self.training_sets {
            freeze::store_manifest(store, set).await?;
        }
        Ok(())
    }
}

async fn prepare(
    store: &Database,
    key: CampaignKey,
    draw: u64,
    now: Time,
    is_early: bool,
) -> Result<Prepared, StoreError> {
    let prepared = store.read(query!(|connection| {
        let campaign = Campaigns::on(connection.reborrow()).get(&key).await?;
        let mut prepared = Prepared::default();
        let counted = steps::count(connection.reborrow(), &campaign).await?.positions;
        let (is_running, wanted) = (campaign.state == CampaignState::Running, campaign.wanted_positions);
        if campaign.phase == CampaignStep::Collecting && (is_early || is_running && counted >= wanted) {
            let generations = campaign.window_start()..=campaign.generation;
            let own = Nets::on(connection.reborrow()).training_set(campaign.id, generations, now).await?;
            prepared.is_held_up =
                !is_early && own.as_ref().is_some_and(|own| own.open.hold_up_training(counted, wanted));
            prepared.training_sets.extend(own);
            if !prepared.is_held_up && !prepared.training_sets.is_empty() {
                prepared.training_sets.extend(sets_of_others(&mut connection, &campaign, now).await?);
            }
            prepared.learns_from = campaign.plan.learns_from;
        } else if campaign.phase == CampaignStep::Gating && is_running {
            prepared.gate = gate_standing(&mut connection, &campaign, draw, now).await?;
        }
        Ok(prepared)
    }));
    prepared.await
}

/// Reads the sets of the campaigns that one learns from. A set with too few results is left out,
/// since nothing says what its scores mean.
async fn sets_of_others(
    connection: &mut Connection<'_>,
    campaign: &Campaign,
    now: Time,
) -> Result<Vec<TrainingSet>, StoreError> {
    let mut sets = Vec::new();
    for name in &campaign.plan.learns_from {
        let other = Campaigns::on(connection.reborrow()).get(&name.clone().into()).await?;
        let set = Nets::on(connection.reborrow()).training_set(other.id, 0..=other.generation, now).await?;
        sets.extend(set.filter(|set| set.has_scale));
    }
    Ok(sets)
}

async fn gate_standing(
    connection: &mut Connection<'_>,
    campaign: &Campaign,
    draw: u64,
    now: Time,
) -> Result<Option<GateStanding>, StoreError> {
    let Some(job) = campaign.gate else { return Ok(None) };
    let plan = &campaign.plan.gate;
    let withdrawals = Jobs::on(connection.reborrow()).withdrawals(job).await?;
    let pairs = counting::pairs(connection, job).await?;
    let decided = steps::decided(campaign, &pairs)?;
    let is_out = pairs.len() as u64 >= u64::from(plan.most_pairs);
    let is_over = is_out || decided.verdict.decision != Decision::Continue;
    let missing = if is_over {
        missing_audits::read(connection, job, &decided.verdict, plan.audit_percent, draw, now).await?
    } else {
        None
    };
    Ok(Some(GateStanding { job, withdrawals, decided, is_out, missing }))
}
