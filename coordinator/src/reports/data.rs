//! The games: how many there are, how they ended, what was refused.

use dataset::stats::Figures as Counted;
use serde::Serialize;

use super::people::ROWS;
use crate::{
    clock::Time,
    store::{Connection, Outcome},
    work::figures::{self, Figures},
};

/// So many days are told.
const DAYS: i64 = 30;

/// The games that there are.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Data {
    /// Shards by state.
    pub states: Vec<State>,
    /// What was validated each day, the oldest first; days without games as well.
    pub days: Vec<Day>,
    /// Validated games by outcome, the most first.
    pub outcomes: Vec<Label>,
    /// Validated games by why they ended.
    pub reasons: Vec<Label>,
    /// What the positions of self-play are like.
    pub figures: Positions,
    /// Games that two delivered, by how the comparison ended.
    pub comparisons: Vec<Label>,
    /// Training sets, the newest first.
    pub manifests: Vec<Manifest>,
    /// Shards that count for nothing, the newest first.
    pub set_aside: Vec<Aside>,
}

/// Shards in a state.
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
pub struct State {
    /// received, validated, rejected, disputed, quarantined.
    pub state: String,
    /// Shards.
    pub shards: i64,
    /// Games.
    pub games: i64,
    /// Positions.
    pub positions: i64,
    /// Bytes.
    pub bytes: i64,
}

/// A day.
#[derive(Clone, Copy, Debug, Default, Serialize, sqlx::FromRow)]
pub struct Day {
    /// Days since 1970.
    pub day: i64,
    /// Validated games.
    pub games: i64,
    /// Their positions.
    pub positions: i64,
    /// Their bytes.
    pub bytes: i64,
}

/// How many games, or comparisons, are so.
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
pub struct Label {
    /// The word for it.
    pub label: String,
    /// How many.
    pub count: i64,
}

/// What the positions of validated games of self-play are like: those that nets learn from.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Positions {
    /// How many were counted: those of games that were validated since there are figures.
    pub positions: i64,
    /// Without a score.
    pub unscored: i64,
    /// That were there already in the same shard.
    pub repeated: i64,
    /// By their score for the side to move, in classes of a hundred; from the least. The first class has all below its
    /// end, the last all from its beginning on.
    pub scores: Vec<Class>,
    /// By how many pieces are on the board.
    pub pieces: Vec<Class>,
}

/// Positions of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Class {
    /// Where it begins.
    pub from: i64,
    /// How many.
    pub positions: i64,
}

impl From<Figures> for Positions {
    fn from(figures: Figures) -> Self {
        let classes = |counts: &[i64], from: fn(usize) -> i64| {
            counts.iter().enumerate().map(|(class, &positions)| Class { from: from(class), positions }).collect()
        };
        Self {
            positions: figures.positions(),
            unscored: figures.unscored,
            repeated: figures.repeated,
            scores: classes(&figures.scores, |class| i64::from(Counted::least_score(class))),
            pieces: classes(&figures.pieces, |class| class as i64),
        }
    }
}

/// A training set.
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
pub struct Manifest {
    /// Its SHA-256.
    pub manifest: String,
    /// The campaign.
    pub campaign: Option<String>,
    /// The newest generation in it.
    pub generation: i64,
    /// Games.
    pub games: i64,
    /// Positions.
    pub positions: i64,
    /// When it was frozen.
    pub created: i64,
}

/// A shard that counts for nothing.
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
pub struct Aside {
    /// Its number.
    pub shard: i64,
    /// Its SHA-256.
    pub hash: String,
    /// rejected, disputed, quarantined.
    pub state: String,
    /// The job.
    pub job: i64,
    /// Its first game.
    pub first: i64,
    /// How many games.
    pub games: i64,
    /// Why, as a word.
    pub code: Option<String>,
    /// Why, for people.
    pub detail: Option<String>,
    /// When it came.
    pub received: i64,
}

/// The games that there are; of training sets and of what counts for nothing a page, counted from 0.
///
/// # Errors
///
/// If the database fails.
pub async fn data(connection: &mut Connection<'_>, now: Time, page: i64) -> Outcome<Data> {
    let query = "SELECT state, CAST(SUM(shards) AS BIGINT) AS shards, CAST(SUM(games) AS BIGINT) AS games,
                        CAST(SUM(positions) AS BIGINT) AS positions, CAST(SUM(bytes) AS BIGINT) AS bytes
                 FROM totals GROUP BY state HAVING SUM(shards) > 0
                 UNION ALL SELECT 'received', COUNT(*), CAST(COALESCE(SUM(games), 0) AS BIGINT),
                        CAST(COALESCE(SUM(positions), 0) AS BIGINT), CAST(COALESCE(SUM(bytes), 0) AS BIGINT)
                 FROM shards WHERE state = 'received'";
    let states: Vec<State> = sqlx::query_as(query).fetch_all(connection.raw()).await?;
    let first = now.day() + 1 - DAYS;
    let query = "SELECT day, CAST(SUM(games) AS BIGINT) AS games, CAST(SUM(positions) AS BIGINT) AS positions,
                        CAST(SUM(bytes) AS BIGINT) AS bytes
                 FROM totals WHERE state = 'validated' AND day >= $1 GROUP BY day";
    let found: Vec<Day> = sqlx::query_as(query).bind(first).fetch_all(connection.raw()).await?;
    let of = |day| found.iter().find(|found| found.day == day).copied().unwrap_or(Day { day, ..Day::default() });
    let days = (first..=now.day()).map(of).collect();
    let query = "SELECT state AS label, COUNT(*) AS count FROM comparisons GROUP BY state ORDER BY count DESC";
    let comparisons = sqlx::query_as(query).fetch_all(connection.raw()).await?;
    let query = "SELECT hash AS manifest, campaigns.name AS campaign, manifests.generation AS generation, games,
                        positions, manifests.created AS created
                 FROM manifests LEFT JOIN campaigns ON campaigns.id = manifests.campaign
                 ORDER BY manifests.created DESC, hash LIMIT $1 OFFSET $2";
    let query = sqlx::query_as(query).bind(ROWS).bind(page.max(0) * ROWS);
    let manifests = query.fetch_all(connection.raw()).await?;
    Ok(Data {
        states,
        days,
        outcomes: labels(connection, "outcome").await?,
        reasons: labels(connection, "reason").await?,
        figures: figures::of_selfplay(connection).await?.into(),
        comparisons,
        manifests,
        set_aside: set_aside(connection, page).await?,
    })
}

async fn labels(connection: &mut Connection<'_>, kind: &str) -> Outcome<Vec<Label>> {
    let query = "SELECT label, CAST(SUM(games) AS BIGINT) AS count FROM labels WHERE kind = $1
                 GROUP BY label HAVING SUM(games) > 0 ORDER BY count DESC, label";
    Ok(sqlx::query_as(query).bind(kind.to_owned()).fetch_all(connection.raw()).await?)
}

async fn set_aside(connection: &mut Connection<'_>, page: i64) -> Outcome<Vec<Aside>> {
    let query = "SELECT id AS shard, hash, state, job, first, games, code, detail, received FROM shards
                 WHERE state IN ('rejected', 'disputed', 'quarantined') ORDER BY id DESC LIMIT $1 OFFSET $2";
    Ok(sqlx::query_as(query).bind(ROWS).bind(page.max(0) * ROWS).fetch_all(connection.raw()).await?)
}
