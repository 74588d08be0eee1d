//! Audits: games played again by other accounts, and disputes over differences.

use std::ops::Range;

use sqlx::AssertSqlSafe;

use crate::{
    clock::{DAY, Time},
    store::{Connection, StoreError},
};

use super::{MAX_GAMES_PER_LEASE, segments, totals};

/// Audit rate in tenths of a per cent, by the account's clean games so far.
const AUDIT_RATES: [(i64, u64); 5] = [(0, 200), (500, 150), (2_000, 100), (10_000, 50), (50_000, 20)];

/// One in this many requests of an eligible auditor is answered with an audit. So the first request
/// after an upload does not predict its auditor.
const AUDIT_ODDS: u64 = 2;

/// Draws whether a shard is audited.
#[must_use]
pub fn is_wanted(clean_games: i64, min_percent: u64, draw: u64) -> bool {
    let rate = AUDIT_RATES.iter().rev().find(|(from, _)| clean_games >= *from).map_or(200, |&(_, rate)| rate);
    draw % 1_000 < rate.max(min_percent * 10)
}

/// A worker that may audit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Auditor {
    pub(super) account: i64,
    pub(super) bench_signature: i64,
    pub(super) trusted: bool,
}

/// A shard that waits for an audit.
#[derive(sqlx::FromRow)]
pub(super) struct WantedAudit {
    pub(super) shard: i64,
    pub(super) job: i64,
    pub(super) first: i64,
    pub(super) games: i64,
}

/// Finds a shard to audit. It belongs to another account. That account is younger than the
/// auditor's, unless the auditor is trusted or no older account with the engine was active in the
/// last day.
pub(super) async fn find_wanted(
    connection: &mut Connection<'_>,
    now: Time,
    auditor: &Auditor,
    draw: u64,
) -> Result<Option<WantedAudit>, StoreError> {
    if !draw.is_multiple_of(AUDIT_ODDS) {
        return Ok(None);
    }
    let query = "SELECT shards.id AS shard, shards.job AS job, shards.first AS first, shards.games AS games
                 FROM shards JOIN jobs ON jobs.id = shards.job
                 WHERE shards.audit = 'wanted' AND shards.state = 'validated' AND shards.object = 'present'
                 AND shards.account <> $1
                 AND jobs.bench_signature = $2 AND jobs.kind <> 'timed'
                 AND ($3 = 1 OR shards.account > $1 OR NOT EXISTS
                      (SELECT 1 FROM accounts WHERE accounts.id < shards.account AND accounts.state = 'active'
                       AND EXISTS (SELECT 1 FROM workers WHERE workers.account = accounts.id
                                   AND workers.bench_signature = $2 AND workers.last_seen > $5)))
                 ORDER BY (shards.id * 7919 + $4) % 1009, shards.id LIMIT 1";
    let query = sqlx::query_as(query).bind(auditor.account).bind(auditor.bench_signature);
    let query = query.bind(i64::from(auditor.trusted)).bind((draw >> 32) as i64 % 1009).bind(now.0 - DAY);
    Ok(query.fetch_optional(connection.raw()).await?)
}

/// Marks the audit as leased; false if it is no longer wanted.
pub(super) async fn mark_leased(connection: &mut Connection<'_>, shard: i64) -> Result<bool, StoreError> {
    let query = "UPDATE shards SET audit = 'leased' WHERE id = $1 AND audit = 'wanted' AND state = 'validated'";
    Ok(sqlx::query(query).bind(shard).execute(connection.raw()).await?.rows_affected() == 1)
}

