//! Counted games: those held by a validated shard.

use crate::store::{Connection, StoreError};

/// Counted games and positions of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, sqlx::FromRow)]
pub struct Tally {
    /// Counted games.
    pub games: i64,
    /// Positions of these games; in proportion, for shards that count in part.
    pub positions: i64,
}

/// Returns the counted games and positions of a job.
pub async fn tally(connection: &mut Connection<'_>, job: i64) -> Result<Tally, StoreError> {
    let query = "SELECT CAST(COALESCE(SUM(segments.games), 0) AS BIGINT) AS games,
                        CAST(COALESCE(SUM(shards.positions * segments.games / shards.games), 0) AS BIGINT) AS positions
                 FROM segments JOIN shards ON shards.id = segments.shard
                 WHERE segments.job = $1 AND segments.state = 'held' AND shards.state = 'validated'";
    Ok(sqlx::query_as(query).bind(job).fetch_one(connection.raw()).await?)
}

/// Returns the games of a job that may still count: open, leased, or waiting for validation.
pub async fn pending_games(connection: &mut Connection<'_>, job: i64) -> Result<i64, StoreError> {
    let query = "SELECT CAST(COALESCE(SUM(segments.games), 0) AS BIGINT)
                 FROM segments LEFT JOIN shards ON shards.id = segments.shard
                 WHERE segments.job = $1 AND (segments.state <> 'held' OR shards.state = 'received')";
    Ok(sqlx::query_scalar(query).bind(job).fetch_one(connection.raw()).await?)
}

/// Returns the candidate's score of each pair of a match in the order of their numbers, up to the
/// first pair that does not count. So withholding bad results gains nothing.
pub async fn pairs(connection: &mut Connection<'_>, job: i64) -> Result<Vec<u8>, StoreError> {
    let query = "SELECT segments.first, segments.games, shards.first, shards.state, shards.pairs
                 FROM segments LEFT JOIN shards ON shards.id = segments.shard
                 WHERE segments.job = $1 ORDER BY segments.first";
    read_pairs(connection, job, query).await
}

/// Returns in how many games of these pairs the candidate and its opponent lost on time.
pub(crate) async fn time_losses(connection: &mut Connection<'_>, job: i64) -> Result<[u64; 2], StoreError> {
    let query = "SELECT segments.first, segments.games, shards.first, shards.state, shards.time_losses
                 FROM segments LEFT JOIN shards ON shards.id = segments.shard
                 WHERE segments.job = $1 ORDER BY segments.first";
    let all = read_pairs(connection, job, query).await?;
    Ok(all.into_iter().map(u64::from).fold([0, 0], |[own, other], pair| [own + pair % 3, other + pair / 3]))
}

/// Reads one byte per pair, up to the first pair that does not count.
async fn read_pairs(connection: &mut Connection<'_>, job: i64, query: &'static str) -> Result<Vec<u8>, StoreError> {
    type Row = (i64, i64, Option<i64>, Option<String>, Option<Vec<u8>>);
    let rows: Vec<Row> = sqlx::query_as(query).bind(job).fetch_all(connection.raw()).await?;
    let mut all = Vec::new();
    for (first, games, shard_first, state, pairs) in rows {
        let (Some(shard_first), Some("validated"), Some(pairs)) = (shard_first, state.as_deref(), pairs) else { break };
        let from = ((first - shard_first) / 2) as usize;
        let Some(part) = pairs.get(from..from + (games / 2) as usize) else { break };
        all.extend_from_slice(part);
    }
    Ok(all)
}

/// Audit state of the first games of a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, sqlx::FromRow)]
pub struct Audited {
    /// Counted games of untrusted workers.
    pub games: i64,
    /// Those of them that were verified by an audit.
    pub clean: i64,
    /// Games of shards whose audit is wanted or leased.
    pub waiting: i64,
}

/// Returns the audit state of a job's games below a number.
pub async fn audited(connection: &mut Connection<'_>, job: i64, below: i64) -> Result<Audited, StoreError> {
    // A shard that holds its games in several pieces has its verified games counted once.
    let query = "SELECT CAST(COALESCE(SUM(games), 0) AS BIGINT) AS games,
                        CAST(COALESCE(SUM(CASE WHEN audited < games THEN audited ELSE games END), 0) AS BIGINT) AS clean,
                        CAST(COALESCE(SUM(CASE WHEN audit IN ('wanted', 'leased') THEN games ELSE 0 END), 0) AS BIGINT)
                            AS waiting
                 FROM (SELECT SUM(segments.games) AS games, MAX(shards.audited_games) AS audited,
                              MAX(shards.audit) AS audit
                       FROM segments JOIN shards ON shards.id = segments.shard
                                     JOIN workers ON workers.id = shards.worker
                       WHERE segments.job = $1 AND segments.first < $2 AND workers.trusted = 0
                       GROUP BY shards.id) AS held";
    Ok(sqlx::query_as(query).bind(job).bind(below).fetch_one(connection.raw()).await?)
}
