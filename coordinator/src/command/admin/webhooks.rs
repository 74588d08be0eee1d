//! `chuhe-coordinator admin webhook`.

use anyhow::Result;
use clap::Subcommand;
use coordinator_core::{clock::Clock, store::Database, webhooks};
use serde_json::{Value, json};

use super::transaction::{read, write};

#[derive(Subcommand)]
pub(in crate::command) enum Command {
    /// Send events to an address; the secret that signs them is printed once
    Add {
        /// Address that receives the events: https://…
        address: String,
        /// Kinds of the sent events, separated by commas
        #[arg(long, value_delimiter = ',', value_name = "KINDS", default_values_t = webhooks::DEFAULT_KINDS.map(str::to_owned))]
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
            let added = write(store, move |mut c| {
                let (address, kinds) = (address.clone(), kinds.clone());
                Box::pin(async move { webhooks::add(&mut c, now, &address, &kinds).await })
            });
            let (webhook, secret) = added.await?;
            Ok(json!({ "webhook": webhook, "secret": secret }))
        }
        Command::List => Ok(read(store, |mut c| Box::pin(async move { webhooks::list(&mut c).await })).await?),
        Command::Remove { webhook } => {
            write(store, move |mut c| Box::pin(async move { webhooks::remove(&mut c, now, webhook).await })).await?;
            Ok(Value::Null)
        }
    }
}
