//! Commands of maintainers.

use super::{begin_training::begin_training, prepare::Prepared, steps};
use crate::{
    clock::Time,
    model::{AccountId, CampaignCommand as Command, CampaignKey, Event, JobState, Reason, Refusal},
    store::{Database, Operation, StoreError, Tx},
};

/// Executes a command.
pub struct CommandCampaign {
    /// The campaign.
    pub campaign: CampaignKey,
    /// The command.
    pub command: Command,
    /// Optimistic locking: the version that the caller saw.
    pub seen: Option<i64>,
    /// The acting account.
    pub by: Option<AccountId>,
    /// The data of `train`.
    pub prepared: Prepared,
}

impl CommandCampaign {
    /// Reads what the command needs.
    pub async fn prepare(
        store: &Database,
        campaign: CampaignKey,
        command: Command,
        seen: Option<i64>,
        by: Option<AccountId>,
        now: Time,
    ) -> Result<Self, StoreError> {
        let prepared = match command {
            Command::Train => Prepared::training(store, campaign.clone(), now).await?,
            _ => Prepared::default(),
        };
        Ok(Self { campaign, command, seen, by, prepared })
    }
}

impl Operation for CommandCampaign {
    const NAME: &'static str = "command_campaign";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let command = self.command;
        let mut campaign = tx.campaigns().lock(&self.campaign).await?;
        if self.seen.is_some_and(|seen| seen != campaign.changed) {
            return Err(Refusal::CampaignChanged.into());
        }
        campaign.accept(command)?;
        match command {
            Command::Train if tx.reviews().any().await? => return Err(Refusal::UploadsReviewed.into()),
            Command::Train => {
                if !begin_training(tx, &mut campaign, &self.prepared).await? {
                    return Err(Refusal::CampaignChanged.into());
                }
            }
            Command::Reject => steps::reject(tx, &mut campaign, Reason::GivenUp).await?,
            Command::Promote => steps::promote(tx, &mut campaign, self.by).await?,
            // The next tick reopens the jobs.
            Command::Resume => {}
            Command::Pause => steps::set_jobs_state(tx, &campaign, JobState::Paused).await?,
            Command::Stop => {
                steps::set_jobs_state(tx, &campaign, JobState::Closed).await?;
                tx.trainings().end_all(campaign.id, Reason::CampaignStopped).await?;
                tx.nets().reject_candidate(campaign.id).await?;
            }
        }
        tx.campaigns().save(&campaign).await?;
        tx.record_event(self.by, Event::CampaignCommand { campaign: campaign.plan.name, command }).await?;
        Ok(())
    }
}
