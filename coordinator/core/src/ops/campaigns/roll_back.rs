//! Rollbacks of promotions.

use super::steps;
use crate::{
    model::{AccountId, CampaignKey, Event, JobState, PromotionKind, Reason, Refusal},
    rules::nets::NetEvent,
    store::{Operation, Promotion, StoreError, Tx},
};

/// Rolls back a promotion: the previous champion returns, in a new generation.
pub struct RollBackCampaign {
    /// The campaign.
    pub campaign: CampaignKey,
    /// Optimistic locking: the hash of the champion that the caller saw.
    pub seen: Option<String>,
    /// The reason.
    pub reason: String,
    /// The acting account.
    pub by: Option<AccountId>,
}

impl Operation for RollBackCampaign {
    const NAME: &'static str = "roll_back_campaign";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now();
        let mut campaign = tx.campaigns().lock(&self.campaign).await?;
        let hash = campaign.champion.map(|net| net.to_string());
        if self.seen.is_some() && self.seen != hash {
            return Err(Refusal::ChampionChanged.into());
        }
        let champion = campaign.champion.ok_or(Refusal::NoPromotion)?;
        let previous = tx.campaigns().champion_before(campaign.id, champion).await?.ok_or(Refusal::NoPromotion)?;
        steps::set_jobs_state(tx, &campaign, JobState::Closed).await?;
        let (champion, net) = (champion.to_string(), previous.map(|net| net.to_string()));
        tx.nets().apply(now, &champion, NetEvent::RolledBack, None).await?;
        tx.trainings().end_all(campaign.id, Reason::ChampionRolledBack).await?;
        tx.nets().reject_candidate(campaign.id).await?;
        campaign.roll_back(now, previous);
        tx.campaigns().save(&campaign).await?;
        let (kind, reason) = (PromotionKind::Rollback, Some(self.reason.as_str()));
        let (id, by, previous) = (campaign.id, self.by, Some(champion.clone()));
        let promotion = Promotion { campaign: id, net: net.clone(), previous, kind, by, job: None, reason };
        tx.campaigns().add_promotion(now, promotion).await?;
        let name = tx.nets().name(&champion).await?;
        let (campaign, reason) = (campaign.plan.name, self.reason.as_str().into());
        tx.record_event(by, Event::Rollback { campaign, net: champion, name, champion: net, reason }).await?;
        Ok(())
    }
}
