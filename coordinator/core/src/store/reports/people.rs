//! Workers and people: machines, failures, disputes, and the data of an account.

use protocol::api::work::Role;
use serde::Serialize;

use super::super::convert::{flag, role, row};
use crate::{
    clock::{HOUR, Time},
    model::{
        AccountId, AccountState, ComparisonId, ComparisonState, JobId, Reason, Refusal, ShardState, TokenId, WorkerId,
    },
    store::{Accounts, Connection, StoreError},
};

/// Rows per page.
pub const ROWS: i64 = 50;

/// A machine, with fields that only its owner and maintainers may see.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// The worker's id.
    pub worker: WorkerId,
    /// Name of the owner's account.
    pub account: String,
    /// The machine's name, under which it registers again.
    pub name: String,
    /// Version of its `chuhe-worker`.
    pub version: String,
    /// Number of its playing threads.
    pub threads: i64,
    /// Operating system and processor family, such as `linux-x86_64`.
    pub system: String,
    /// Instruction set of its evaluation kernels.
    pub instruction_set: String,
    /// Nodes per second of all threads in its last games; none before the first.
    pub nodes_per_second: Option<i64>,
    /// Whether its results settle disputes.
    pub trusted: bool,
    /// The message of its block; none if it is not blocked.
    #[serde(serialize_with = "Reason::as_text")]
    pub blocked: Option<Reason>,
    /// Time of the last request, in milliseconds since 1970.
    pub last_seen: i64,
    /// Number of validated shards.
    pub accepted: i64,
    /// Number of rejected shards.
    pub rejected: i64,
    /// Code of the latest rejection.
    #[serde(skip)]
    pub rejected_code: Option<String>,
    /// Reason of the last rejection.
    #[serde(serialize_with = "Reason::as_text")]
    pub rejected_why: Option<Reason>,
}

row!(Machine {
    worker,
    account,
    name,
    version,
    threads,
    system,
    instruction_set,
    nodes_per_second,
    trusted: flag,
    blocked,
    last_seen,
    accepted,
    rejected,
    rejected_code,
    rejected_why,
});

/// Machines of one account or of all, the most recently seen first.
pub async fn machines(
    connection: &mut Connection<'_>,
    account: Option<AccountId>,
    page: i64,
) -> Result<Vec<Machine>, StoreError> {
    // The page's rows are selected first: the counts are computed for these alone.
    let query = "SELECT w.id AS worker, accounts.name AS account, w.name AS name, version, threads, system,
                        instruction_set, nodes_per_second, trusted, blocked, last_seen,
                        (SELECT COUNT(*) FROM shards WHERE worker = w.id AND shards.state = 'validated') AS accepted,
                        (SELECT COUNT(*) FROM shards WHERE worker = w.id AND shards.state = 'rejected') AS rejected,
                        last.code AS rejected_code, last.detail AS rejected_why
                 FROM (SELECT * FROM workers WHERE $1 < 0 OR account = $1 ORDER BY last_seen DESC, id LIMIT $2 OFFSET $3)
                      AS w JOIN accounts ON accounts.id = w.account LEFT JOIN shards AS last ON last.id =
                           (SELECT MAX(id) FROM shards WHERE worker = w.id AND shards.state = 'rejected')
                 ORDER BY last_seen DESC, w.id";
    let query = sqlx::query_as(query).bind(account.unwrap_or(AccountId(-1))).bind(ROWS).bind(page.max(0) * ROWS);
    Ok(query.fetch_all(connection.raw()).await?)
}

/// A failure report of a worker.
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
pub struct Failure {
    /// The report's id.
    pub failure: i64,
    /// Name of the account.
    pub account: String,
    /// Name of the machine, if it was registered.
    pub worker: Option<String>,
    /// Time of the report, in milliseconds since 1970.
    pub at: i64,
    /// Kind, as named by `FailureKind` on the wire.
    pub kind: String,
    /// Version of the worker.
    pub version: String,
    /// Description, for people.
    pub detail: String,
}

