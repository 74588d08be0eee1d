//! Matches: how they stand, game by game and worker by worker.

use dataset::Header;
use protocol::campaign::Gate;
use serde::Serialize;
use sqlx::AssertSqlSafe;
use stats::{Decision, EloEstimate, Outlook};

use crate::{
    campaigns::matches::{self, Standing},
    gate::{self, Verdict},
    store::{Connection, Failure, Outcome},
    timed,
    work::counting,
};

/// So many points of a curve are told: more than a picture shows.
const MOST_POINTS: usize = 400;

/// From how many standard deviations on a worker's results are worth a look.
const OUTLIER: f64 = 3.0;

/// A match in one line.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Its number.
    pub job: i64,
    /// match, rating, timed.
    pub kind: String,
    /// Whether it was played under a clock: then nobody can prove it, and it decides nothing.
    pub unprovable: bool,
    /// open, paused, closed.
    pub state: String,
    /// The campaign whose gate it is.
    pub campaign: Option<String>,
    /// The candidate.
    pub net: Option<String>,
    /// What it is called.
    pub net_name: Option<String>,
    /// Its opponent; none for the plain evaluation.
    pub opponent: Option<String>,
    /// What that is called.
    pub opponent_name: Option<String>,
    /// What was decided.
    pub verdict: Option<Verdict>,
    /// When it began.
    pub created: i64,
    /// When it ended.
    pub closed: Option<i64>,
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
            verdict: row.decision.and_then(|text| serde_json::from_str(&text).ok()),
            created: row.created,
            closed: row.closed,
        }
    }
}

/// The rows of matches that are so.
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
pub(super) async fn of_net(connection: &mut Connection<'_>, net: &str) -> Outcome<Vec<Line>> {
    let query = rows("jobs.net = $1 AND jobs.gate IS NOT NULL ORDER BY jobs.id DESC LIMIT 20");
    let rows: Vec<Row> = sqlx::query_as(query).bind(net.to_owned()).fetch_all(connection.raw()).await?;
    Ok(rows.into_iter().map(Line::from).collect())
}

/// The last matches, the newest first.
///
/// # Errors
///
/// If the database fails.
pub async fn list(connection: &mut Connection<'_>) -> Outcome<Vec<Line>> {
    let query = rows("jobs.gate IS NOT NULL ORDER BY jobs.id DESC LIMIT 100");
    let rows: Vec<Row> = sqlx::query_as(query).fetch_all(connection.raw()).await?;
    Ok(rows.into_iter().map(Line::from).collect())
}

/// A match.
#[derive(Clone, Debug, Serialize)]
pub struct Match {
    /// In one line.
    #[serde(flatten)]
    pub line: Line,
    /// How it stands.
    pub standing: Standing,
    /// The hypotheses, in Elo.
    pub hypotheses: (f64, f64),
    /// The most pairs that it plays.
    pub most_pairs: i64,
    /// Elo, by the pairs that the test has looked at.
    pub elo: Option<EloEstimate>,
    /// How many more games it takes, if it goes on like this.
    pub outlook: Option<Outlook>,
    /// The log-likelihood ratio after so many pairs.
    pub curve: Vec<(u64, f64)>,
    /// Who played it.
    pub workers: Vec<Worker>,
    /// What its games are a function of.
    pub header: Header,
}

/// What a worker's pairs brought the candidate.
#[derive(Clone, Debug, Serialize)]
pub struct Worker {
    /// Its number.
    pub worker: i64,
    /// Whose it is.
    pub account: String,
    /// Its name.
    pub name: String,
    /// How many pairs.
    pub pairs: i64,
    /// Pairs by the candidate's score.
    pub counts: [i64; 5],
    /// The candidate's score, from 0 to 1.
    pub score: f64,
    /// How many standard deviations that is from all others.
    pub deviation: f64,
    /// Whether that is worth a look.
    pub is_outlier: bool,
}

