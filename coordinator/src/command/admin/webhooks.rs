//! `chuhe-coordinator admin webhook`.

use anyhow::Result;
use clap::Subcommand;
use coordinator_core::{
    clock::Clock,
    model::WebhookId,
    ops::webhooks::{AddWebhook, DEFAULT_KINDS, RemoveWebhook},
    people::secret,
    query,
    store::{Database, Webhooks},
};
use serde_json::{Value, json};

#[derive(Subcommand)]
pub(in crate::command) enum Command {
    /// Send events to an address; the secret that signs them is printed once
    Add {
        /// Address that receives the events: https://…
        address: String,
        /// Kinds of the sent events, separated by commas
        #[arg(long, value_delimiter = ',', value_name = "KINDS", default_values_t = DEFAULT_KINDS.map(str::to_owned))]
        kinds: Vec<String>,
    },
    /// List webhooks
    List,
    /// Remove a webhook
    Remove {
        /// Number of the webhook
        webhook: i64,
    },
}

pub(super) async fn run(store: &Database, clock: &Clock, command: Command) -> Result<Value> {
    let now = clock.now();
    match command {
        Command::Add { address, kinds } => {
            let secret = secret("webhook_")?;
            let webhook = store.run(now, AddWebhook { address, kinds, secret: secret.clone() }).await?;
            Ok(json!({ "webhook": webhook, "secret": secret }))
        }
        Command::List => Ok(store.read(query!(|c| Webhooks::on(c).list().await)).await?),
        Command::Remove { webhook } => {
            store.run(now, RemoveWebhook { webhook: WebhookId(webhook) }).await?;
            Ok(json!(format!("webhook {webhook} is removed")))
        }
    }
}
