//! Matches: standing, games and workers.

mod openings;
mod played;
mod workers;

use dataset::Header;
use protocol::campaign::Gate;
use serde::Serialize;
use sqlx::AssertSqlSafe;
use stats::{EloEstimate, Outlook};

use crate::{
    gate::{Decided, Verdict},
    matches::Standing,
    model::{JobId, JobKind, Playing},
    service::Service,
    store::{Connection, Leases, StoreError},
    timed,
};
pub use openings::{Openings, openings};
pub use played::{Memory, ReadTimeouts};
pub use workers::Worker;

/// A match in one line.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// The job's id.
    pub job: i64,
    /// Kind: match, rating, timed.
    pub kind: String,
    /// Whether it is played under a clock: its games cannot be replayed, and it decides nothing.
    pub unprovable: bool,
    /// State: open, paused, closed.
    pub state: String,
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
    /// Whether a sequential test ends it.
    #[must_use]
    pub fn is_sequential(&self) -> bool {
        self.kind == JobKind::Match.name()
    }
}

#[derive(sqlx::FromRow)]
struct Row {
    id: i64,
    kind: String,
    state: String,
    campaign: Option<String>,
    net: Option<String>,
    net_name: Option<String>,
    opponent: Option<String>,
    opponent_name: Option<String>,
    decision: Option<String>,
    created: i64,
    closed: Option<i64>,
}

impl From<Row> for Line {
    fn from(row: Row) -> Self {
        let decided: Option<Decided> = row.decision.and_then(|text| serde_json::from_str(&text).ok());
        Self {
            job: row.id,
            unprovable: row.kind == timed::KIND,
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
pub(super) async fn of_net(connection: &mut Connection<'_>, net: &str) -> Result<Vec<Line>, StoreError> {
    let query = rows("jobs.net = $1 AND jobs.gate IS NOT NULL ORDER BY jobs.id DESC LIMIT 20");
    let rows: Vec<Row> = sqlx::query_as(query).bind(net.to_owned()).fetch_all(connection.raw()).await?;
    Ok(rows.into_iter().map(Line::from).collect())
}

/// The last decided gate of a campaign.
pub(super) async fn decided(connection: &mut Connection<'_>, campaign: i64) -> Result<Option<Line>, StoreError> {
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

/// A match in detail.
#[derive(Clone, Debug, Serialize)]
pub struct Match {
    /// Summary, as in lists.
    #[serde(flatten)]
    pub line: Line,
    /// Results so far, and the verdict of the SPRT on them.
    pub standing: Standing,
    /// Elo of H0 and of H1.
    pub hypotheses: (f64, f64),
    /// Games being played.
    pub playing: Playing,
    /// Maximum number of pairs.
    pub most_pairs: i64,
    /// Elo of the evaluated pairs.
    pub elo: Option<EloEstimate>,
    /// Expected number of further games, while the match is played.
    pub outlook: Option<Outlook>,
    /// The log-likelihood ratio by number of pairs.
    pub curve: Vec<(u64, f64)>,
    /// The workers with the most pairs, and outliers.
    pub workers: Vec<Worker>,
    /// Number of workers with pairs of the match.
    pub worker_count: usize,
    /// The header of its games.
    pub header: Header,
}

/// Reads a match in detail.
///
/// # Errors
///
/// If the match does not exist.
pub async fn details(service: &Service, memory: &Memory, job: i64) -> Result<Match, StoreError> {
    let played = memory.read(service, job).await?;
    service
        .read(move |mut connection| {
            let played = played.clone();
            Box::pin(async move {
                let c = &mut connection;
                let query = rows("jobs.id = $1 AND jobs.gate IS NOT NULL");
                let row: Row = sqlx::query_as(query).bind(job).fetch_one(c.raw()).await?;
                let query = "SELECT gate, header FROM jobs WHERE id = $1";
                let (gate, header): (String, String) = sqlx::query_as(query).bind(job).fetch_one(c.raw()).await?;
                let broken = |error: serde_json::Error| StoreError::Corrupt(format!("job {job}: {error}"));
                let gate: Gate = serde_json::from_str(&gate).map_err(broken)?;
                let header: Header = serde_json::from_str(&header).map_err(broken)?;
                let shown = workers::notable(&played.workers);
                Ok(Match {
                    standing: played.standing.clone(),
                    hypotheses: (gate.elo0, gate.elo1),
                    playing: Leases::on(c.reborrow()).playing(Some(JobId(job))).await?,
                    most_pairs: i64::from(gate.most_pairs),
                    elo: played.elo,
                    outlook: played.outlook.filter(|_| row.closed.is_none()),
                    line: row.into(),
                    curve: played.curve.clone(),
                    workers: workers::named(c, &shown).await?,
                    worker_count: played.workers.len(),
                    header,
                })
            })
        })
        .await
}

/// A page (counted from 0) of a match's workers, by number of pairs.
///
/// # Errors
///
/// If the match does not exist.
pub async fn all_workers(service: &Service, memory: &Memory, job: i64, page: usize) -> Result<Vec<Worker>, StoreError> {
    let played = memory.read(service, job).await?;
    let part = workers::page(&played.workers, page);
    service
        .read(move |mut connection| {
            let part = part.clone();
            Box::pin(async move { workers::named(&mut connection, &part).await })
        })
        .await
}
