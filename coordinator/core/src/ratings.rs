//! Ratings: all promoted nets of a campaign play a round robin, and their strengths are fitted to
//! all results.
//!
//! A gate ends as soon as its test decides, so it measures the difference badly, and differences
//! need not add up. Champions therefore meet in the order of the World rules' Berger tables, with
//! a fixed number of pairs each. The jobs have the kind `rating` and decide nothing.

use dataset::Digest;
use serde_json::{Value, json};
use stats::{
    Pentanomial,
    tournament::{Score, strengths},
};

use crate::{
    matches::counts as counts_of,
    model::{Campaign, CampaignKey},
    store::{Campaigns, Connection, Jobs, Nets, StoreError},
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
pub(crate) type Player = Option<Digest>;

/// Returns the champions of a campaign in the order of promotion, beginning with the initial one.
pub(crate) async fn players(connection: &mut Connection<'_>, campaign: &Campaign) -> Result<Vec<Player>, StoreError> {
    let mut players = vec![campaign.plan.champion];
    for net in Campaigns::on(connection.reborrow()).promoted(campaign.id).await? {
        if !players.contains(&Some(net)) {
            players.push(Some(net));
        }
    }
    Ok(players)
}

/// Returns the strengths of a campaign's champions in the order of promotion, the first at 0.
///
/// # Errors
///
/// If there is no such campaign.
pub async fn history(connection: &mut Connection<'_>, campaign: &CampaignKey) -> Result<Value, StoreError> {
    let campaign = Campaigns::on(connection.reborrow()).get(campaign).await?;
    let players = players(connection, &campaign).await?;
    let (mut scores, mut pairings) = (Vec::new(), Vec::new());
    for one in 0..players.len() {
        for other in 0..one {
            let mut counts = Pentanomial::default();
            let mut jobs = Jobs::on(connection.reborrow());
            for (job, is_first) in jobs.ratings_between(players[one], players[other]).await? {
                let found = counts_of(connection, job).await?;
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
        let name = Nets::on(connection.reborrow()).name_of(player).await?;
        list.push(json!({ "number": number, "net": player, "name": name, "elo": strength.elo,
                          "error": strength.error, "games": strength.games }));
    }
    Ok(json!({ "campaign": campaign.plan.name, "nets": list, "pairings": pairings }))
}
