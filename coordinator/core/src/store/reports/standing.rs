//! The facts that explain the standing of an account.

use crate::{
    clock::Time,
    model::{AccountId, AccountKey, AccountState, AuditState, Reason, ShardState, Standing},
    store::{Accounts, Connection, StoreError, convert::row},
};

/// Entries of a history, at most.
const MAX_ENTRIES: i64 = 200;

/// The facts of an account.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Its name.
    pub name: String,
    /// The time of its creation.
    pub created: Time,
    /// Its state.
    pub state: AccountState,
    /// The reason of its state.
    pub message: Option<Reason>,
    /// Its proven work and its faults.
    pub standing: Standing,
    /// Games that others played again, to the same moves.
    pub clean_games: i64,
    /// Its uploads by state.
    pub uploads: Vec<Uploads>,
    /// Its uploads that were drawn for an audit, by the state of the audit.
    pub audits: Vec<Audits>,
    /// Audits that it was lent.
    pub audits_made: i64,
    /// Those that it did not deliver.
    pub audits_missed: i64,
    /// The newest entries of its history, the oldest first.
    pub history: Vec<Entry>,
}

/// Uploads of an account in a state.
#[derive(Clone, Copy, Debug)]
pub struct Uploads {
    /// The state.
    pub state: ShardState,
    /// Their number.
    pub uploads: i64,
    /// Their games.
    pub games: i64,
}

/// Uploads of an account with an audit in a state.
#[derive(Clone, Copy, Debug)]
pub struct Audits {
    /// The state of the audit: wanted, leased, clean.
    pub audit: AuditState,
    /// Their number.
    pub uploads: i64,
}

/// An entry of a history.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its time.
    pub at: Time,
    /// The kind of a lapsed lease, `dropped` for an audit, `returned`, `comparison`, or `ruling`;
    /// none for an event.
    pub what: Option<String>,
    /// The text of an event.
    pub text: Option<String>,
    /// The job.
    pub job: i64,
    /// The first game.
    pub first: i64,
    /// The number of games.
    pub games: i64,
    /// The number of a ruling.
    pub ruling: i64,
}

struct Counts {
    created: Time,
    clean_games: i64,
    audits_made: i64,
    audits_missed: i64,
    standing: Standing,
}

fn standing(row: &sqlx::any::AnyRow, _: &str) -> Result<Standing, sqlx::Error> {
    sqlx::FromRow::from_row(row)
}

row!(Counts { created, clean_games, audits_made, audits_missed, standing: standing });
row!(Uploads { state, uploads, games });
row!(Audits { audit, uploads });
row!(Entry { at, what, text, job, first, games, ruling });

/// Reads the facts of an account.
///
/// # Errors
///
/// If there is no such account.
pub async fn facts(connection: &mut Connection<'_>, account: &AccountKey) -> Result<Facts, StoreError> {
    let account = Accounts::on(connection.reborrow()).get(account).await?;
    let query = "SELECT created, clean_games, proven_nodes, faults, waits_until,
                        (SELECT COUNT(*) FROM leases WHERE account = $1 AND kind = 'audit') AS audits_made,
                        (SELECT COUNT(*) FROM leases WHERE account = $1 AND kind = 'audit'
                         AND state IN ('expired', 'returned')) AS audits_missed
                 FROM accounts WHERE id = $1";
    let row: Counts = sqlx::query_as(query).bind(account.id).fetch_one(connection.raw()).await?;
    let query = "SELECT state, COUNT(*) AS uploads, CAST(SUM(games) AS BIGINT) AS games FROM shards
                 WHERE account = $1 GROUP BY state ORDER BY state";
    let uploads = sqlx::query_as(query).bind(account.id).fetch_all(connection.raw()).await?;
    let query = "SELECT audit, COUNT(*) AS uploads FROM shards WHERE account = $1 AND audit <> 'none'
                 GROUP BY audit ORDER BY audit";
    let audits = sqlx::query_as(query).bind(account.id).fetch_all(connection.raw()).await?;
    let history = history(connection, account.id).await?;
    Ok(Facts {
        name: account.name,
        created: row.created,
        state: account.state,
        message: account.message,
        standing: row.standing,
        clean_games: row.clean_games,
        uploads,
        audits,
        audits_made: row.audits_made,
        audits_missed: row.audits_missed,
        history,
    })
}

/// The history of an account: the events about it and its workers, lapsed leases, dropped audits,
/// and leases given back at a price. With them are the comparisons and rulings that found a
/// difference in its games.
async fn history(connection: &mut Connection<'_>, account: AccountId) -> Result<Vec<Entry>, StoreError> {
    let query = "SELECT at, what, text, job, first, games, ruling FROM (
                     SELECT at, NULL AS what, text, 0 AS job, 0 AS first, 0 AS games, 0 AS ruling FROM events
                     WHERE subject = 'account:' || CAST($1 AS TEXT)
                     UNION ALL SELECT at, NULL, text, 0, 0, 0, 0 FROM workers CROSS JOIN events
                     WHERE workers.account = $1 AND subject = 'worker:' || CAST(workers.id AS TEXT)
                     UNION ALL SELECT expires, kind, NULL, job, first, games, 0 FROM leases
                     WHERE account = $1 AND state = 'expired'
                     UNION ALL SELECT created, 'dropped', NULL, job, first, games, 0 FROM leases
                     WHERE account = $1 AND state = 'returned' AND kind = 'audit'
                     UNION ALL SELECT created, 'returned', NULL, job, first, games, 0 FROM leases
                     WHERE account = $1 AND state = 'returned' AND kind = 'fresh' AND charged > 0
                     UNION ALL SELECT comparisons.created, 'comparison', NULL, comparisons.job, comparisons.game, 1, 0
                     FROM shards CROSS JOIN comparisons
                     WHERE shards.account = $1 AND comparisons.left_shard = shards.id AND comparisons.game IS NOT NULL
                     UNION ALL SELECT comparisons.created, 'comparison', NULL, comparisons.job, comparisons.game, 1, 0
                     FROM shards CROSS JOIN comparisons
                     WHERE shards.account = $1 AND comparisons.right_shard = shards.id AND comparisons.game IS NOT NULL
                     UNION ALL SELECT rulings.at, 'ruling', NULL, rulings.job, rulings.game, 1, rulings.id
                     FROM rulings CROSS JOIN shards
                     WHERE shards.account = $1 AND shards.job = rulings.job
                     AND shards.first <= rulings.game AND shards.first + shards.games > rulings.game
                 ) AS entries ORDER BY at DESC LIMIT $2";
    let query = sqlx::query_as(query).bind(account).bind(MAX_ENTRIES);
    let mut entries: Vec<Entry> = query.fetch_all(connection.raw()).await?;
    entries.reverse();
    Ok(entries)
}
