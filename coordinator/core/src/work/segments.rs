//! Segments: the state of each range of games. The caller has locked the job.

use std::ops::Range;

use crate::store::{Connection, StoreError};

/// Splits the segment at this game, if one spans it.
async fn cut(connection: &mut Connection<'_>, job: i64, at: i64) -> Result<(), StoreError> {
    // Segments do not overlap: only the last one that begins before can reach this far.
    let query = "SELECT first, games FROM segments WHERE job = $1 AND first < $2 ORDER BY first DESC LIMIT 1";
    let row: Option<(i64, i64)> = sqlx::query_as(query).bind(job).bind(at).fetch_optional(connection.raw()).await?;
    let Some((first, games)) = row.filter(|(first, games)| first + games > at) else { return Ok(()) };
    let query = "INSERT INTO segments (job, first, games, state, lease, shard, attempts)
                 SELECT job, $3, $4, state, lease, shard, attempts FROM segments WHERE job = $1 AND first = $2";
    let query = sqlx::query(query).bind(job).bind(first).bind(at).bind(first + games - at);
    query.execute(connection.raw()).await?;
    let query = "UPDATE segments SET games = $3 WHERE job = $1 AND first = $2";
    sqlx::query(query).bind(job).bind(first).bind(at - first).execute(connection.raw()).await?;
    Ok(())
}

/// Returns the first open games without a gap, up to a maximum.
pub(super) async fn first_open(
    connection: &mut Connection<'_>,
    job: i64,
    max_games: i64,
) -> Result<Option<Range<i64>>, StoreError> {
    let query = "SELECT first, games FROM segments WHERE job = $1 AND state = 'open' ORDER BY first LIMIT 64";
    let rows: Vec<(i64, i64)> = sqlx::query_as(query).bind(job).fetch_all(connection.raw()).await?;
    let Some(&(start, _)) = rows.first() else { return Ok(None) };
    let end = rows.into_iter().fold(start, |end, (first, games)| if first == end { end + games } else { end });
    Ok(Some(start..end.min(start + max_games)))
}

/// Advances the frontier over new open games.
pub(super) async fn extend(connection: &mut Connection<'_>, job: i64, range: Range<i64>) -> Result<(), StoreError> {
    let query = "INSERT INTO segments (job, first, games, state) VALUES ($1, $2, $3, 'open')";
    let query = sqlx::query(query).bind(job).bind(range.start).bind(range.end - range.start);
    query.execute(connection.raw()).await?;
    let query = "UPDATE jobs SET frontier = $2 WHERE id = $1";
    sqlx::query(query).bind(job).bind(range.end).execute(connection.raw()).await?;
    Ok(())
}

/// Leases a range of open games as one segment. Returns the highest number of attempts among them.
pub(super) async fn lease(
    connection: &mut Connection<'_>,
    job: i64,
    range: Range<i64>,
    lease: i64,
) -> Result<i64, StoreError> {
    cut(connection, job, range.start).await?;
    cut(connection, job, range.end).await?;
    let query = "SELECT COALESCE(MAX(attempts), 0) + 1 FROM segments
                 WHERE job = $1 AND first >= $2 AND first < $3 AND state = 'open'";
    let query = sqlx::query_scalar(query).bind(job).bind(range.start).bind(range.end);
    let attempts: i64 = query.fetch_one(connection.raw()).await?;
    let query = "DELETE FROM segments WHERE job = $1 AND first >= $2 AND first < $3 AND state = 'open'";
    sqlx::query(query).bind(job).bind(range.start).bind(range.end).execute(connection.raw()).await?;
    let query =
        "INSERT INTO segments (job, first, games, state, lease, attempts) VALUES ($1, $2, $3, 'leased', $4, $5)";
    let query = sqlx::query(query).bind(job).bind(range.start).bind(range.end - range.start);
    query.bind(lease).bind(attempts).execute(connection.raw()).await?;
    Ok(attempts)
}

/// Reopens the undelivered games of a lease from this one. A voluntary release is not counted as an
/// attempt.
pub(crate) async fn release(
    connection: &mut Connection<'_>,
    job: i64,
    lease: i64,
    from: i64,
    is_voluntary: bool,
) -> Result<(), StoreError> {
    cut(connection, job, from).await?;
    let query = "UPDATE segments SET state = 'open', lease = NULL, attempts = attempts - $3
                 WHERE lease = $1 AND state = 'leased' AND first >= $2";
    sqlx::query(query).bind(lease).bind(from).bind(i64::from(is_voluntary)).execute(connection.raw()).await?;
    Ok(())
}

