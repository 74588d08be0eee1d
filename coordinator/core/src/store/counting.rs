//! Read models of games: counted ones are held by a validated shard.

use super::{
    connection::Connection,
    convert::{numbers, row},
    error::StoreError,
};
use crate::{
    clock::Time,
    model::{CampaignId, JobId, Piece},
    rules::counting,
};

row!(Piece { numbers: numbers, shard_first, state, bytes });
row!(Tally { games, positions });
row!(Audited { games, clean, waiting, drawn });

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

/// Audit state of the first games of a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audited {
    /// Counted games of untrusted workers.
    pub games: i64,
    /// Those of them that were verified by an audit.
    pub clean: i64,
    /// Games of shards whose audit is wanted or leased.
    pub waiting: i64,
    /// Those of them that an account is to audit, or does.
    pub drawn: i64,
}

/// Returns the audit state of a job's games below a number.
pub async fn audited(connection: &mut Connection<'_>, job: JobId, below: i64) -> Result<Audited, StoreError> {
    // A shard that holds its games in several pieces has its verified games counted once.
    let query = "SELECT CAST(COALESCE(SUM(games), 0) AS BIGINT) AS games,
                        CAST(COALESCE(SUM(CASE WHEN audited < games THEN audited ELSE games END), 0) AS BIGINT) AS clean,
                        CAST(COALESCE(SUM(CASE WHEN audit IN ('wanted', 'leased') THEN games ELSE 0 END), 0) AS BIGINT)
                            AS waiting,
                        CAST(COALESCE(SUM(CASE WHEN drawn = 1 THEN games ELSE 0 END), 0) AS BIGINT) AS drawn
                 FROM (SELECT SUM(segments.games) AS games, MAX(shards.audited_games) AS audited,
                              MAX(shards.audit) AS audit,
                              MAX(CASE WHEN shards.audit = 'leased' OR (shards.audit = 'wanted'
                                       AND (shards.auditor IS NOT NULL OR shards.auditor_until = 0))
                                  THEN 1 ELSE 0 END) AS drawn
                       FROM segments JOIN shards ON shards.id = segments.shard
                                     JOIN workers ON workers.id = shards.worker
                       WHERE segments.job = $1 AND segments.first < $2 AND (workers.trusted = 0 OR shards.id <= workers.trusted_after)
                       GROUP BY shards.id) AS held";
    Ok(sqlx::query_as(query).bind(job).bind(below).fetch_one(connection.raw()).await?)
}

/// Returns the shards below a number that wait for the check of a game: those validated after a
/// time, of untrusted workers.
pub async fn unchecked(
    connection: &mut Connection<'_>,
    job: JobId,
    below: i64,
    since: Time,
) -> Result<i64, StoreError> {
    let query = "SELECT COUNT(DISTINCT shards.id) FROM segments JOIN shards ON shards.id = segments.shard
                                                               JOIN workers ON workers.id = shards.worker
                 WHERE segments.job = $1 AND segments.first < $2 AND shards.checked = 0 AND shards.validated > $3
                 AND shards.object = 'present' AND shards.time_losses IS NULL
                 AND (workers.trusted = 0 OR shards.id <= workers.trusted_after)";
    Ok(sqlx::query_scalar(query).bind(job).bind(below).bind(since).fetch_one(connection.raw()).await?)
}
