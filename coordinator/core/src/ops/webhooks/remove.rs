//! End of webhooks.

use protocol::api::problem::Code;

use crate::{
    events::{Event, record_event},
    model::WebhookId,
    store::{Operation, StoreError, Tx},
};

/// Removes a webhook and its pending deliveries.
pub struct RemoveWebhook {
    /// The webhook.
    pub webhook: WebhookId,
}

impl Operation for RemoveWebhook {
    const NAME: &'static str = "remove_webhook";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now();
        let webhook = self.webhook;
        if !tx.webhooks().remove(webhook).await? {
            return Err(StoreError::rejected(Code::NotFound, format!("there is no webhook {webhook}")));
        }
        record_event(&mut tx.connection(), now, None, Event::WebhookRemoved { webhook }).await?;
        Ok(())
    }
}
