//! Edits of a campaign's text.

use protocol::{api::problem::Code, campaign::Campaign as Plan};

use super::steps;
use crate::{
    model::{AccountId, CampaignKey, CampaignStep, Event, Refusal},
    store::{Operation, StoreError, Tx},
};

/// Changes a campaign's text: description, priority, other campaigns to learn from, generations,
/// gate and recipe, unless the current step uses them. The parameters that determine games are
/// fixed.
pub struct EditCampaign {
    /// The campaign.
    pub campaign: CampaignKey,
    /// The new text (TOML).
    pub text: String,
    /// Optimistic locking: the version that was edited; any if none.
    pub seen: Option<i64>,
    /// The acting account.
    pub by: Option<AccountId>,
}

impl Operation for EditCampaign {
    const NAME: &'static str = "edit_campaign";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let new =
            Plan::from_text(&self.text).map_err(|error| StoreError::rejected(Code::Invalid, error.to_string()))?;
        let mut campaign = tx.campaigns().lock(&self.campaign).await?;
        let refusal = match campaign.phase {
            _ if self.seen.is_some_and(|seen| seen != campaign.changed) => Some(Refusal::CampaignChanged),
            _ if campaign.is_over() => Some(Refusal::CampaignOver { state: campaign.state }),
            _ if fixed(&campaign.plan, &new).is_some() => {
                fixed(&campaign.plan, &new).map(|key| Refusal::FixedKey { key: key.to_owned() })
            }
            CampaignStep::Gating if new.gate != campaign.plan.gate => Some(Refusal::GateInUse),
            CampaignStep::Training if new.recipe != campaign.plan.recipe => Some(Refusal::RecipeInUse),
            _ => None,
        };
        if let Some(refusal) = refusal {
            return Err(refusal.into());
        }
        steps::check_sources(tx, &new).await?;
        if let Some(book) = new.gate.book {
            tx.nets().book_must_exist(book).await?;
        }
        // What candidates without a promotion added stays.
        campaign.wanted_positions += new.generation.positions as i64 - campaign.plan.generation.positions as i64;
        campaign.plan = new;
        tx.campaigns().save(&campaign).await?;
        tx.jobs().prioritize(campaign.id, i64::from(campaign.plan.priority)).await?;
        tx.record_event(self.by, Event::CampaignEdited { campaign: campaign.plan.name }).await?;
        Ok(())
    }
}

/// Returns the first fixed key that differs.
fn fixed(old: &Plan, new: &Plan) -> Option<&'static str> {
    [
        ("name", old.name != new.name),
        ("rules", old.rules != new.rules),
        ("champion", old.champion != new.champion),
        ("seed", old.seed != new.seed),
        ("selfplay", old.selfplay != new.selfplay),
    ]
    .into_iter()
    .find(|(_, differs)| *differs)
    .map(|(key, _)| key)
}
