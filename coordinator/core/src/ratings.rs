//! Ratings: all promoted nets of a campaign play a round robin, and their strengths are fitted to
//! all results.
//!
//! A gate ends as soon as its test decides, so it measures the difference badly, and differences
//! need not add up. Champions therefore meet in the order of the World rules' Berger tables, with
//! a fixed number of pairs each. The jobs have the kind `rating` and decide nothing.

use dataset::{Digest, random::game_seed};
use protocol::{api::problem::Code, campaign::Gate};
use serde_json::{Value, json};
use stats::{
    Pentanomial,
    tournament::{Pairing, Score, berger, strengths},
};

use crate::{
    campaigns::{self, CampaignRow, matches, nets},
    clock::Time,
    events::{Event, record_event},
    model::Refusal,
    store::{Connection, StoreError},
};

/// Default number of pairs between two nets.
pub const DEFAULT_PAIRS: u32 = 200;

/// The parameters of a round robin.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Pairs between two nets.
    pub pairs: u32,
    /// Nodes per search; those of the campaign's gate if none.
    pub nodes: Option<u64>,
}

/// A player: a net, or the plain evaluation.
type Player = Option<Digest>;

/// Returns the champions of a campaign in the order of promotion, beginning with the initial one.
async fn players(connection: &mut Connection<'_>, row: &CampaignRow) -> Result<Vec<Player>, StoreError> {
    let query = "SELECT net FROM promotions WHERE campaign = $1 AND kind <> 'rollback' ORDER BY id";
    let promoted: Vec<Option<String>> = sqlx::query_scalar(query).bind(row.id).fetch_all(connection.raw()).await?;
    let mut players = vec![row.campaign.champion];
    for net in promoted.into_iter().flatten() {
        let net = net.parse().map_err(|_| StoreError::Corrupt(format!("a promotion of {net}, which is no hash")))?;
        if !players.contains(&Some(net)) {
            players.push(Some(net));
        }
    }
    Ok(players)
}

fn text(player: Player) -> Option<String> {
    player.map(|net| net.to_string())
}

/// Returns the rating jobs between two players, each with whether `one` is its first player.
async fn jobs_between(
    connection: &mut Connection<'_>,
    one: Player,
    other: Player,
) -> Result<Vec<(i64, bool)>, StoreError> {
    let query = "SELECT id, CASE WHEN COALESCE(net, '') = $1 THEN 1 ELSE 0 END FROM jobs WHERE kind = 'rating'
                 AND ((COALESCE(net, '') = $1 AND COALESCE(opponent, '') = $2)
                      OR (COALESCE(net, '') = $2 AND COALESCE(opponent, '') = $1)) ORDER BY id";
    let query = sqlx::query_as(query).bind(text(one).unwrap_or_default()).bind(text(other).unwrap_or_default());
    let rows: Vec<(i64, i64)> = query.fetch_all(connection.raw()).await?;
    Ok(rows.into_iter().map(|(job, first)| (job, first == 1)).collect())
}

/// Creates matches between the champions of a campaign that have not met. Returns the jobs in the
/// order of the Berger tables.
///
/// # Errors
///
/// If there are fewer than two champions, or the plan is invalid.
pub async fn begin(
    connection: &mut Connection<'_>,
    now: Time,
    campaign: i64,
    plan: Plan,
    bench_signature: u64,
    by: Option<i64>,
) -> Result<Vec<i64>, StoreError> {
    if !(1..=100_000).contains(&plan.pairs) || plan.nodes.is_some_and(|nodes| !(1..=1_000_000_000).contains(&nodes)) {
        return Err(Refusal::BadRating.into());
    }
    let row = campaigns::lock(connection, campaign).await?;
    let players = players(connection, &row).await?;
    if players.len() < 2 {
        return Err(StoreError::rejected(Code::Conflict, "no net of the campaign was promoted yet"));
    }
    let gate = row.campaign.gate;
    let gate =
        Gate { most_pairs: plan.pairs, nodes: plan.nodes.unwrap_or(gate.nodes), candidate_nodes_percent: 100, ..gate };
    let seed = game_seed(row.campaign.seed, row.id as u64);
    let mut jobs = Vec::new();
    for Pairing { red: one, black: other } in berger(players.len()).into_iter().flatten() {
        // The newer net is the first player.
        let (old, new) = (players[one.min(other)], players[one.max(other)]);
        if !jobs_between(connection, new, old).await?.is_empty() {
            continue;
        }
        let between = Digest::of(format!("{new:?} {old:?}").as_bytes());
        let number = u64::from_str_radix(&between.to_string()[..16], 16).unwrap_or_default();
        let header = gate.header(row.campaign.rules, bench_signature, new, old, game_seed(seed, number));
        jobs.push(matches::create(connection, now, "rating", &header, &gate).await?);
    }
    let (campaign, matches) = (row.campaign.name, jobs.len() as u64);
    record_event(connection, now, by, Event::Rating { campaign, matches }).await?;
    Ok(jobs)
}

/// Returns the strengths of a campaign's champions in the order of promotion, the first at 0.
///
/// # Errors
///
/// If there is no such campaign.
pub async fn history(connection: &mut Connection<'_>, campaign: i64) -> Result<Value, StoreError> {
    let row = campaigns::read(connection, campaign).await?;
    let players = players(connection, &row).await?;
    let (mut scores, mut pairings) = (Vec::new(), Vec::new());
    for one in 0..players.len() {
        for other in 0..one {
            let mut counts = Pentanomial::default();
            for (job, is_first) in jobs_between(connection, players[one], players[other]).await? {
                let found = matches::counts(connection, job).await?;
                counts += if is_first { found } else { found.reversed() };
            }
            let games = counts.games();
            if games > 0 {
                let points = counts.score() * games as f64;
                scores.push(Score { one, other, games, points });
                pairings.push(json!({ "net": players[one], "opponent": players[other], "games": games,
                                      "points": points }));
            }
        }
    }
    let strengths = strengths(players.len(), &scores);
    let mut list = Vec::new();
    for (number, (&player, strength)) in players.iter().zip(&strengths).enumerate() {
        let name = nets::name_of(connection, player).await?;
        list.push(json!({ "number": number, "net": player, "name": name, "elo": strength.elo,
                          "error": strength.error, "games": strength.games }));
    }
    Ok(json!({ "campaign": row.campaign.name, "nets": list, "pairings": pairings }))
}