/// A match.
///
/// # Errors
///
/// If it is none.
pub async fn details(connection: &mut Connection<'_>, job: i64) -> Outcome<Match> {
    let query = rows("jobs.id = $1 AND jobs.gate IS NOT NULL");
    let row: Row = sqlx::query_as(query).bind(job).fetch_one(connection.raw()).await?;
    let query = "SELECT gate, header FROM jobs WHERE id = $1";
    let (gate, header): (String, String) = sqlx::query_as(query).bind(job).fetch_one(connection.raw()).await?;
    let broken = |error: serde_json::Error| Failure::Broken(format!("job {job}: {error}"));
    let gate: Gate = serde_json::from_str(&gate).map_err(broken)?;
    let header: Header = serde_json::from_str(&header).map_err(broken)?;
    let standing = matches::standing(connection, job).await?;
    let pairs = counting::pairs(connection, job).await?;
    let is_tested = standing.timed.is_none();
    let curve = if is_tested { gate::curve(&standing.test, gate.batch_pairs, &pairs).ok() } else { None };
    let curve = curve.unwrap_or_default();
    let elo = match standing.timed {
        Some(timed) => timed.elo,
        None => (standing.verdict.pairs > 0).then(|| standing.test.estimate(standing.verdict.counts)),
    };
    let is_going_on = is_tested && standing.verdict.decision == Decision::Continue && standing.verdict.pairs > 0;
    let outlook = is_going_on.then(|| standing.test.outlook(standing.verdict.counts).ok()).flatten();
    Ok(Match {
        line: row.into(),
        hypotheses: (gate.elo0, gate.elo1),
        most_pairs: i64::from(gate.most_pairs),
        elo: elo.filter(|elo| elo.elo_low.is_finite() && elo.elo_high.is_finite()),
        outlook: outlook.filter(|outlook| outlook.games_to_go.is_finite()),
        curve: thinned(curve),
        workers: workers(connection, job).await?,
        standing,
        header,
    })
}

/// A curve of few points, the last among them.
fn thinned(curve: Vec<(u64, f64)>) -> Vec<(u64, f64)> {
    let step = curve.len().div_ceil(MOST_POINTS).max(1);
    let last = curve.len().saturating_sub(1);
    curve.into_iter().enumerate().filter(|(place, _)| place % step == 0 || *place == last).map(|it| it.1).collect()
}

async fn workers(connection: &mut Connection<'_>, job: i64) -> Outcome<Vec<Worker>> {
    let query = "SELECT workers.id, accounts.name, workers.name, shards.pairs
                 FROM shards JOIN workers ON workers.id = shards.worker JOIN accounts ON accounts.id = shards.account
                 WHERE shards.job = $1 AND shards.state = 'validated' AND shards.pairs IS NOT NULL
                 ORDER BY workers.id, shards.id";
    let rows: Vec<(i64, String, String, Vec<u8>)> = sqlx::query_as(query).bind(job).fetch_all(connection.raw()).await?;
    let mut all: Vec<Worker> = Vec::new();
    for (worker, account, name, pairs) in rows {
        if all.last().is_none_or(|last| last.worker != worker) {
            let counts = [0; 5];
            all.push(Worker { worker, account, name, pairs: 0, counts, score: 0.5, deviation: 0.0, is_outlier: false });
        }
        if let Some(last) = all.last_mut() {
            last.pairs += pairs.len() as i64;
            for pair in pairs {
                last.counts[usize::from(pair.min(4))] += 1;
            }
        }
    }
    let total = all.iter().fold([0; 5], |total, worker| std::array::from_fn(|cell| total[cell] + worker.counts[cell]));
    for worker in &mut all {
        worker.score = mean(&worker.counts).0;
        let others: [i64; 5] = std::array::from_fn(|cell| total[cell] - worker.counts[cell]);
        let (n, m) = (worker.pairs as f64, others.iter().sum::<i64>() as f64);
        if n >= 4.0 && m >= 4.0 {
            let variance = mean(&total).1;
            let deviation = (variance * (1.0 / n + 1.0 / m)).sqrt();
            worker.deviation = if deviation > 0.0 { (worker.score - mean(&others).0) / deviation } else { 0.0 };
            worker.is_outlier = worker.deviation.abs() > OUTLIER;
        }
    }
    all.sort_by(|a, b| b.pairs.cmp(&a.pairs).then(a.worker.cmp(&b.worker)));
    Ok(all)
}

/// Mean and variance of a pair's score, from 0 to 1.
fn mean(counts: &[i64; 5]) -> (f64, f64) {
    let pairs = counts.iter().sum::<i64>().max(1) as f64;
    let sum = |power: i32| (0..5).map(|cell| counts[cell] as f64 * (cell as f64 / 4.0).powi(power)).sum::<f64>();
    let mean = sum(1) / pairs;
    (mean, (sum(2) / pairs - mean * mean).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thinned_curve_keeps_its_ends() {
        let curve: Vec<(u64, f64)> = (0..1_001).map(|at| (at, 0.0)).collect();
        let thin = thinned(curve);
        assert!(thin.len() <= MOST_POINTS + 1, "{}", thin.len());
        assert_eq!((thin.first().map(|it| it.0), thin.last().map(|it| it.0)), (Some(0), Some(1_000)));
        assert!(thinned(Vec::new()).is_empty());
    }

    #[test]
    fn a_score_has_a_mean_and_a_variance() {
        assert_eq!(mean(&[1, 0, 0, 0, 1]), (0.5, 0.25));
        assert_eq!(mean(&[0, 0, 9, 0, 0]), (0.5, 0.0));
    }
}
