//! Validation: every shard is replayed under the arbiter before it counts.

use dataset::{Digest, Header};
use protocol::api::problem::Code;

use super::{
    JobRow, MAX_GAMES_PER_LEASE, audit, cost_per_position, figures::Figures, header_of, lock_job, segments, totals,
};
use crate::{
    choices,
    clock::Time,
    events::{Event, record_event},
    model::{JobId, Reason, WorkerId},
    store::{Connection, StoreError},
};

/// A claimed shard.
#[derive(Clone, Debug)]
pub struct ToValidate {
    /// Id for reporting the result.
    pub shard: i64,
    /// Hash of its object.
    pub hash: Digest,
    /// The header that determines its games.
    pub header: Header,
    /// Numbers of its games.
    pub games: std::ops::Range<u64>,
}

/// Claims shards until a time; if this coordinator crashes, others claim them after it.
pub async fn claim(
    connection: &mut Connection<'_>,
    now: Time,
    limit: i64,
    until: Time,
) -> Result<Vec<ToValidate>, StoreError> {
    let query = "SELECT id FROM shards WHERE state = 'received' AND claimed_until < $1 ORDER BY id LIMIT $2";
    let query = connection.skip_locked(query, "shards");
    let ids: Vec<i64> = sqlx::query_scalar(query).bind(now.0).bind(limit).fetch_all(connection.raw()).await?;
    let mut claimed = Vec::new();
    for shard in ids {
        let query = "UPDATE shards SET claimed_until = $2 WHERE id = $1";
        sqlx::query(query).bind(shard).bind(until.0).execute(connection.raw()).await?;
        let query = "SELECT shards.hash, shards.first, shards.games, jobs.header
                     FROM shards JOIN jobs ON jobs.id = shards.job WHERE shards.id = $1";
        type Row = (String, i64, i64, String);
        let (hash, first, games, header): Row = sqlx::query_as(query).bind(shard).fetch_one(connection.raw()).await?;
        let Ok(hash) = hash.parse() else { continue };
        let games = first as u64..(first + games) as u64;
        claimed.push(ToValidate { shard, hash, header: header_of(&header)?, games });
    }
    Ok(claimed)
}

/// Returns the number of shards waiting for validation, up to 10,000.
pub async fn backlog(connection: &mut Connection<'_>) -> Result<i64, StoreError> {
    let query = "SELECT COUNT(*) FROM (SELECT 1 FROM shards WHERE state = 'received' LIMIT 10000) AS waiting";
    Ok(sqlx::query_scalar(query).fetch_one(connection.raw()).await?)
}

/// The result of a successful validation.
#[derive(Clone, Debug, Default)]
pub struct ValidationReport {
    /// Number of positions with a move of the search.
    pub positions: u64,
    /// Games by outcome, as JSON.
    pub outcomes: String,
    /// Games by reason, as JSON.
    pub reasons: String,
    /// Match: the candidate's score of each pair, from 0 to 4.
    pub pairs: Option<Vec<u8>>,
    /// Match under a clock: for each pair, the candidate's losses on time plus three times the
    /// opponent's.
    pub time_losses: Option<Vec<u8>>,
    /// The shard's line in manifests.
    pub entry: String,
    /// Statistics of its positions.
    pub figures: Figures,
}

#[derive(sqlx::FromRow)]
struct ShardRow {
    job: i64,
    account: i64,
    worker: i64,
    first: i64,
    games: i64,
    state: String,
    validated: Option<i64>,
    kind: String,
}

impl ShardRow {
    /// Whether a verdict is pending. Two claimants may both report one after a claim expired.
    fn is_pending(&self) -> bool {
        self.validated.is_none() && matches!(self.state.as_str(), "received" | "quarantined")
    }
}

async fn lock(connection: &mut Connection<'_>, shard: i64) -> Result<(ShardRow, JobRow), StoreError> {
    let job: i64 =
        sqlx::query_scalar("SELECT job FROM shards WHERE id = $1").bind(shard).fetch_one(connection.raw()).await?;
    let job = lock_job(connection, job).await?;
    let query = "SELECT shards.job AS job, shards.account AS account, shards.worker AS worker, shards.first AS first,
                        shards.games AS games, shards.state AS state, shards.validated AS validated,
                        leases.kind AS kind
                 FROM shards JOIN leases ON leases.id = shards.lease WHERE shards.id = $1";
    Ok((sqlx::query_as(query).bind(shard).fetch_one(connection.raw()).await?, job))
}

/// Accepts a valid shard: its games count. `draw` is random and decides on an audit.
pub async fn accept(
    connection: &mut Connection<'_>,
    now: Time,
    shard: i64,
    report: &ValidationReport,
    draw: u64,
) -> Result<(), StoreError> {
    let (row, job) = lock(connection, shard).await?;
    if !row.is_pending() {
        return Ok(());
    }
    totals::leave(connection, shard).await?;
    let query = "UPDATE shards SET validated = $2, positions = $3, outcomes = $4, reasons = $5, pairs = $6, entry = $7, figures = $8,
                 time_losses = $9,
                 state = CASE state WHEN 'received' THEN 'validated' ELSE state END WHERE id = $1";
    let query = sqlx::query(query).bind(shard).bind(now.0).bind(report.positions as i64);
    let query = query.bind(report.outcomes.clone()).bind(report.reasons.clone()).bind(report.pairs.clone());
    let query = query.bind(report.entry.clone()).bind(report.figures.to_text()).bind(report.time_losses.clone());
    query.execute(connection.raw()).await?;
    totals::enter(connection, shard).await?;
    if row.state == "received" {
        update_cost(connection, &job, &row, report.positions).await?;
    }
    // A quarantined shard is credited and sampled as usual, in case the quarantine is lifted.
    credit(connection, now, shard, &row, report.positions).await?;
    sample_for_audit(connection, shard, &row, &job, draw).await
}