/// Reopens audits and disputes whose lease has ended without anything left to compare. A lease ends
/// in many ways: expiry, release, rejection of its games, quarantine. The query therefore reads the
/// state and not the cause.
pub(crate) async fn reopen_abandoned(connection: &mut Connection<'_>) -> Result<(), StoreError> {
    let query = "UPDATE shards SET audit = 'wanted' WHERE audit = 'leased'
                 AND NOT EXISTS (SELECT 1 FROM leases WHERE leases.audited = shards.id AND leases.state = 'active')
                 AND NOT EXISTS (SELECT 1 FROM comparisons WHERE comparisons.state IN ('waiting', 'different')
                                 AND (left_shard = shards.id OR right_shard = shards.id))";
    sqlx::query(query).execute(connection.raw()).await?;
    let query = "UPDATE comparisons SET settled_by = NULL WHERE state = 'different' AND settled_by IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM leases WHERE leases.id = comparisons.settled_by AND leases.state = 'active')
                 AND NOT EXISTS (SELECT 1 FROM shards JOIN comparisons AS other
                                 ON other.left_shard = shards.id OR other.right_shard = shards.id
                                 WHERE shards.lease = comparisons.settled_by AND other.state = 'waiting')";
    sqlx::query(query).execute(connection.raw()).await?;
    Ok(())
}

/// A game with two different results.
pub(super) struct Dispute {
    pub(super) comparison: i64,
    pub(super) job: i64,
    /// The first game that differs.
    pub(super) game: i64,
}

/// Finds an unassigned dispute over a game that this account has not played.
pub(super) async fn open_dispute(
    connection: &mut Connection<'_>,
    account: i64,
    bench_signature: i64,
) -> Result<Option<Dispute>, StoreError> {
    let query = "SELECT comparisons.id, comparisons.job, comparisons.game
                 FROM comparisons JOIN jobs ON jobs.id = comparisons.job
                 WHERE comparisons.state = 'different' AND comparisons.settled_by IS NULL AND jobs.bench_signature = $2
                 AND NOT EXISTS (SELECT 1 FROM shards
                                 WHERE shards.job = comparisons.job AND shards.account = $1
                                 AND shards.first <= comparisons.game AND shards.first > comparisons.game - $3
                                 AND shards.first + shards.games > comparisons.game AND shards.state <> 'rejected')
                 ORDER BY comparisons.id LIMIT 1";
    let query = sqlx::query_as(query).bind(account).bind(bench_signature).bind(MAX_GAMES_PER_LEASE);
    let row: Option<(i64, i64, i64)> = query.fetch_optional(connection.raw()).await?;
    Ok(row.map(|(comparison, job, game)| Dispute { comparison, job, game }))
}

/// Assigns the dispute to a lease; false if it is no longer open.
pub(super) async fn mark_settling(
    connection: &mut Connection<'_>,
    comparison: i64,
    token: &str,
) -> Result<bool, StoreError> {
    let query = "UPDATE comparisons SET settled_by = (SELECT id FROM leases WHERE token = $2)
                 WHERE id = $1 AND state = 'different' AND settled_by IS NULL";
    let query = sqlx::query(query).bind(comparison).bind(token.to_owned());
    Ok(query.execute(connection.raw()).await?.rows_affected() == 1)
}

/// Queues the common games of two shards for comparison, if both files still exist. Games under a
/// clock are not reproducible: there the first upload is believed.
pub(super) async fn queue_comparison(
    connection: &mut Connection<'_>,
    now: Time,
    job: i64,
    shards: (i64, i64),
    games: Range<i64>,
) -> Result<(), StoreError> {
    if games.is_empty() || shards.0 == shards.1 {
        return Ok(());
    }
    let query = "INSERT INTO comparisons (job, left_shard, right_shard, first, games, state, created)
                 SELECT job, $2, $3, $4, $5, 'waiting', $6 FROM shards WHERE id = $2 AND job = $1
                 AND NOT EXISTS (SELECT 1 FROM shards AS gone WHERE gone.id IN ($2, $3) AND gone.object <> 'present')
                 AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = $1 AND jobs.kind = 'timed')
                 ON CONFLICT (left_shard, right_shard, first) DO UPDATE SET state = 'waiting'
                 WHERE comparisons.state = 'void'";
    let query = sqlx::query(query).bind(job).bind(shards.0).bind(shards.1).bind(games.start);
    query.bind(games.end - games.start).bind(now.0).execute(connection.raw()).await?;
    Ok(())
}

/// Two files to compare.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct ToCompare {
    /// Id for reporting the result.
    pub comparison: i64,
    /// Hash of the left shard.
    pub left: String,
    /// Hash of the right shard.
    pub right: String,
    /// First common game.
    pub first: i64,
    /// Number of common games.
    pub games: i64,
}