/// Whether a lease has undelivered games.
pub(crate) async fn any_undelivered(connection: &mut Connection<'_>, lease: i64) -> Result<bool, StoreError> {
    let query = "SELECT COUNT(*) FROM segments WHERE lease = $1 AND state = 'leased'";
    let left: i64 = sqlx::query_scalar(query).bind(lease).fetch_one(connection.raw()).await?;
    Ok(left > 0)
}

/// Gives a shard the unheld games of a range. Returns the other shards with the games they hold.
pub(super) async fn hold(
    connection: &mut Connection<'_>,
    job: i64,
    range: Range<i64>,
    shard: i64,
) -> Result<Vec<(i64, Range<i64>)>, StoreError> {
    let query = "SELECT first, games, shard FROM segments WHERE job = $1 AND first < $3 AND first >=
                 COALESCE((SELECT MAX(first) FROM segments WHERE job = $1 AND first <= $2), $2) ORDER BY first";
    let query = sqlx::query_as(query).bind(job).bind(range.start).bind(range.end);
    let rows: Vec<(i64, i64, Option<i64>)> = query.fetch_all(connection.raw()).await?;
    let (mut others, mut holds_more) = (Vec::new(), false);
    for (first, games, holder) in rows {
        let common = first.max(range.start)..(first + games).min(range.end);
        match holder {
            _ if common.is_empty() => {}
            Some(holder) if holder == shard => {}
            Some(holder) => others.push((holder, common)),
            None => {
                cut(connection, job, common.start).await?;
                cut(connection, job, common.end).await?;
                let query =
                    "UPDATE segments SET state = 'held', lease = NULL, shard = $3 WHERE job = $1 AND first = $2";
                sqlx::query(query).bind(job).bind(common.start).bind(shard).execute(connection.raw()).await?;
                holds_more = true;
            }
        }
    }
    if holds_more {
        require_audit(connection, shard).await?;
    }
    Ok(others)
}

/// Requires an audit of a shard that was itself an audit, now that its games count.
async fn require_audit(connection: &mut Connection<'_>, shard: i64) -> Result<(), StoreError> {
    let query = "UPDATE shards SET audit = 'wanted' WHERE id = $1 AND audit = 'none'
                 AND (audited_games = 0 OR audited_games < games / 10)
                 AND EXISTS (SELECT 1 FROM leases WHERE leases.id = shards.lease AND leases.kind <> 'fresh')
                 AND EXISTS (SELECT 1 FROM workers WHERE workers.id = shards.worker AND workers.trusted = 0)";
    sqlx::query(query).bind(shard).execute(connection.raw()).await?;
    Ok(())
}

/// Releases the games that a shard holds, to the earliest other upload of each; the rest is played
/// again.
pub(super) async fn release_held(connection: &mut Connection<'_>, job: i64, shard: i64) -> Result<(), StoreError> {
    let query = "SELECT first, games FROM segments WHERE shard = $1 AND state = 'held' ORDER BY first";
    let held: Vec<(i64, i64)> = sqlx::query_as(query).bind(shard).fetch_all(connection.raw()).await?;
    let query = "UPDATE segments SET state = 'open', shard = NULL WHERE shard = $1 AND state = 'held'";
    sqlx::query(query).bind(shard).execute(connection.raw()).await?;
    for (first, games) in held {
        let end = first + games;
        // No shard is longer than a lease.
        let query = "SELECT id, first, games FROM shards
                     WHERE job = $1 AND first > $2 - $5 AND first < $3 AND first + games > $2 AND id <> $4
                     AND state IN ('received', 'validated') ORDER BY id";
        let query = sqlx::query_as(query).bind(job).bind(first).bind(end).bind(shard).bind(super::MAX_GAMES_PER_LEASE);
        let others: Vec<(i64, i64, i64)> = query.fetch_all(connection.raw()).await?;
        for (other, others_first, others_games) in others {
            let range = others_first.max(first)..(others_first + others_games).min(end);
            hold(connection, job, range, other).await?;
        }
    }
    Ok(())
}
