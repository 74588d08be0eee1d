//! Data of a campaign's step that take a while to read. They are read before the operation, which
//! would hold up all writes meanwhile.

use stats::Decision;

use super::steps;
use crate::{
    model::{Campaign, CampaignKey, CampaignState, CampaignStep, JobId, Reason},
    ops::matches::MissingAudits,
    store::{Campaigns, Connection, Database, Nets, Store as _, StoreError, TrainingSet, counting},
};

/// Data of a campaign's next step.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    /// The training set, if a training is due and there are games.
    pub(super) training_set: Option<TrainingSet>,
    /// The gate, if nothing is to be decided yet.
    pub(super) undecided: Option<Undecided>,
}

/// A gate without a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Undecided {
    /// Its test needs more pairs.
    Plays(JobId),
    /// It is passed, and waits for audits.
    Audits(JobId),
}

impl Prepared {
    /// Reads what the next step of a campaign needs.
    pub(super) async fn step(store: &Database, campaign: CampaignKey) -> Result<Self, StoreError> {
        read(store, campaign, |campaign, positions| positions >= campaign.wanted_positions).await
    }

    /// Reads what an early training needs.
    pub(super) async fn training(store: &Database, campaign: CampaignKey) -> Result<Self, StoreError> {
        read(store, campaign, |_, _| true).await
    }
}

async fn read(store: &Database, key: CampaignKey, is_due: fn(&Campaign, i64) -> bool) -> Result<Prepared, StoreError> {
    store
        .read(move |mut connection| {
            let key = key.clone();
            Box::pin(async move {
                let campaign = Campaigns::on(connection.reborrow()).get(&key).await?;
                let mut prepared = Prepared::default();
                let counts = steps::count(connection.reborrow(), &campaign).await?;
                if campaign.phase == CampaignStep::Collecting && is_due(&campaign, counts.positions) {
                    let generations = campaign.window_start()..=campaign.generation;
                    prepared.training_set = Nets::on(connection).training_set(campaign.id, generations).await?;
                } else if campaign.phase == CampaignStep::Gating && campaign.state == CampaignState::Running {
                    prepared.undecided = undecided(&mut connection, &campaign).await?;
                }
                Ok(prepared)
            })
        })
        .await
}

async fn undecided(connection: &mut Connection<'_>, campaign: &Campaign) -> Result<Option<Undecided>, StoreError> {
    let Some(job) = campaign.gate else { return Ok(None) };
    let plan = &campaign.plan.gate;
    let pairs = counting::pairs(connection, job).await?;
    let verdict = steps::decided(campaign, &pairs)?.verdict;
    match verdict.decision {
        Decision::Continue if (pairs.len() as u64) < u64::from(plan.most_pairs) => Ok(Some(Undecided::Plays(job))),
        Decision::AcceptH1 => {
            let missing = MissingAudits::read(connection, job, &verdict, plan.audit_percent).await?;
            let is_known = |games| campaign.reason == Some(Reason::AuditsMissing { games });
            let waits = missing.is_some_and(|missing| !missing.wants_another && is_known(missing.games));
            Ok(waits.then_some(Undecided::Audits(job)))
        }
        _ => Ok(None),
    }
}
