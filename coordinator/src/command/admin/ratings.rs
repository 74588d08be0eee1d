//! `chuhe-coordinator admin rating`.

use anyhow::Result;
use clap::Subcommand;
use coordinator_core::{clock::Clock, model::CampaignKey, ops::matches::BeginRatings, query, ratings, store::Database};
use serde_json::{Value, json};

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
    match command {
        Command::Begin { campaign, pairs, nodes } => {
            let (plan, bench_signature) = (ratings::Plan { pairs, nodes }, protocol::BENCH_SIGNATURE);
            let begin = BeginRatings { campaign: campaign.into(), plan, bench_signature, by: None };
            Ok(json!({ "jobs": store.run(clock.now(), begin).await? }))
        }
        Command::Show { campaign } => {
            let campaign = CampaignKey::from(campaign);
            let history = store.read(query!(|c| ratings::history(&mut c, &campaign).await));
            Ok(history.await?)
        }
    }
}
