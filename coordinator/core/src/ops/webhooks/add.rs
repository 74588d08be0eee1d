//! New webhooks.

use protocol::api::problem::Code;
use reqwest::Url;

use super::origin;
use crate::{
    model::{Event, WebhookId},
    store::{Operation, StoreError, Tx},
};

/// The kinds of events that webhooks may receive.
pub const KINDS: [&str; 9] =
    ["promotion", "rejection", "rollback", "disputed", "dispute", "quarantine", "quarantine_lifted", "stall", "disk"];

/// The default kinds.
pub const DEFAULT_KINDS: [&str; 4] = ["promotion", "quarantine", "stall", "disk"];

/// Adds a webhook.
pub struct AddWebhook {
    /// The receiver's address.
    pub address: String,
    /// The kinds of events that it receives.
    pub kinds: Vec<String>,
    /// The secret that signs deliveries.
    pub secret: String,
}

impl Operation for AddWebhook {
    const NAME: &'static str = "add_webhook";
    type Output = WebhookId;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<WebhookId, StoreError> {
        let (now, invalid) = (tx.now(), |detail: &str| Err(StoreError::rejected(Code::Invalid, detail)));
        let address = &self.address;
        let url = match Url::parse(address) {
            Ok(url) => url,
            Err(error) => return invalid(&format!("{address:?}: {error}")),
        };
        let is_here = matches!(url.host_str(), Some("127.0.0.1" | "localhost" | "[::1]"));
        if !(url.scheme() == "https" || url.scheme() == "http" && is_here) {
            return invalid("an address begins with https://; http:// only on this machine");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return invalid("an address holds no password: what is posted is signed");
        }
        if let Some(unknown) = self.kinds.iter().find(|kind| !KINDS.contains(&kind.as_str())) {
            return invalid(&format!("{unknown:?} is no kind of event; there are {}", KINDS.join(", ")));
        }
        let webhook = tx.webhooks().add(now, url.as_str(), &self.secret, &self.kinds).await?;
        let (address, kinds) = (origin(url.as_str()), self.kinds.clone());
        tx.record_event(None, Event::WebhookAdded { webhook, address, kinds }).await?;
        Ok(webhook)
    }
}
