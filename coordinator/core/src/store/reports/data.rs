//! The data: number and results of games, rejected shards.

use dataset::stats::Figures as Counted;
use serde::Serialize;

use super::ROWS;
use crate::{
    clock::Time,
    model::{Figures, JobId, Reason, ShardId, ShardState},
    store::{Connection, StoreError, Totals, convert::row},
};

/// Days shown.
const DAYS: i64 = 30;

/// The state of the data.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Data {
    /// Shards, games and bytes by state of the shard.
    pub states: Vec<State>,
    /// Validated data by day, the oldest first, with empty days.
    pub days: Vec<Day>,
    /// Validated games by outcome, the most frequent first.
    pub outcomes: Vec<Label>,
    /// Validated games by reason of their end.
    pub reasons: Vec<Label>,
    /// Statistics of self-play positions.
    pub figures: Positions,
    /// Duplicate deliveries, by result of their comparison.
    pub comparisons: Vec<Label>,
    /// Training sets, the newest first.
    pub manifests: Vec<Manifest>,
    /// Rejected, disputed and quarantined shards, the newest first, one page.
    pub set_aside: Vec<Aside>,
}

/// Shards in a state.
#[derive(Clone, Debug, Serialize)]
pub struct State {
    /// State: received, validated, rejected, disputed, quarantined.
    pub state: ShardState,
    /// Number of shards.
    pub shards: i64,
    /// Number of their games.
    pub games: i64,
    /// Number of their positions with a searched move.
    pub positions: i64,
    /// Length of their files, in bytes.
    pub bytes: i64,
}

row!(State { state, shards, games, positions, bytes });

/// The data validated on a day.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Day {
    /// The day (UTC), counted from 1970.
    pub day: i64,
    /// Number of validated games.
    pub games: i64,
    /// Number of their positions with a searched move.
    pub positions: i64,
    /// Length of their shards, in bytes.
    pub bytes: i64,
}

row!(Day { day, games, positions, bytes });

/// Number of games or comparisons with a label.
#[derive(Clone, Debug, Serialize)]
pub struct Label {
    /// Outcome, reason of the end, or result of a comparison.
    pub label: String,
    /// Number of games or comparisons.
    pub count: i64,
}

row!(Label { label, count });

/// Statistics of the training positions: those of validated self-play games.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Positions {
    /// Positions counted, since statistics exist.
    pub positions: i64,
    /// Positions without a score.
    pub unscored: i64,
    /// Repeated positions within a shard.
    pub repeated: i64,
    /// By score for the side to move, in ascending classes of a hundred. The first and the last
    /// class are open.
    pub scores: Vec<Class>,
    /// By number of pieces.
    pub pieces: Vec<Class>,
}

/// A class of positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Class {
    /// The least score or number of pieces of the class.
    pub from: i64,
    /// Number of positions in the class.
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
            scores: classes(&figures.scores, |class| i64::from(Counted::min_score(class))),
            pieces: classes(&figures.pieces, |class| class as i64),
        }
    }
}

/// A frozen training set.
#[derive(Clone, Debug, Serialize)]
pub struct Manifest {
    /// SHA-256 of the manifest's text, which names the training set.
    pub manifest: String,
    /// Name of the campaign whose games it lists.
    pub campaign: Option<String>,
    /// The newest generation of its games.
    pub generation: i64,
    /// Number of games in all its shards.
    pub games: i64,
    /// Number of positions in all its shards.
    pub positions: i64,
    /// Time of freezing, in milliseconds since 1970.
    pub created: i64,
}

row!(Manifest { manifest, campaign, generation, games, positions, created });

/// A rejected, disputed or quarantined shard.
#[derive(Clone, Debug, Serialize)]
pub struct Aside {
    /// Id of the shard's row.
    pub shard: ShardId,
    /// SHA-256 of its file.
    pub hash: String,
    /// State: rejected, disputed, quarantined.
    pub state: ShardState,
    /// Id of the job of its games.
    pub job: JobId,
    /// Number of its first game in the job.
    pub first: i64,
    /// Number of games.
    pub games: i64,
    /// Problem code of a rejection.
    pub code: Option<String>,
    /// Reason of a rejection, for people.
    #[serde(serialize_with = "Reason::as_text")]
    pub detail: Option<Reason>,
    /// Time of upload, in milliseconds since 1970.
    pub received: i64,
}

row!(Aside { shard, hash, state, job, first, games, code, detail, received });

/// Reads the state of the data, with one page (counted from 0) of training sets and set-aside
/// shards.
pub async fn data(connection: &mut Connection<'_>, now: Time, page: i64) -> Result<Data, StoreError> {
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
        figures: Totals::on(connection.reborrow()).selfplay_figures().await?.into(),
        comparisons,
        manifests,
        set_aside: set_aside(connection, page).await?,
    })
}

async fn labels(connection: &mut Connection<'_>, kind: &str) -> Result<Vec<Label>, StoreError> {
    let query = "SELECT label, CAST(SUM(games) AS BIGINT) AS count FROM labels WHERE kind = $1
                 GROUP BY label HAVING SUM(games) > 0 ORDER BY count DESC, label";
    Ok(sqlx::query_as(query).bind(kind.to_owned()).fetch_all(connection.raw()).await?)
}

async fn set_aside(connection: &mut Connection<'_>, page: i64) -> Result<Vec<Aside>, StoreError> {
    let query = "SELECT id AS shard, hash, state, job, first, games, code, detail, received FROM shards
                 WHERE state IN ('rejected', 'disputed', 'quarantined') ORDER BY id DESC LIMIT $1 OFFSET $2";
    Ok(sqlx::query_as(query).bind(ROWS).bind(page.max(0) * ROWS).fetch_all(connection.raw()).await?)
}