/// A page of failure reports of one account or of all, the newest first.
pub async fn failures(
    connection: &mut Connection<'_>,
    account: Option<AccountId>,
    page: i64,
) -> Result<Vec<Failure>, StoreError> {
    let query = "SELECT failures.id AS failure, accounts.name AS account, workers.name AS worker, at, kind,
                        failures.version AS version, detail
                 FROM failures JOIN accounts ON accounts.id = failures.account
                 LEFT JOIN workers ON workers.id = failures.worker
                 WHERE $1 < 0 OR failures.account = $1 ORDER BY failures.id DESC LIMIT $2 OFFSET $3";
    let query = sqlx::query_as(query).bind(account.unwrap_or(AccountId(-1))).bind(ROWS).bind(page.max(0) * ROWS);
    Ok(query.fetch_all(connection.raw()).await?)
}

/// A comparison of duplicate deliveries that is open or disputed.
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
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
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
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
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
pub struct Contributor {
    /// Name of the account.
    pub account: String,
    /// Number of validated games.
    pub games: i64,
    /// Number of their positions with a searched move.
    pub positions: i64,
}

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
#[derive(Clone, Copy, Debug, Default, Serialize, sqlx::FromRow)]
pub struct Day {
    /// The day (UTC), counted from 1970.
    pub day: i64,
    /// Number of validated games.
    pub games: i64,
}

/// An account's validated games of the last thirty days, the oldest first.
pub async fn days(connection: &mut Connection<'_>, account: AccountId, now: Time) -> Result<Vec<Day>, StoreError> {
    let first = now.day() - 29;
    let query = "SELECT day, games FROM contributions WHERE account = $1 AND day >= $2";
    let found: Vec<Day> = sqlx::query_as(query).bind(account).bind(first).fetch_all(connection.raw()).await?;
    let of = |day| found.iter().find(|found| found.day == day).copied().unwrap_or(Day { day, games: 0 });
    Ok((first..=now.day()).map(of).collect())
}

/// An account's token, without its secret.
#[derive(Clone, Debug, Serialize)]
pub struct Token {
    /// The token's id, by which it is revoked.
    pub token: TokenId,
    /// Purpose, as named by the owner.
    pub name: String,
    /// The first characters of the secret.
    pub begins: String,
    /// Role of its requests, at most the account's.
    pub role: Role,
    /// Time of creation, in milliseconds since 1970.
    pub created: i64,
    /// Time of the last use, in milliseconds since 1970; none before the first.
    pub last_used: Option<i64>,
    /// Time of expiry, in milliseconds since 1970; none if it never expires.
    pub expires: Option<i64>,
    /// Time of revocation, in milliseconds since 1970.
    pub revoked: Option<i64>,
}

row!(Token { token, name, begins, role: role, created, last_used, expires, revoked });

/// An account's tokens after some others, the newest first, without their secrets.
pub async fn tokens(
    connection: &mut Connection<'_>,
    account: AccountId,
    after: i64,
    limit: i64,
) -> Result<Vec<Token>, StoreError> {
    let query = "SELECT id AS token, name, prefix AS begins, role, created, last_used, expires, revoked
                 FROM tokens WHERE account = $1 ORDER BY id DESC LIMIT $2 OFFSET $3";
    let query = sqlx::query_as(query).bind(account).bind(limit).bind(after.max(0));
    Ok(query.fetch_all(connection.raw()).await?)
}

/// A worker, as its owner and maintainers see it in the API.
#[derive(Clone, Debug, Serialize)]
pub struct WorkerRow {
    /// The worker's id.
    pub worker: WorkerId,
    /// Name of the owner's account.
    pub account: String,
    /// The machine's name.
    pub name: String,
    /// Version of its program.
    pub version: String,
    /// Number of its threads.
    pub threads: i64,
    /// Operating system and processor family.
    pub system: String,
    /// Nodes per second of all threads.
    pub nodes_per_second: Option<i64>,
    /// Whether its results settle disputes.
    pub trusted: bool,
    /// The message of its block.
    #[serde(serialize_with = "Reason::as_text")]
    pub blocked: Option<Reason>,
    /// Time of the last request, in milliseconds since 1970.
    pub last_seen: i64,
    /// Number of rejected shards.
    pub rejected: i64,
}

