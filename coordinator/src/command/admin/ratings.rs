//! `chuhe-coordinator admin rating`.

use anyhow::Result;
use clap::Subcommand;
use coordinator_core::{campaigns, clock::Clock, ratings, store::Database};
use serde_json::{Value, json};

use super::transaction::{read, write};

#[derive(Subcommand)]
pub(in crate::command) enum Command {
    /// Schedule the missing matches between champions, and print the jobs' numbers
    Begin {
        /// Name of the campaign
        campaign: String,
        /// Pairs of games per match
        #[arg(long, default_value_t = ratings::DEFAULT_PAIRS, value_name = "N")]
        pairs: u32,
        /// Nodes of a search [default: those of the campaign's gate]
        #[arg(long, value_name = "N")]
        nodes: Option<u64>,
    },
    /// Show the strength of the champions, from the matches played so far
    Show {
        /// Name of the campaign
        campaign: String,
    },
}

pub(super) async fn run(store: &Database, clock: &Clock, command: Command) -> Result<Value> {
    let now = clock.now();
    match command {
        Command::Begin { campaign, pairs, nodes } => {
            let plan = ratings::Plan { pairs, nodes };
            let jobs = write(store, move |mut c| {
                let campaign = campaign.clone();
                Box::pin(async move {
                    let id = campaigns::by_name(&mut c, &campaign).await?;
                    ratings::begin(&mut c, now, id, plan, protocol::BENCH_SIGNATURE, None).await
                })
            });
            Ok(json!({ "jobs": jobs.await? }))
        }
        Command::Show { campaign } => {
            let history = read(store, move |mut c| {
                let campaign = campaign.clone();
                Box::pin(async move {
                    let id = campaigns::by_name(&mut c, &campaign).await?;
                    ratings::history(&mut c, id).await
                })
            });
            Ok(history.await?)
        }
    }
}
