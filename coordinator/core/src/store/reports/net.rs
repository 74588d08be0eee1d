//! A net's card: training, matches and family.

use serde::Serialize;
use serde_json::Value;

use super::matches::{self, Line};
use crate::{
    model::{NetState, Reason},
    store::{Connection, StoreError, convert::row},
};

/// Maximum of relatives per direction.
const MAX_RELATIVES: i64 = 200;

/// A net, as lists show it.
#[derive(Clone, Debug, Serialize)]
pub struct Net {
    /// SHA-256 of the net's file.
    pub net: String,
    /// Name, for people.
    pub name: String,
    /// State: base, candidate, promoted, rejected, disputed, `rolled_back`.
    pub state: NetState,
    /// Name of the campaign that trained it; none for an added net.
    pub campaign: Option<String>,
    /// Generation of the campaign; none for an added net.
    pub generation: Option<i64>,
    /// The champion at the time of its training.
    pub parent: Option<String>,
    /// Length of its file, in bytes.
    pub bytes: i64,
    /// Its architecture in a line.
    pub architecture: String,
    /// Time of arrival, in milliseconds since 1970.
    pub created: i64,
    /// Time of its promotion, in milliseconds since 1970.
    pub promoted: Option<i64>,
    /// The reason for the dispute over its gate.
    #[serde(serialize_with = "Reason::as_text")]
    pub disputed: Option<Reason>,
    /// Games in quarantine that it learned from.
    pub fallen_training_games: i64,
    /// Games in quarantine that its gates were played with.
    pub fallen_gate_games: i64,
}

row!(Net {
    net,
    name,
    state,
    campaign,
    generation,
    parent,
    bytes,
    architecture,
    created,
    promoted,
    disputed,
    fallen_training_games,
    fallen_gate_games,
});

/// A net and its family, by parents.
#[derive(Clone, Debug, Serialize)]
pub struct Card {
    /// The net itself.
    #[serde(flatten)]
    pub net: Net,
    /// The net's manifest (JSON), if it has one.
    pub manifest: Option<Value>,
    /// The text (TOML) of its recipe.
    pub recipe: Option<String>,
    /// The hash of its training's loss plot.
    pub curves: Option<String>,
    /// Its matches, the newest first.
    pub matches: Vec<Line>,
    /// Ancestors, from the first net to its parent.
    pub ancestors: Vec<Relative>,
    /// Nets trained to beat it.
    pub children: Vec<Relative>,
    /// The campaigns whose champion it is.
    pub champion_of: Vec<String>,
    /// The campaign whose gate it is playing.
    pub on_trial: Option<Trial>,
}

/// A campaign whose gate tests a net.
#[derive(Clone, Debug, Serialize)]
pub struct Trial {
    /// Name of the campaign.
    pub campaign: String,
    /// The campaign's revision, for `If-Match`.
    pub changed: i64,
}

row!(Trial { campaign, changed });

/// A net in its family.
#[derive(Clone, Debug, Serialize)]
pub struct Relative {
    /// SHA-256 of the net's file.
    pub net: String,
    /// Name, for people.
    pub name: String,
    /// State, as in [`Net::state`].
    pub state: NetState,
}

row!(Relative { net, name, state });

struct Ancestor {
    net: String,
    name: String,
    state: NetState,
    parent: Option<String>,
}

row!(Ancestor { net, name, state, parent });

struct Trained {
    recipe: String,
    curves: Option<String>,
}

row!(Trained { recipe, curves });

/// The columns of a [`Net`].
const COLUMNS: &str = "SELECT nets.hash AS net, nets.name AS name, nets.state AS state, campaigns.name AS campaign,
     nets.generation AS generation, parent, bytes, architecture, nets.created AS created, promoted, disputed,
     (SELECT CAST(COALESCE(SUM(fallen_games), 0) AS BIGINT) FROM manifests WHERE fallen_games > 0
      AND EXISTS (SELECT 1 FROM trainings WHERE candidate = nets.hash
                  AND trainings.manifests LIKE '%' || manifests.hash || '%')) AS fallen_training_games,
     (SELECT CAST(COALESCE(SUM(totals.games), 0) AS BIGINT) FROM jobs CROSS JOIN totals
      WHERE jobs.net = nets.hash AND jobs.kind = 'match' AND jobs.campaign IS NOT NULL
      AND totals.job = jobs.id AND totals.state = 'quarantined') AS fallen_gate_games
     FROM nets LEFT JOIN campaigns ON campaigns.id = nets.campaign";