/// Claims comparisons of validated shards until a time.
pub async fn claim(
    connection: &mut Connection<'_>,
    now: Time,
    limit: i64,
    until: Time,
) -> Result<Vec<ToCompare>, StoreError> {
    let query = connection.skip_locked(
        "SELECT comparisons.id AS comparison, l.hash AS left, r.hash AS right,
                comparisons.first AS first, comparisons.games AS games
         FROM comparisons JOIN shards AS l ON l.id = comparisons.left_shard
                          JOIN shards AS r ON r.id = comparisons.right_shard
         WHERE comparisons.state = 'waiting' AND comparisons.claimed_until < $1
         AND l.validated IS NOT NULL AND r.validated IS NOT NULL
         ORDER BY comparisons.id LIMIT $2",
        "comparisons",
    );
    let rows: Vec<ToCompare> = sqlx::query_as(query).bind(now.0).bind(limit).fetch_all(connection.raw()).await?;
    for row in &rows {
        let query = "UPDATE comparisons SET claimed_until = $2 WHERE id = $1";
        sqlx::query(query).bind(row.comparison).bind(until.0).execute(connection.raw()).await?;
    }
    Ok(rows)
}

/// The games of a shard that other accounts in good standing reproduced on request, as disjoint
/// ranges.
///
/// Only the assigned auditor, a settling lease or a trusted worker counts. Otherwise two accounts
/// of one owner could confirm each other with unrequested games. An auditor's own upload gains
/// nothing from an audit, since its worker may have recognised it.
async fn verified_ranges(connection: &mut Connection<'_>, shard: i64) -> Result<Vec<Range<i64>>, StoreError> {
    let query = "SELECT comparisons.first, comparisons.games FROM comparisons
                 JOIN shards AS own ON own.id = $1
                 JOIN shards AS other ON other.id = CASE WHEN left_shard = $1 THEN right_shard ELSE left_shard END
                 JOIN accounts AS confirming ON confirming.id = other.account
                 JOIN leases AS theirs ON theirs.id = other.lease
                 JOIN workers AS their_worker ON their_worker.id = other.worker
                 WHERE (theirs.audited = $1 OR theirs.kind = 'settle' OR their_worker.trusted <> 0)
                 AND comparisons.state = 'equal' AND (left_shard = $1 OR right_shard = $1)
                 AND confirming.id <> own.account AND confirming.distrusted = 0 ORDER BY comparisons.first";
    let ranges: Vec<(i64, i64)> = sqlx::query_as(query).bind(shard).fetch_all(connection.raw()).await?;
    let mut verified: Vec<Range<i64>> = Vec::new();
    for (first, games) in ranges {
        match verified.last_mut() {
            Some(last) if first <= last.end => last.end = last.end.max(first + games),
            _ => verified.push(first..first + games),
        }
    }
    Ok(verified)
}

/// Draws a range of a shard with at least one unverified game.
pub(super) async fn draw_range(
    connection: &mut Connection<'_>,
    wanted: &WantedAudit,
    games: i64,
    unit: i64,
    draw: u64,
) -> Result<Range<i64>, StoreError> {
    let end = wanted.first + wanted.games;
    let verified = verified_ranges(connection, wanted.shard).await?;
    let is_verified = |game: &i64| verified.iter().any(|range| range.contains(game));
    let open: Vec<i64> = (wanted.first..end).step_by(unit as usize).filter(|game| !is_verified(game)).collect();
    let pick = |of: i64, draw: u64| (draw % of.max(1) as u64) as i64;
    // The game's place within the range is random too, within the shard.
    let game = open.get(pick(open.len() as i64, draw) as usize).copied().unwrap_or(wanted.first);
    let before = pick(games / unit, draw >> 24) * unit;
    let first = (game - before).clamp(wanted.first, end - games);
    Ok(first..first + games)
}

/// Minimum games of a shard to audit: a tenth.
pub(super) const fn min_audit_games(games: i64) -> i64 {
    games / 10
}