row!(WorkerRow {
    worker,
    account,
    name,
    version,
    threads,
    system,
    nodes_per_second,
    trusted: flag,
    blocked,
    last_seen,
    rejected,
});

/// Workers of one account or of all, the most recently seen first.
pub async fn workers(
    connection: &mut Connection<'_>,
    account: Option<AccountId>,
) -> Result<Vec<WorkerRow>, StoreError> {
    let query = "SELECT workers.id AS worker, accounts.name AS account, workers.name AS name, version, threads, system,
                        nodes_per_second, trusted, blocked, last_seen,
                        (SELECT COUNT(*) FROM shards WHERE shards.worker = workers.id AND shards.state = 'rejected')
                            AS rejected
                 FROM workers JOIN accounts ON accounts.id = workers.account
                 WHERE $1 < 0 OR workers.account = $1 ORDER BY last_seen DESC, workers.id LIMIT 2000";
    let query = sqlx::query_as(query).bind(account.unwrap_or(AccountId(-1)));
    Ok(query.fetch_all(connection.raw()).await?)
}

/// An account's tokens, the oldest first, without their secrets.
pub async fn all_tokens(connection: &mut Connection<'_>, account: AccountId) -> Result<Vec<Token>, StoreError> {
    let mut all = tokens(connection, account, 0, 1_000).await?;
    all.reverse();
    Ok(all)
}

/// An account, as administrators see it.
#[derive(Clone, Debug, Serialize)]
pub struct Account {
    /// The account's id.
    pub account: AccountId,
    /// Name, unique among accounts.
    pub name: String,
    /// Role: volunteer, trainer, maintainer, admin.
    pub role: Role,
    /// State: pending, active, blocked, quarantined, deleted.
    pub state: AccountState,
    /// The message of its block, sent to its workers.
    #[serde(serialize_with = "Reason::as_text")]
    pub message: Option<Reason>,
    /// Time of creation, in milliseconds since 1970.
    pub created: i64,
    /// Number of games confirmed by audits.
    pub clean_games: i64,
}

row!(Account { account, name, role: role, state, message, created, clean_games });

/// All accounts, in the order of their creation.
pub async fn all_accounts(connection: &mut Connection<'_>) -> Result<Vec<Account>, StoreError> {
    let query =
        "SELECT id AS account, name, role, state, message, created, clean_games FROM accounts ORDER BY id LIMIT 10000";
    Ok(sqlx::query_as(query).fetch_all(connection.raw()).await?)
}

/// A page of accounts: pending first, then quarantined.
pub async fn accounts(connection: &mut Connection<'_>, page: i64) -> Result<Vec<Account>, StoreError> {
    let query = "SELECT id AS account, name, role, state, message, created, clean_games FROM accounts
                 ORDER BY CASE state WHEN 'pending' THEN 0 WHEN 'quarantined' THEN 1 ELSE 2 END, id DESC
                 LIMIT $1 OFFSET $2";
    Ok(sqlx::query_as(query).bind(ROWS).bind(page.max(0) * ROWS).fetch_all(connection.raw()).await?)
}

/// The workers of the last ten minutes.
#[derive(Clone, Copy, Debug, Default, sqlx::FromRow)]
pub struct Active {
    /// Their number.
    pub workers: i64,
    /// The number of their threads.
    pub threads: i64,
}

/// Counts the workers of the last ten minutes.
pub async fn active_now(connection: &mut Connection<'_>, now: Time) -> Result<Active, StoreError> {
    let query = "SELECT COUNT(*) AS workers, CAST(COALESCE(SUM(threads), 0) AS BIGINT) AS threads FROM workers
                 WHERE last_seen > $1";
    Ok(sqlx::query_as(query).bind(now.0 - HOUR / 6).fetch_one(connection.raw()).await?)
}
