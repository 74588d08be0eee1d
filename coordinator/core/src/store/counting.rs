//! Read models of games: counted ones are held by a validated shard.

use super::{
    connection::Connection,
    convert::{flag, numbers, proof, row},
    error::StoreError,
};
use crate::{
    model::{CampaignId, GateShard, JobId, Piece},
    rules::counting,
};

row!(Piece { numbers: numbers, shard_first, state, bytes });
row!(Tally { games, positions });
row!(GateShard { id, counted, games, audited_games, state, object, is_trusted: flag, is_timed: flag, proof: proof });

/// Counted games and positions of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Counted games.
    pub games: i64,
    /// Positions of these games; in proportion, for shards that count in part.
    pub positions: i64,
}

/// Returns the counted games and positions of a job.
pub async fn tally(connection: &mut Connection<'_>, job: JobId) -> Result<Tally, StoreError> {
    let query = "SELECT counted_games AS games, counted_positions AS positions FROM jobs WHERE id = $1";
    Ok(sqlx::query_as(query).bind(job).fetch_one(connection.raw()).await?)
}

/// Returns the counted self-play games and positions of a generation, of all its jobs: another
/// engine continues it with another job.
pub async fn tally_of_generation(
    connection: &mut Connection<'_>,
    campaign: CampaignId,
    generation: i64,
) -> Result<Tally, StoreError> {
    let query = "SELECT CAST(COALESCE(SUM(counted_games), 0) AS BIGINT) AS games,
                        CAST(COALESCE(SUM(counted_positions), 0) AS BIGINT) AS positions
                 FROM jobs WHERE campaign = $1 AND generation = $2 AND kind = 'selfplay'";
    Ok(sqlx::query_as(query).bind(campaign).bind(generation).fetch_one(connection.raw()).await?)
}

/// Returns the candidate's score of each pair of a match in the order of their numbers, up to the
/// first pair that does not count. So withholding bad results gains nothing.
pub async fn pairs(connection: &mut Connection<'_>, job: JobId) -> Result<Vec<u8>, StoreError> {
    let query = "SELECT segments.first AS first, segments.games AS games, shards.first AS shard_first,
                        shards.state AS state, shards.pairs AS bytes
                 FROM segments LEFT JOIN shards ON shards.id = segments.shard
                 WHERE segments.job = $1 ORDER BY segments.first";
    let pieces: Vec<Piece> = sqlx::query_as(query).bind(job).fetch_all(connection.raw()).await?;
    Ok(counting::counted_pairs(&pieces))
}

/// Returns in how many games of these pairs the candidate and its opponent lost on time.
pub(crate) async fn time_losses(connection: &mut Connection<'_>, job: JobId) -> Result<[u64; 2], StoreError> {
    let query = "SELECT segments.first AS first, segments.games AS games, shards.first AS shard_first,
                        shards.state AS state, shards.time_losses AS bytes
                 FROM segments LEFT JOIN shards ON shards.id = segments.shard
                 WHERE segments.job = $1 ORDER BY segments.first";
    let pieces: Vec<Piece> = sqlx::query_as(query).bind(job).fetch_all(connection.raw()).await?;
    Ok(counting::time_losses(&counting::counted_pairs(&pieces)))
}

/// Returns the shards with counted games of a match below a number.
pub async fn gate_shards(
    connection: &mut Connection<'_>,
    job: JobId,
    below: i64,
) -> Result<Vec<GateShard>, StoreError> {
    let query = "SELECT shards.id AS id, counted, games, audited_games, shards.state AS state, object,
                        CASE WHEN trusted = 1 AND shards.id > trusted_after THEN 1 ELSE 0 END AS is_trusted,
                        CASE WHEN time_losses IS NULL THEN 0 ELSE 1 END AS is_timed,
                        audit, auditor, auditor_until, 0 AS is_compared, checked AS is_checked, validated
                 FROM (SELECT shard, CAST(SUM(games) AS BIGINT) AS counted FROM segments
                       WHERE job = $1 AND first < $2 AND shard IS NOT NULL GROUP BY shard) AS held
                 JOIN shards ON shards.id = held.shard JOIN workers ON workers.id = shards.worker
                 ORDER BY shards.id";
    Ok(sqlx::query_as(query).bind(job).bind(below).fetch_all(connection.raw()).await?)
}
