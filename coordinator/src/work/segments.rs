//! Who holds which games. The job's row is locked by whoever calls.

use std::ops::Range;

use crate::store::{Connection, Outcome};

/// Makes a border between segments before this game, if it is below the frontier and there is none.
async fn cut(connection: &mut Connection<'_>, job: i64, at: i64) -> Outcome<()> {
    let query = "SELECT first, games, state, lease, shard FROM segments
                 WHERE job = $1 AND first < $2 AND first + games > $2";
    type Row = (i64, i64, String, Option<i64>, Option<i64>);
    let row: Option<Row> = sqlx::query_as(query).bind(job).bind(at).fetch_optional(connection.raw()).await?;
    let Some((first, games, state, lease, shard)) = row else { return Ok(()) };
    let query = "UPDATE segments SET games = $3 WHERE job = $1 AND first = $2";
    sqlx::query(query).bind(job).bind(first).bind(at - first).execute(connection.raw()).await?;
    insert(connection, job, at..first + games, &state, lease, shard).await
}

async fn insert(
    connection: &mut Connection<'_>,
    job: i64,
    range: Range<i64>,
    state: &str,
    lease: Option<i64>,
    shard: Option<i64>,
) -> Outcome<()> {
    let query = "INSERT INTO segments (job, first, games, state, lease, shard) VALUES ($1, $2, $3, $4, $5, $6)";
    let query = sqlx::query(query).bind(job).bind(range.start).bind(range.end - range.start);
    query.bind(state.to_owned()).bind(lease).bind(shard).execute(connection.raw()).await?;
    Ok(())
}

/// The first segment that is to be played again.
pub(super) async fn first_open(connection: &mut Connection<'_>, job: i64) -> Outcome<Option<Range<i64>>> {
    let query = "SELECT first, games FROM segments WHERE job = $1 AND state = 'open' ORDER BY first LIMIT 1";
    let row: Option<(i64, i64)> = sqlx::query_as(query).bind(job).fetch_optional(connection.raw()).await?;
    Ok(row.map(|(first, games)| first..first + games))
}

/// New games behind the frontier: the frontier moves on.
pub(super) async fn extend(connection: &mut Connection<'_>, job: i64, range: Range<i64>) -> Outcome<()> {
    insert(connection, job, range.clone(), "open", None, None).await?;
    let query = "UPDATE jobs SET frontier = $2 WHERE id = $1";
    sqlx::query(query).bind(job).bind(range.end).execute(connection.raw()).await?;
    Ok(())
}

/// Open games go to a lease.
pub(super) async fn lease(connection: &mut Connection<'_>, job: i64, range: Range<i64>, lease: i64) -> Outcome<()> {
    cut(connection, job, range.start).await?;
    cut(connection, job, range.end).await?;
    let query = "UPDATE segments SET state = 'leased', lease = $4
                 WHERE job = $1 AND first >= $2 AND first < $3 AND state = 'open'";
    let query = sqlx::query(query).bind(job).bind(range.start).bind(range.end).bind(lease);
    query.execute(connection.raw()).await?;
    Ok(())
}

/// What a lease has and has not delivered, from this game on, is to be played by others.
pub(super) async fn give_back(connection: &mut Connection<'_>, job: i64, lease: i64, from: i64) -> Outcome<()> {
    cut(connection, job, from).await?;
    let query = "UPDATE segments SET state = 'open', lease = NULL
                 WHERE lease = $1 AND state = 'leased' AND first >= $2";
    sqlx::query(query).bind(lease).bind(from).execute(connection.raw()).await?;
    Ok(())
}

/// Whether a lease still has games that nobody delivered.
pub(super) async fn any_left(connection: &mut Connection<'_>, lease: i64) -> Outcome<bool> {
    let query = "SELECT COUNT(*) FROM segments WHERE lease = $1 AND state = 'leased'";
    let left: i64 = sqlx::query_scalar(query).bind(lease).fetch_one(connection.raw()).await?;
    Ok(left > 0)
}

/// A shard gets what nobody holds of its games.
pub(super) async fn hold(connection: &mut Connection<'_>, job: i64, range: Range<i64>, shard: i64) -> Outcome<()> {
    cut(connection, job, range.start).await?;
    cut(connection, job, range.end).await?;
    let query = "UPDATE segments SET state = 'held', lease = NULL, shard = $4
                 WHERE job = $1 AND first >= $2 AND first < $3 AND state <> 'held'";
    let query = sqlx::query(query).bind(job).bind(range.start).bind(range.end).bind(shard);
    query.execute(connection.raw()).await?;
    Ok(())
}

/// Which other shards hold games of this range: each with what it holds of it.
pub(super) async fn holders(
    connection: &mut Connection<'_>,
    job: i64,
    range: Range<i64>,
    besides: i64,
) -> Outcome<Vec<(i64, Range<i64>)>> {
    let query = "SELECT shard, first, games FROM segments
                 WHERE job = $1 AND first < $3 AND first + games > $2 AND state = 'held' AND shard <> $4
                 ORDER BY first";
    let query = sqlx::query_as(query).bind(job).bind(range.start).bind(range.end).bind(besides);
    let rows: Vec<(i64, i64, i64)> = query.fetch_all(connection.raw()).await?;
    let within =
        |(shard, first, games): (i64, i64, i64)| (shard, first.max(range.start)..(first + games).min(range.end));
    Ok(rows.into_iter().map(within).collect())
}

/// A shard loses what it holds: to others who delivered the same games, the first of them before the later; what
/// nobody else delivered is to be played again.
pub(super) async fn let_go(connection: &mut Connection<'_>, job: i64, shard: i64) -> Outcome<()> {
    let query = "SELECT first, games FROM segments WHERE shard = $1 AND state = 'held' ORDER BY first";
    let held: Vec<(i64, i64)> = sqlx::query_as(query).bind(shard).fetch_all(connection.raw()).await?;
    let query = "UPDATE segments SET state = 'open', shard = NULL WHERE shard = $1 AND state = 'held'";
    sqlx::query(query).bind(shard).execute(connection.raw()).await?;
    for (first, games) in held {
        let end = first + games;
        let query = "SELECT id, first, games FROM shards
                     WHERE job = $1 AND first < $3 AND first + games > $2 AND id <> $4
                     AND state IN ('received', 'validated') ORDER BY id";
        let query = sqlx::query_as(query).bind(job).bind(first).bind(end).bind(shard);
        let others: Vec<(i64, i64, i64)> = query.fetch_all(connection.raw()).await?;
        for (other, others_first, others_games) in others {
            let range = others_first.max(first)..(others_first + others_games).min(end);
            hold(connection, job, range, other).await?;
        }
    }
    Ok(())
}
