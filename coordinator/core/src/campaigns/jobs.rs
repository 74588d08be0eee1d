//! Jobs of campaigns and matches.

use dataset::Header;

use super::row::CampaignRow;
use crate::{
    clock::{SECOND, Time},
    gate::Verdict,
    rules::sizing::{DEFAULT_MOVES_PER_GAME, cost_per_position},
    store::{Connection, StoreError},
};

/// Milliseconds per active worker over which the start with a new net is spread.
const SPREAD_PER_WORKER_MS: i64 = 20;

/// Maximum spread of the start.
const MAX_SPREAD_MS: i64 = 600 * SECOND;

/// Creates a job; `gate` holds the parameters of a match's test.
pub(super) async fn create(
    connection: &mut Connection<'_>,
    now: Time,
    row: Option<&CampaignRow>,
    kind: &str,
    header: &Header,
    gate: Option<String>,
    game_limit: Option<i64>,
) -> Result<i64, StoreError> {
    let text = serde_json::to_string(header).map_err(|error| StoreError::Corrupt(error.to_string()))?;
    let query = "SELECT COUNT(*) FROM workers WHERE last_seen > $1";
    let active: i64 = sqlx::query_scalar(query).bind(now.0 - 3_600 * SECOND).fetch_one(connection.raw()).await?;
    let query = "INSERT INTO jobs (campaign, generation, kind, state, header, bench_signature, net, opponent, gate,
                                   priority, game_limit, nodes_per_game, spread, created)
                 VALUES ($1, $2, $3, 'open', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) RETURNING id";
    let opponent = header.opponent.as_ref().and_then(|opponent| opponent.net);
    let query = sqlx::query_scalar(query).bind(row.map(|row| row.id)).bind(row.map_or(0, |row| row.generation));
    let query = query.bind(kind.to_owned()).bind(text).bind(header.bench_signature as i64);
    let query = query.bind(header.net.map(|net| net.to_string())).bind(opponent.map(|net| net.to_string()));
    let query = query.bind(gate).bind(row.map_or(50, |row| i64::from(row.campaign.priority))).bind(game_limit);
    let query = query.bind(cost_per_position(header) * DEFAULT_MOVES_PER_GAME);
    // A single worker starts at once.
    let spread = (active.saturating_sub(1) * SPREAD_PER_WORKER_MS).min(MAX_SPREAD_MS);
    Ok(query.bind(spread).bind(now.0).fetch_one(connection.raw()).await?)
}

/// Sets the state of a job, with the time at which it is closed.
pub(super) async fn set_state(
    connection: &mut Connection<'_>,
    now: Time,
    job: i64,
    state: &str,
) -> Result<(), StoreError> {
    let query = "UPDATE jobs SET state = $2, closed = CASE WHEN $2 = 'closed' THEN $3 ELSE NULL END
                 WHERE id = $1 AND state <> $2";
    sqlx::query(query).bind(job).bind(state.to_owned()).bind(now.0).execute(connection.raw()).await?;
    Ok(())
}

/// Records the verdict of a match.
pub(super) async fn decide(connection: &mut Connection<'_>, job: i64, verdict: &Verdict) -> Result<(), StoreError> {
    let text = serde_json::to_string(verdict).map_err(|error| StoreError::Corrupt(error.to_string()))?;
    let query = "UPDATE jobs SET decision = $2 WHERE id = $1";
    sqlx::query(query).bind(job).bind(text).execute(connection.raw()).await?;
    Ok(())
}
