//! Nets trained outside of the coordinator.

use super::steps;
use crate::{
    model::{AccountId, CampaignKey, NewNet, Reason},
    store::{Operation, StoreError, Tx},
};

/// Makes a net that was trained elsewhere the candidate of a campaign, which gates it as its own,
/// in place of a training under way. Its training sets are named by its manifest alone: retention
/// does not know them.
pub struct GateNet {
    /// The campaign.
    pub campaign: CampaignKey,
    /// The net; the campaign adds its generation and the champion.
    pub net: NewNet,
    /// The recipe (TOML) of its manifest.
    pub recipe: String,
    /// The acting account.
    pub by: Option<AccountId>,
}

impl Operation for GateNet {
    const NAME: &'static str = "gate_net";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now();
        let mut campaign = tx.campaigns().lock(&self.campaign).await?;
        campaign.accept_net()?;
        tx.trainings().end_all(campaign.id, Reason::GivenUp).await?;
        tx.nets().reject_candidate(campaign.id).await?;
        let training = tx.trainings().add(now, &campaign, self.recipe.clone(), "[]".to_owned()).await?;
        let mut training = tx.trainings().get(training).await?;
        training.deliver(now, self.net.hash.to_string())?;
        tx.trainings().save(&training).await?;
        let (generation, parent) = (Some((campaign.id, training.generation)), training.champion);
        steps::add_candidate(tx, self.by, &NewNet { campaign: generation, parent, ..self.net.clone() }).await?;
        campaign.begin_training(now, training.id);
        tx.campaigns().save(&campaign).await
    }
}
