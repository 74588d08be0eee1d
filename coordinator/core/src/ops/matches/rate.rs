//! Round robins of champions.

use dataset::{Digest, random::game_seed};
use protocol::{
    api::problem::{Code, Problem},
    campaign::Gate,
};
use stats::tournament::{Pairing, berger};

use super::CreateMatch;
use crate::{
    model::{AccountId, CampaignKey, Event, JobId, JobKind, Refusal},
    ratings::{Plan, players},
    store::{Operation, StoreError, Tx},
};

/// Creates matches between the champions of a campaign that have not met. Returns the jobs in the
/// order of the Berger tables.
pub struct BeginRatings {
    /// The campaign.
    pub campaign: CampaignKey,
    /// The parameters of the round robin.
    pub plan: Plan,
    /// The bench signature of the engine.
    pub bench_signature: u64,
    /// The acting account.
    pub by: Option<AccountId>,
}

impl Operation for BeginRatings {
    const NAME: &'static str = "begin_ratings";
    type Output = Vec<JobId>;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<JobId>, StoreError> {
        let Plan { pairs, nodes } = self.plan;
        if !(1..=100_000).contains(&pairs) || nodes.is_some_and(|nodes| !(1..=1_000_000_000).contains(&nodes)) {
            return Err(Refusal::BadRating.into());
        }
        let campaign = tx.campaigns().lock(&self.campaign).await?;
        let players = players(&mut tx.connection(), &campaign).await?;
        if players.len() < 2 {
            return Err(Problem::new(Code::Conflict, "no net of the campaign was promoted yet").into());
        }
        let gate = campaign.plan.gate;
        let nodes = nodes.unwrap_or(gate.nodes);
        let gate = Gate { most_pairs: pairs, nodes, candidate_nodes_percent: 100, ..gate };
        let seed = game_seed(campaign.plan.seed, campaign.id.0 as u64);
        let mut jobs = Vec::new();
        for Pairing { red: one, black: other } in berger(players.len()).into_iter().flatten() {
            // The newer net is the first player.
            let (old, new) = (players[one.min(other)], players[one.max(other)]);
            if !tx.jobs().ratings_between(new, old).await?.is_empty() {
                continue;
            }
            let between = Digest::of(format!("{new:?} {old:?}").as_bytes());
            let number = u64::from_str_radix(&between.to_string()[..16], 16).unwrap_or_default();
            let seed = game_seed(seed, number);
            let header = gate.header(campaign.plan.rules, self.bench_signature, new, old, seed);
            jobs.push(CreateMatch { kind: JobKind::Rating, header, gate }.run(tx).await?);
        }
        let matches = jobs.len() as u64;
        tx.record_event(self.by, Event::Rating { campaign: campaign.plan.name, matches }).await?;
        Ok(jobs)
    }
}