/// Recomputes the verified games of a shard. Returns the change and whether the shard is verified
/// enough. A requested second audit stays open until the count grows, even if it is enough already.
pub(super) async fn recompute_audit(connection: &mut Connection<'_>, shard: i64) -> Result<(i64, bool), StoreError> {
    let verified: i64 =
        verified_ranges(connection, shard).await?.into_iter().map(|range| range.end - range.start).sum();
    let query = "SELECT games, audited_games FROM shards WHERE id = $1";
    let (games, before): (i64, i64) = sqlx::query_as(query).bind(shard).fetch_one(connection.raw()).await?;
    let is_enough = verified > 0 && verified >= min_audit_games(games);
    let query = "UPDATE shards SET audited_games = $2,
                 audit = CASE WHEN audit = 'none' THEN 'none' WHEN $3 = 1 THEN 'clean'
                              WHEN audit = 'clean' AND $4 = 0 THEN 'wanted' ELSE audit END WHERE id = $1";
    let query = sqlx::query(query).bind(shard).bind(verified).bind(i64::from(is_enough && verified > before));
    query.bind(i64::from(is_enough)).execute(connection.raw()).await?;
    Ok((verified - before, is_enough))
}

/// Recomputes an account's clean games from its shards.
pub(super) async fn recompute_account(connection: &mut Connection<'_>, account: i64) -> Result<(), StoreError> {
    let query = "UPDATE accounts SET
                 clean_games = (SELECT CAST(COALESCE(SUM(audited_games), 0) AS BIGINT) FROM shards WHERE account = $1),
                 clean_until = COALESCE((SELECT MAX(id) FROM shards
                                         WHERE account = $1 AND audited_games > 0 AND audited_games >= games / 10), 0)
                 WHERE id = $1";
    sqlx::query(query).bind(account).execute(connection.raw()).await?;
    Ok(())
}

/// The shards found equal to those of an account.
const CONFIRMED_BY: &str = "(SELECT right_shard FROM shards AS theirs
                         JOIN comparisons ON left_shard = theirs.id WHERE theirs.account = $1 AND comparisons.state = 'equal'
                         UNION SELECT left_shard FROM shards AS theirs
                         JOIN comparisons ON right_shard = theirs.id WHERE theirs.account = $1 AND comparisons.state = 'equal')";

/// Recomputes the audits that an account confirmed, after its standing changed. So accounts that
/// confirm each other's wrong games fall together. Returns the confirmed accounts and whether each
/// is distrusted.
pub(super) async fn reverify_dependents(
    connection: &mut Connection<'_>,
    by: i64,
) -> Result<Vec<(i64, i64)>, StoreError> {
    let query =
        AssertSqlSafe(format!("SELECT id FROM shards WHERE account <> $1 AND id IN {CONFIRMED_BY} ORDER BY id"));
    let shards: Vec<i64> = sqlx::query_scalar(query).bind(by).fetch_all(connection.raw()).await?;
    for shard in shards {
        recompute_audit(connection, shard).await?;
    }
    let query = AssertSqlSafe(format!(
        "SELECT id, distrusted FROM accounts
         WHERE id <> $1 AND id IN (SELECT account FROM shards WHERE shards.id IN {CONFIRMED_BY}) ORDER BY id"
    ));
    let confirmed: Vec<(i64, i64)> = sqlx::query_as(query).bind(by).fetch_all(connection.raw()).await?;
    for &(account, _) in &confirmed {
        recompute_account(connection, account).await?;
    }
    Ok(confirmed)
}

/// Settles the disputes over these games that a trusted worker has decided, and releases the shards
/// that won.
pub(super) async fn settle_disputes(
    connection: &mut Connection<'_>,
    now: Time,
    job: i64,
    games: Range<i64>,
) -> Result<(), StoreError> {
    let query = "SELECT id, left_shard, right_shard, game FROM comparisons
                 WHERE job = $1 AND state = 'different' AND first < $3 AND first + games > $2 ORDER BY id";
    let query = sqlx::query_as(query).bind(job).bind(games.start).bind(games.end);
    let open: Vec<(i64, i64, i64, Option<i64>)> = query.fetch_all(connection.raw()).await?;
    for (comparison, left, right, game) in open {
        let game = game.unwrap_or(games.start);
        let mut all_judged = true;
        for shard in [left, right] {
            if !is_judged(connection, shard, game).await? {
                all_judged = false;
                compare_with_trusted(connection, now, job, shard, game).await?;
            }
        }
        if !all_judged {
            continue;
        }
        mark_settled(connection, comparison).await?;
        for shard in [left, right] {
            release_dispute(connection, job, shard).await?;
        }
    }
    Ok(())
}

