//! Claims of trainers.

use protocol::api::training::{Claim, Offer, Training as Offered};

use crate::{
    model::AccountId,
    people::hash_of,
    rules::trainings::LEASE_SECONDS,
    store::{Operation, StoreError, Tx},
};

/// Grants a training to a trainer; one it already holds is granted again with a new token.
pub struct ClaimTraining {
    /// The trainer's account.
    pub account: AccountId,
    /// The claim.
    pub claim: Claim,
    /// The token of the lease, from [`secret`](crate::people::secret).
    pub token: String,
}

impl Operation for ClaimTraining {
    const NAME: &'static str = "claim_training";
    type Output = Offer;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Offer, StoreError> {
        let (now, account, trainer) = (tx.now(), self.account, self.claim.name.as_str());
        let found = tx.trainings().claimable(now, account, trainer).await?;
        let Some(mut training) = found.filter(|training| training.is_claimable(now, account, trainer)) else {
            return Ok(Offer::Wait { seconds: 30, reason: "no net is to be trained at the moment".to_owned() });
        };
        training.claim(now, account, trainer, hash_of(&self.token));
        tx.trainings().save(&training).await?;
        let campaign = tx.campaigns().get(&training.campaign.into()).await?.plan.name;
        let manifests =
            serde_json::from_str(&training.manifests).map_err(|error| StoreError::Corrupt(error.to_string()))?;
        let (token, generation, recipe) = (self.token.clone(), training.generation as u32, training.recipe);
        Ok(Offer::Train(Offered { token, campaign, generation, recipe, manifests, seconds: LEASE_SECONDS }))
    }
}
