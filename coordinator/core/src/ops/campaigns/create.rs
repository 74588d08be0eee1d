//! New campaigns.

use protocol::{api::problem::Code, campaign::Campaign as Plan};

use super::steps;
use crate::{
    model::{AccountId, CampaignId, Event},
    store::{Operation, StoreError, Tx},
};

/// Creates a running campaign.
pub struct CreateCampaign {
    /// The text (TOML) that defines it.
    pub text: String,
    /// The acting account.
    pub by: Option<AccountId>,
}

impl Operation for CreateCampaign {
    const NAME: &'static str = "create_campaign";
    /// Its id and its name.
    type Output = (CampaignId, String);

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(CampaignId, String), StoreError> {
        let now = tx.now();
        let plan =
            Plan::from_text(&self.text).map_err(|error| StoreError::rejected(Code::Invalid, error.to_string()))?;
        let id = tx.campaigns().add(now, &plan, self.by).await?;
        if let Some(net) = plan.champion {
            tx.nets().must_exist(net).await?;
        }
        steps::check_sources(tx, &plan).await?;
        for book in [plan.selfplay.openings.book, plan.gate.book].into_iter().flatten() {
            tx.nets().book_must_exist(book).await?;
        }
        tx.record_event(self.by, Event::CampaignCreated { campaign: plan.name.clone() }).await?;
        Ok((id, plan.name))
    }
}
