//! End of webhooks.

use protocol::api::problem::Code;

use crate::{
    model::{Event, WebhookId},
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
        let webhook = self.webhook;
        if !tx.webhooks().remove(webhook).await? {
            return Err(StoreError::rejected(Code::NotFound, format!("there is no webhook {webhook}")));
        }
        tx.record_event(None, Event::WebhookRemoved { webhook }).await?;
        Ok(())
    }
}
