//! People: disputes, deliveries, contributions, and the data of an account.

use serde::Serialize;

use super::super::convert::row;
pub use super::{
    ROWS,
    accounts::{Account, Token, accounts, all_accounts, all_tokens, tokens},
    workers::{Active, Failure, Machine, WorkerRow, active_now, failures, machines, workers},
};
use crate::{
    clock::Time,
    model::{AccountId, AccountState, ComparisonId, ComparisonState, JobId, Reason, Refusal, ShardState},
    store::{Accounts, Connection, StoreError},
};

/// A comparison of duplicate deliveries that is open or disputed.
#[derive(Clone, Debug, Serialize)]
pub struct Dispute {
    /// The comparison's id.
    pub comparison: ComparisonId,
    /// Id of the job of both deliveries.
    pub job: JobId,
    /// Number of the first common game.
    pub first: i64,
    /// Number of common games.
    pub games: i64,
    /// State: waiting, different.
    pub state: ComparisonState,
    /// Number of the first game with different results.
    pub game: Option<i64>,
    /// Name of the account of one delivery.
    pub left: String,
    /// Name of the account of the other.
    pub right: String,
    /// Time of detection, in milliseconds since 1970.
    pub created: i64,
}

row!(Dispute { comparison, job, first, games, state, game, left, right, created });

/// Open audits and disputes, and the number of shards under audit.
#[derive(Clone, Debug, Serialize)]
pub struct Audits {
    /// Open comparisons, one page.
    pub open: Vec<Dispute>,
    /// Shards waiting for an audit.
    pub wanted: i64,
    /// Shards leased for an audit.
    pub leased: i64,
}

struct Waiting {
    wanted: i64,
    leased: i64,
}

row!(Waiting { wanted, leased });

/// A page (counted from 0) of open audits and disputes.
pub async fn audits(connection: &mut Connection<'_>, page: i64) -> Result<Audits, StoreError> {
    let query = "SELECT comparisons.id AS comparison, comparisons.job AS job, comparisons.first AS first,
                        comparisons.games AS games, comparisons.state AS state, game, one.name AS left,
                        other.name AS right, comparisons.created AS created
                 FROM (SELECT id FROM comparisons WHERE state = 'different'
                       UNION ALL SELECT id FROM comparisons WHERE state = 'waiting') AS open
                 CROSS JOIN comparisons JOIN shards AS l ON l.id = left_shard JOIN shards AS r ON r.id = right_shard
                 JOIN accounts AS one ON one.id = l.account JOIN accounts AS other ON other.id = r.account
                 WHERE comparisons.id = open.id
                 ORDER BY comparisons.state, comparisons.id DESC LIMIT $1 OFFSET $2";
    // `left` and `right` are SQL keywords.
    let query = query.replace("AS left,", "AS \"left\",").replace("AS right,", "AS \"right\",");
    let query = sqlx::query_as(sqlx::AssertSqlSafe(query)).bind(ROWS).bind(page.max(0) * ROWS);
    let open = query.fetch_all(connection.raw()).await?;
    let query = "SELECT (SELECT COUNT(*) FROM shards WHERE audit = 'wanted') AS wanted,
                        (SELECT COUNT(*) FROM shards WHERE audit = 'leased') AS leased";
    let Waiting { wanted, leased } = sqlx::query_as(query).fetch_one(connection.raw()).await?;
    Ok(Audits { open, wanted, leased })
}

/// A delivery of an account.
#[derive(Clone, Debug, Serialize)]
pub struct Delivery {
    /// The shard's SHA-256.
    pub hash: String,
    /// Id of the job.
    pub job: JobId,
    /// Name of the machine.
    pub worker: String,
    /// Number of the first game.
    pub first: i64,
    /// Number of games.
    pub games: i64,
    /// State: received, validated, rejected, disputed, quarantined.
    pub state: ShardState,
    /// Problem code of a rejection.
    pub code: Option<String>,
    /// Reason of a rejection.
    #[serde(serialize_with = "Reason::as_text")]
    pub detail: Option<Reason>,
    /// Time of upload, in milliseconds since 1970.
    pub received: i64,
}