/// Updates the estimated cost of a game (moving average with weight 1/4).
async fn update_cost(
    connection: &mut Connection<'_>,
    job: &JobRow,
    row: &ShardRow,
    positions: u64,
) -> Result<(), StoreError> {
    if positions == 0 || row.games == 0 {
        return Ok(());
    }
    let cost = positions as i64 * cost_per_position(&job.header) / row.games;
    let query = "UPDATE jobs SET nodes_per_game = (nodes_per_game * 3 + $2) / 4 WHERE id = $1";
    sqlx::query(query).bind(job.id).bind(cost.max(1)).execute(connection.raw()).await?;
    Ok(())
}

/// Credits games to the account that played them, each once.
async fn credit(
    connection: &mut Connection<'_>,
    now: Time,
    shard: i64,
    row: &ShardRow,
    positions: u64,
) -> Result<(), StoreError> {
    let query = "SELECT first, games FROM shards WHERE job = $1 AND account = $2 AND id <> $3 AND validated IS NOT NULL
                 AND first > $4 - $6 AND first < $5 AND first + games > $4 ORDER BY first";
    let (start, end) = (row.first, row.first + row.games);
    let query = sqlx::query_as(query).bind(row.job).bind(row.account).bind(shard).bind(start).bind(end);
    let before: Vec<(i64, i64)> = query.bind(MAX_GAMES_PER_LEASE).fetch_all(connection.raw()).await?;
    let (mut new, mut seen) = (0, start);
    for (first, games) in before {
        new += (first - seen).max(0);
        seen = seen.max(first + games);
    }
    new += (end - seen).max(0);
    if new == 0 {
        return Ok(());
    }
    let positions = (i128::from(positions) * i128::from(new) / i128::from(row.games.max(1))) as i64;
    let query = "INSERT INTO contributions (account, day, games, positions) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (account, day) DO UPDATE SET games = contributions.games + excluded.games,
                 positions = contributions.positions + excluded.positions";
    let query = sqlx::query(query).bind(row.account).bind(now.day()).bind(new).bind(positions);
    query.execute(connection.raw()).await?;
    Ok(())
}

/// Samples fresh games of untrusted workers for an audit.
async fn sample_for_audit(
    connection: &mut Connection<'_>,
    shard: i64,
    row: &ShardRow,
    job: &JobRow,
    draw: u64,
) -> Result<(), StoreError> {
    // Games under a clock are not reproducible.
    if row.kind != "fresh" || job.header.clock.is_some() {
        return Ok(());
    }
    let query = "SELECT clean_games, trusted FROM accounts JOIN workers ON workers.account = accounts.id
                 WHERE workers.id = $1";
    let (clean_games, trusted): (i64, i64) = sqlx::query_as(query).bind(row.worker).fetch_one(connection.raw()).await?;
    let query = "SELECT gate FROM jobs WHERE id = $1";
    let gate: Option<String> = sqlx::query_scalar(query).bind(row.job).fetch_one(connection.raw()).await?;
    let gate = gate.and_then(|gate| serde_json::from_str::<protocol::campaign::Gate>(&gate).ok());
    let min_percent =
        gate.map_or(0, |gate| u64::from(gate.audit_percent)).max(choices::audit_percent(connection).await?);
    if trusted == 0 && audit::is_wanted(clean_games, min_percent, draw) {
        let query = "UPDATE shards SET audit = 'wanted' WHERE id = $1";
        sqlx::query(query).bind(shard).execute(connection.raw()).await?;
    }
    Ok(())
}

/// Rejects an invalid shard: it is kept, and does not count.
pub async fn reject(
    connection: &mut Connection<'_>,
    now: Time,
    shard: i64,
    code: Code,
    detail: impl Into<Reason> + Send,
) -> Result<(), StoreError> {
    let detail = detail.into();
    let (row, _) = lock(connection, shard).await?;
    if !row.is_pending() {
        return Ok(());
    }
    totals::leave(connection, shard).await?;
    let query = "UPDATE shards SET state = 'rejected', code = $2, detail = $3 WHERE id = $1";
    let query = sqlx::query(query).bind(shard).bind(code.name()).bind(detail.clone());
    query.execute(connection.raw()).await?;
    totals::enter(connection, shard).await?;
    let query = "UPDATE comparisons SET state = 'void'
                 WHERE state = 'waiting' AND (left_shard = $1 OR right_shard = $1)";
    sqlx::query(query).bind(shard).execute(connection.raw()).await?;
    segments::release_held(connection, row.job, shard).await?;
    let (worker, job) = (WorkerId(row.worker), JobId(row.job));
    let (first, last) = (row.first, row.first + row.games - 1);
    record_event(connection, now, None, Event::Rejected { worker, job, first, last, code, detail }).await?;
    Ok(())
}