pub(super) async fn mark_settled(connection: &mut Connection<'_>, comparison: i64) -> Result<(), StoreError> {
    let query = "UPDATE comparisons SET state = 'settled' WHERE id = $1";
    sqlx::query(query).bind(comparison).execute(connection.raw()).await?;
    Ok(())
}

/// Whether a shard's version of this game is decided: the shard is out, or a trusted worker got the
/// same result.
async fn is_judged(connection: &mut Connection<'_>, shard: i64, game: i64) -> Result<bool, StoreError> {
    let query = "SELECT COUNT(*) FROM shards WHERE id = $1 AND (state IN ('rejected', 'quarantined') OR EXISTS
                 (SELECT 1 FROM comparisons
                  JOIN shards AS t ON t.id = CASE left_shard WHEN $1 THEN right_shard ELSE left_shard END
                  JOIN workers ON workers.id = t.worker
                  WHERE (left_shard = $1 OR right_shard = $1) AND comparisons.state = 'equal' AND workers.trusted = 1
                  AND comparisons.first <= $2 AND comparisons.first + comparisons.games > $2))";
    let judged: i64 = sqlx::query_scalar(query).bind(shard).bind(game).fetch_one(connection.raw()).await?;
    Ok(judged == 1)
}

/// Compares a disputed game with a trusted worker's existing result, because no worker is asked to
/// play a game twice.
async fn compare_with_trusted(
    connection: &mut Connection<'_>,
    now: Time,
    job: i64,
    shard: i64,
    game: i64,
) -> Result<(), StoreError> {
    let query = "SELECT theirs.id, theirs.first, theirs.games, own.first, own.games
                 FROM shards AS theirs JOIN workers ON workers.id = theirs.worker JOIN shards AS own ON own.id = $2
                 WHERE theirs.job = $1 AND theirs.id <> $2 AND workers.trusted = 1 AND theirs.first <= $3
                 AND theirs.first > $3 - $4 AND theirs.first + theirs.games > $3 AND theirs.state = 'validated'
                 AND NOT EXISTS (SELECT 1 FROM comparisons WHERE state <> 'void'
                                 AND comparisons.first <= $3 AND comparisons.first + comparisons.games > $3
                                 AND ((left_shard = theirs.id AND right_shard = $2)
                                      OR (left_shard = $2 AND right_shard = theirs.id)))
                 ORDER BY theirs.id LIMIT 1";
    let query = sqlx::query_as(query).bind(job).bind(shard).bind(game).bind(MAX_GAMES_PER_LEASE);
    let found: Option<(i64, i64, i64, i64, i64)> = query.fetch_optional(connection.raw()).await?;
    if let Some((theirs, their_first, their_games, first, games)) = found {
        let common = their_first.max(first)..(their_first + their_games).min(first + games);
        queue_comparison(connection, now, job, (theirs, shard), common).await?;
    }
    Ok(())
}

/// Returns an undisputed shard to the pool; it takes over those of its games that no shard holds.
async fn release_dispute(connection: &mut Connection<'_>, job: i64, shard: i64) -> Result<(), StoreError> {
    totals::leave(connection, shard).await?;
    let query = "UPDATE shards SET state = 'validated' WHERE id = $1 AND state = 'disputed' AND NOT EXISTS
                 (SELECT 1 FROM comparisons WHERE state = 'different' AND (left_shard = $1 OR right_shard = $1))
                 RETURNING first, games";
    let row: Option<(i64, i64)> = sqlx::query_as(query).bind(shard).fetch_optional(connection.raw()).await?;
    totals::enter(connection, shard).await?;
    if let Some((first, games)) = row {
        segments::hold(connection, job, first..first + games, shard).await?;
    }
    Ok(())
}
