//! Matches: their lines in lists, and the rows of their figures.

use serde::Serialize;
use sqlx::AssertSqlSafe;
use stats::EloEstimate;

use crate::{
    gate::{Decided, Verdict},
    model::{AccountId, CampaignId, JobId, JobKind, JobState, ShardState, WorkerId},
    store::{Connection, StoreError, convert::row},
};

/// A match in one line.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// The job's id.
    pub job: JobId,
    /// Kind: match, rating, timed.
    pub kind: JobKind,
    /// Whether it is played under a clock: its games cannot be replayed, and it decides nothing.
    pub unprovable: bool,
    /// State: open, paused, closed.
    pub state: JobState,
    /// Name of the campaign; none for a match outside of campaigns.
    pub campaign: Option<String>,
    /// SHA-256 of the candidate (net A); none for the plain evaluation.
    pub net: Option<String>,
    /// The candidate's name, for people.
    pub net_name: Option<String>,
    /// SHA-256 of its opponent (net B); none for the plain evaluation.
    pub opponent: Option<String>,
    /// The opponent's name, for people.
    pub opponent_name: Option<String>,
    /// The verdict with which the match was closed; none before.
    pub verdict: Option<Verdict>,
    /// The Elo of the verdict's pairs; none before, and in matches of older versions.
    pub elo: Option<EloEstimate>,
    /// Begin, in milliseconds since 1970.
    pub created: i64,
    /// End, in milliseconds since 1970; none while it runs.
    pub closed: Option<i64>,
}

impl Line {
    /// Whether it is being played.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.state == JobState::Open
    }

    /// Whether a sequential test ends it.
    #[must_use]
    pub fn is_sequential(&self) -> bool {
        self.kind == JobKind::Match
    }
}

struct Row {
    id: JobId,
    kind: JobKind,
    state: JobState,
    campaign: Option<String>,
    net: Option<String>,
    net_name: Option<String>,
    opponent: Option<String>,
    opponent_name: Option<String>,
    decision: Option<String>,
    created: i64,
    closed: Option<i64>,
}

row!(Row { id, kind, state, campaign, net, net_name, opponent, opponent_name, decision, created, closed });

impl From<Row> for Line {
    fn from(row: Row) -> Self {
        let decided: Option<Decided> = row.decision.and_then(|text| serde_json::from_str(&text).ok());
        Self {
            job: row.id,
            unprovable: row.kind == JobKind::Timed,
            kind: row.kind,
            state: row.state,
            campaign: row.campaign,
            net: row.net,
            net_name: row.net_name,
            opponent: row.opponent,
            opponent_name: row.opponent_name,
            verdict: decided.map(|decided| decided.verdict),
            elo: decided.and_then(|decided| decided.elo),
            created: row.created,
            closed: row.closed,
        }
    }
}

/// Builds the query for matches that meet a condition.
fn rows(condition: &'static str) -> AssertSqlSafe<String> {
    AssertSqlSafe(format!(
        "SELECT jobs.id AS id, jobs.kind AS kind, jobs.state AS state, campaigns.name AS campaign,
                jobs.net AS net, own.name AS net_name, jobs.opponent AS opponent, other.name AS opponent_name,
                jobs.decision AS decision, jobs.created AS created, jobs.closed AS closed
         FROM jobs LEFT JOIN campaigns ON campaigns.id = jobs.campaign
         LEFT JOIN nets AS own ON own.hash = jobs.net LEFT JOIN nets AS other ON other.hash = jobs.opponent
         WHERE {condition}"
    ))
}

/// The matches of a net, the newest first.
pub async fn of_net(connection: &mut Connection<'_>, net: &str) -> Result<Vec<Line>, StoreError> {
    let query = rows("jobs.net = $1 AND jobs.gate IS NOT NULL ORDER BY jobs.id DESC LIMIT 20");
    let rows: Vec<Row> = sqlx::query_as(query).bind(net.to_owned()).fetch_all(connection.raw()).await?;
    Ok(rows.into_iter().map(Line::from).collect())
}

/// The last decided gate of a campaign.
pub async fn decided(connection: &mut Connection<'_>, campaign: CampaignId) -> Result<Option<Line>, StoreError> {
    let query =
        rows("jobs.campaign = $1 AND jobs.kind = 'match' AND jobs.decision IS NOT NULL ORDER BY jobs.id DESC LIMIT 1");
    let row: Option<Row> = sqlx::query_as(query).bind(campaign).fetch_optional(connection.raw()).await?;
    Ok(row.map(Line::from))
}

/// Matches per page.
pub const PAGE: i64 = 100;

/// A page of matches, counted from 0, the newest first.
pub async fn list(connection: &mut Connection<'_>, page: i64) -> Result<Vec<Line>, StoreError> {
    let query = rows("jobs.gate IS NOT NULL ORDER BY jobs.id DESC LIMIT $1 OFFSET $2");
    let query = sqlx::query_as(query).bind(PAGE).bind(page.max(0) * PAGE);
    let rows: Vec<Row> = query.fetch_all(connection.raw()).await?;
    Ok(rows.into_iter().map(Line::from).collect())
}

