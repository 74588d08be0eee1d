//! Ends of trainings.

use protocol::api::training::Abandon;

use super::lock;
use crate::{
    model::{AccountId, Event, NewNet, Reason},
    ops::campaigns::add_candidate,
    people::hash_of,
    store::{Operation, StoreError, Tx},
};

/// Completes a training: its net becomes a candidate. A rejected candidate may return, if training
/// reproduces the same net.
pub struct CompleteTraining {
    /// The trainer's account.
    pub account: AccountId,
    /// The token of the lease.
    pub token: String,
    /// The net.
    pub net: NewNet,
}

impl Operation for CompleteTraining {
    const NAME: &'static str = "complete_training";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let (now, hash) = (tx.now(), self.net.hash.to_string());
        let mut training = tx.trainings().lock_by_token(hash_of(&self.token)).await?.owned_by(self.account)?;
        if training.was_completed(&hash) {
            return Ok(());
        }
        training.complete(now, &hash)?;
        tx.trainings().save(&training).await?;
        add_candidate(tx, Some(self.account), &self.net).await
    }
}

/// Maximum length of a reason, in characters.
const MAX_REASON_CHARS: usize = 1_000;

/// Abandons a training that its trainer cannot finish.
pub struct AbandonTraining {
    /// The trainer's account.
    pub account: AccountId,
    /// The token of the lease.
    pub token: String,
    /// The reason, and whether others may try again.
    pub abandon: Abandon,
}

impl Operation for AbandonTraining {
    const NAME: &'static str = "abandon_training";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now();
        let mut training = lock(tx, self.account, &self.token).await?;
        let reason: String = self.abandon.reason.chars().take(MAX_REASON_CHARS).collect();
        let reason = Reason::from(reason.as_str());
        training.abandon(now, reason.clone(), self.abandon.again);
        tx.trainings().save(&training).await?;
        let event = Event::TrainingAbandoned { campaign: training.campaign, reason };
        tx.record_event(Some(self.account), event).await?;
        Ok(())
    }
}
