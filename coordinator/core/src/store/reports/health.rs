//! Whether the database answers, and its counts for metrics.

use crate::{
    clock::{HOUR, Time},
    model::ShardState,
    store::{Connection, Shards, StoreError, convert::row},
};

/// Checks that the database answers.
///
/// # Errors
///
/// If it does not.
pub async fn answers(connection: &mut Connection<'_>) -> Result<(), StoreError> {
    Ok(sqlx::query("SELECT 1").execute(connection.raw()).await.map(drop)?)
}

/// Counts of the whole database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Uploads that wait for validation.
    pub shards_waiting: i64,
    /// Workers of the last hour.
    pub workers_active: i64,
    /// Leases that are not over.
    pub leases_active: i64,
    /// Uploads by state.
    pub uploads: Vec<Uploads>,
}

/// Uploads of one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uploads {
    /// The state.
    pub state: ShardState,
    /// Number of shards.
    pub shards: i64,
    /// Number of games.
    pub games: i64,
    /// Total size.
    pub bytes: i64,
}

row!(Uploads { state, shards, games, bytes });

/// Counts the whole database.
pub async fn counts(connection: &mut Connection<'_>, now: Time) -> Result<Counts, StoreError> {
    let shards_waiting = Shards::on(connection.reborrow()).backlog().await?;
    let query = "SELECT COUNT(*) FROM workers WHERE last_seen > $1";
    let workers_active = sqlx::query_scalar(query).bind(now.0 - HOUR).fetch_one(connection.raw()).await?;
    let query = "SELECT COUNT(*) FROM leases WHERE state = 'active'";
    let leases_active = sqlx::query_scalar(query).fetch_one(connection.raw()).await?;
    let query = "SELECT state, CAST(SUM(shards) AS BIGINT) AS shards, CAST(SUM(games) AS BIGINT) AS games,
                        CAST(SUM(bytes) AS BIGINT) AS bytes FROM totals GROUP BY state ORDER BY state";
    let uploads = sqlx::query_as(query).fetch_all(connection.raw()).await?;
    Ok(Counts { shards_waiting, workers_active, leases_active, uploads })
}