/// Nets per page.
pub const PAGE: i64 = 100;

/// The `limit` newest nets, optionally only those before a time.
pub async fn list(connection: &mut Connection<'_>, before: Option<i64>, limit: i64) -> Result<Vec<Net>, StoreError> {
    let query = sqlx::AssertSqlSafe(format!(
        "{COLUMNS} WHERE nets.created < $1 ORDER BY nets.created DESC, nets.hash LIMIT $2"
    ));
    let query = sqlx::query_as(query).bind(before.unwrap_or(i64::MAX)).bind(limit);
    Ok(query.fetch_all(connection.raw()).await?)
}

/// Reads a net's card.
///
/// # Errors
///
/// If the net does not exist.
pub async fn card(connection: &mut Connection<'_>, hash: &str) -> Result<Card, StoreError> {
    let query = sqlx::AssertSqlSafe(format!("{COLUMNS} WHERE nets.hash = $1"));
    let net: Net = sqlx::query_as(query).bind(hash.to_owned()).fetch_one(connection.raw()).await?;
    let query = sqlx::query_scalar("SELECT manifest FROM nets WHERE hash = $1").bind(hash.to_owned());
    let manifest: Option<String> = query.fetch_one(connection.raw()).await?;
    let manifest: Option<Value> = manifest.and_then(|text| serde_json::from_str(&text).ok());
    let query = "SELECT recipe, curves FROM trainings WHERE candidate = $1 ORDER BY id DESC LIMIT 1";
    let query = sqlx::query_as(query).bind(hash.to_owned());
    let training: Option<Trained> = query.fetch_optional(connection.raw()).await?;
    let (mut recipe, curves) = training.map_or((None, None), |Trained { recipe, curves }| (Some(recipe), curves));
    if recipe.is_none() {
        let text = manifest.as_ref().and_then(|manifest| manifest.pointer("/recipe/text")?.as_str());
        recipe = text.map(ToOwned::to_owned);
    }
    let query = "SELECT hash AS net, name, state FROM nets WHERE parent = $1 ORDER BY created LIMIT $2";
    let query = sqlx::query_as(query).bind(hash.to_owned()).bind(MAX_RELATIVES);
    let children: Vec<Relative> = query.fetch_all(connection.raw()).await?;
    let query = "SELECT name FROM campaigns WHERE champion = $1 ORDER BY id";
    let champion_of = sqlx::query_scalar(query).bind(hash.to_owned()).fetch_all(connection.raw()).await?;
    let query = "SELECT campaigns.name AS campaign, campaigns.changed AS changed
                 FROM campaigns JOIN trainings ON trainings.id = campaigns.training
                 WHERE trainings.candidate = $1 AND campaigns.phase = 'gating'
                 AND campaigns.state IN ('running', 'paused', 'stuck')";
    let on_trial = sqlx::query_as(query).bind(hash.to_owned()).fetch_optional(connection.raw()).await?;
    Ok(Card {
        on_trial,
        ancestors: ancestors(connection, net.parent.clone()).await?,
        matches: matches::of_net(connection, hash).await?,
        net,
        manifest,
        recipe,
        curves,
        children,
        champion_of,
    })
}

/// The ancestors, from the first net to the parent.
async fn ancestors(connection: &mut Connection<'_>, parent: Option<String>) -> Result<Vec<Relative>, StoreError> {
    let mut line: Vec<Relative> = Vec::new();
    let mut next = parent;
    while let Some(hash) = next.take() {
        let query = "SELECT hash AS net, name, state, parent FROM nets WHERE hash = $1";
        let query = sqlx::query_as(query).bind(hash);
        let row: Option<Ancestor> = query.fetch_optional(connection.raw()).await?;
        let Some(Ancestor { net, name, state, parent }) = row else { break };
        // Families have no cycles, but a corrupt database must not hang a page.
        if line.len() as i64 >= MAX_RELATIVES || line.iter().any(|known| known.net == net) {
            break;
        }
        line.push(Relative { net, name, state });
        next = parent;
    }
    line.reverse();
    Ok(line)
}