row!(Delivery { hash, job, worker, first, games, state, code, detail, received });

/// A page of an account's deliveries, the newest first.
pub async fn deliveries(
    connection: &mut Connection<'_>,
    account: AccountId,
    page: i64,
) -> Result<Vec<Delivery>, StoreError> {
    let query = "SELECT hash, job, workers.name AS worker, first, games, state, code, detail, received
                 FROM shards JOIN workers ON workers.id = shards.worker
                 WHERE shards.account = $1 ORDER BY shards.id DESC LIMIT $2 OFFSET $3";
    let query = sqlx::query_as(query).bind(account).bind(ROWS).bind(page.max(0) * ROWS);
    Ok(query.fetch_all(connection.raw()).await?)
}

/// An account's contribution.
#[derive(Clone, Debug, Serialize)]
pub struct Contributor {
    /// Name of the account.
    pub account: String,
    /// Number of validated games.
    pub games: i64,
    /// Number of their positions with a searched move.
    pub positions: i64,
}

row!(Contributor { account, games, positions });

/// Contributors after some others, by validated games: names and totals only.
pub async fn ranking(connection: &mut Connection<'_>, after: i64, limit: i64) -> Result<Vec<Contributor>, StoreError> {
    let query = "SELECT accounts.name AS account, total.games AS games, total.positions AS positions
                 FROM (SELECT account, CAST(SUM(games) AS BIGINT) AS games, CAST(SUM(positions) AS BIGINT) AS positions
                       FROM contributions GROUP BY account ORDER BY 2 DESC, 1 LIMIT $1 OFFSET $2) AS total
                 JOIN accounts ON accounts.id = total.account ORDER BY games DESC, accounts.id";
    Ok(sqlx::query_as(query).bind(limit).bind(after.max(0)).fetch_all(connection.raw()).await?)
}

/// The public data of a person.
#[derive(Clone, Debug, Serialize)]
pub struct Person {
    /// Name of the account.
    pub account: String,
    /// Rank by validated games; none without any.
    pub rank: Option<i64>,
    /// Number of validated games.
    pub games: i64,
    /// Number of their positions with a searched move.
    pub positions: i64,
}

/// Reads an account's number, state and public data.
///
/// # Errors
///
/// If the account does not exist or was deleted.
pub async fn person(
    connection: &mut Connection<'_>,
    name: &str,
) -> Result<(AccountId, AccountState, Person), StoreError> {
    let mut accounts = Accounts::on(connection.reborrow());
    let account = accounts.get(&name.into()).await?;
    if account.state == AccountState::Deleted {
        return Err(Refusal::NoAccount { account: name.to_owned() }.into());
    }
    let total = accounts.contribution(account.id, i64::MIN).await?;
    let rank = accounts.rank(account.id).await?.map(|rank| rank as i64);
    let (games, positions) = (total.games as i64, total.positions as i64);
    Ok((account.id, account.state, Person { account: account.name, rank, games, positions }))
}

/// An account's games of a day.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Day {
    /// The day (UTC), counted from 1970.
    pub day: i64,
    /// Number of validated games.
    pub games: i64,
}

row!(Day { day, games });

/// An account's validated games of the last thirty days, the oldest first.
pub async fn days(connection: &mut Connection<'_>, account: AccountId, now: Time) -> Result<Vec<Day>, StoreError> {
    let first = now.day() - 29;
    let query = "SELECT day, games FROM contributions WHERE account = $1 AND day >= $2";
    let found: Vec<Day> = sqlx::query_as(query).bind(account).bind(first).fetch_all(connection.raw()).await?;
    let of = |day| found.iter().find(|found| found.day == day).copied().unwrap_or(Day { day, games: 0 });
    Ok((first..=now.day()).map(of).collect())
}
