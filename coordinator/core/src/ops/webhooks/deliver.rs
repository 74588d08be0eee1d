//! Deliveries to webhooks.

use crate::{
    clock::SECOND,
    model::DeliveryId,
    rules::deliveries,
    store::{Due, Operation, StoreError, Tx},
};

/// Duration of a claim on a delivery; others may take it afterwards.
const CLAIM_MS: i64 = 60 * SECOND;

/// Claims deliveries that are due.
pub struct ClaimDeliveries {
    /// Their maximum number.
    pub limit: i64,
}

impl Operation for ClaimDeliveries {
    const NAME: &'static str = "claim_deliveries";
    type Output = Vec<Due>;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<Due>, StoreError> {
        let now = tx.now();
        tx.webhooks().claim(now, now.after(CLAIM_MS), self.limit).await
    }
}

/// Records the result of an attempt at a delivery.
pub struct RecordAttempt {
    /// The delivery.
    pub delivery: DeliveryId,
    /// Whether it had a 2xx response.
    pub is_delivered: bool,
}

impl Operation for RecordAttempt {
    const NAME: &'static str = "record_attempt";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let (now, delivery) = (tx.now(), self.delivery);
        let Some(before) = tx.webhooks().attempts(delivery).await? else { return Ok(()) };
        let attempts = before + 1;
        let done = match self.is_delivered {
            true => now.0,
            false if attempts >= deliveries::MAX_ATTEMPTS => -now.0,
            false => 0,
        };
        let next = now.after(deliveries::pause(attempts, delivery));
        tx.webhooks().save_attempt(delivery, attempts, next, done).await
    }
}