/// A match, if it exists.
pub async fn get(connection: &mut Connection<'_>, job: JobId) -> Result<Line, StoreError> {
    let query = rows("jobs.id = $1 AND jobs.gate IS NOT NULL");
    let row: Row = sqlx::query_as(query).bind(job).fetch_one(connection.raw()).await?;
    Ok(row.into())
}

/// Change marker: it differs after every change of the match's figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    job: MarkedJob,
    totals: Vec<MarkedTotals>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct MarkedJob {
    state: JobState,
    decision: Option<String>,
    frontier: i64,
}

row!(MarkedJob { state, decision, frontier });

#[derive(Clone, Debug, PartialEq, Eq)]
struct MarkedTotals {
    state: ShardState,
    shards: i64,
    games: i64,
    positions: i64,
    bytes: i64,
}

row!(MarkedTotals { state, shards, games, positions, bytes });

impl Mark {
    /// The number of the match's shards.
    #[must_use]
    pub fn shards(&self) -> i64 {
        self.totals.iter().map(|totals| totals.shards).sum()
    }
}

/// The marker of a match.
pub async fn mark(connection: &mut Connection<'_>, job: JobId) -> Result<Mark, StoreError> {
    let query = "SELECT state, decision, frontier FROM jobs WHERE id = $1 AND gate IS NOT NULL";
    let marked = sqlx::query_as(query).bind(job).fetch_one(connection.raw()).await?;
    let query = "SELECT state, CAST(SUM(shards) AS BIGINT) AS shards, CAST(SUM(games) AS BIGINT) AS games,
                        CAST(SUM(positions) AS BIGINT) AS positions, CAST(SUM(bytes) AS BIGINT) AS bytes
                 FROM totals WHERE job = $1 GROUP BY state ORDER BY state";
    Ok(Mark { job: marked, totals: sqlx::query_as(query).bind(job).fetch_all(connection.raw()).await? })
}

/// The pairs of a counted shard.
#[derive(Clone, Debug)]
pub struct PlayedPairs {
    /// The worker that played them.
    pub worker: WorkerId,
    /// Its account.
    pub account: AccountId,
    /// The candidate's points of each pair, from 0 to 4 halves.
    pub pairs: Vec<u8>,
}

row!(PlayedPairs { worker, account, pairs });

/// The pairs of a match's counted shards.
pub async fn played(connection: &mut Connection<'_>, job: JobId) -> Result<Vec<PlayedPairs>, StoreError> {
    let query = "SELECT worker, account, pairs FROM shards
                 WHERE job = $1 AND state = 'validated' AND pairs IS NOT NULL";
    Ok(sqlx::query_as(query).bind(job).fetch_all(connection.raw()).await?)
}

/// A worker with the name of its account.
#[derive(Clone, Debug)]
pub struct NamedWorker {
    /// The worker's id.
    pub worker: WorkerId,
    /// The machine's name.
    pub name: String,
    /// Name of the owner's account.
    pub account: String,
}

row!(NamedWorker { worker, name, account });

/// The current names of some workers and their accounts.
pub async fn names(
    connection: &mut Connection<'_>,
    workers: impl Iterator<Item = (WorkerId, AccountId)> + Send,
) -> Result<Vec<NamedWorker>, StoreError> {
    let mut numbers: Vec<String> = workers.map(|(worker, account)| format!("({worker}, {account})")).collect();
    numbers.push("(0, 0)".to_owned());
    // Safe SQL: the text holds integers only.
    let query = format!(
        "SELECT workers.id AS worker, workers.name AS name, accounts.name AS account
         FROM (VALUES {}) AS pair CROSS JOIN workers CROSS JOIN accounts
         WHERE workers.id = pair.column1 AND accounts.id = pair.column2",
        numbers.join(", ")
    );
    Ok(sqlx::query_as(AssertSqlSafe(query)).fetch_all(connection.raw()).await?)
}

/// A shard of a match, whose file is kept.
#[derive(Clone, Debug)]
pub struct PairShard {
    /// SHA-256 of its file.
    pub hash: String,
    /// The candidate's points of each pair.
    pub pairs: Vec<u8>,
}

row!(PairShard { hash, pairs });

/// Up to two shards of a match, after some others.
pub async fn shards(connection: &mut Connection<'_>, job: JobId, after: i64) -> Result<Vec<PairShard>, StoreError> {
    let query = "SELECT hash, pairs FROM shards WHERE job = $1 AND state = 'validated'
                 AND pairs IS NOT NULL AND object = 'present' ORDER BY first, id LIMIT 2 OFFSET $2";
    Ok(sqlx::query_as(query).bind(job).bind(after.max(0)).fetch_all(connection.raw()).await?)
}
