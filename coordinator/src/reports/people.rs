//! Workers and people: machines, failures, disputes, and what an account has.

use protocol::api::problem::Code;
use serde::Serialize;

use crate::{
    clock::Time,
    people,
    store::{Connection, Failure as Failed, Outcome},
};

/// So many rows are on a page.
pub const ROWS: i64 = 50;

/// A machine, with what only its owner and maintainers may see.
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
pub struct Machine {
    /// Its number.
    pub worker: i64,
    /// Whose it is.
    pub account: String,
    /// Its name.
    pub name: String,
    /// The version of its program.
    pub version: String,
    /// Its threads.
    pub threads: i64,
    /// Its system.
    pub system: String,
    /// Its instructions.
    pub instruction_set: String,
    /// How fast a thread searches.
    pub nodes_per_second: Option<i64>,
    /// Whether its word settles disputes.
    pub trusted: i64,
    /// The message with which it is blocked.
    pub blocked: Option<String>,
    /// When it was here last.
    pub last_seen: i64,
    /// Shards that were validated.
    pub accepted: i64,
    /// Shards that were rejected.
    pub rejected: i64,
    /// Why the last of them was.
    pub rejected_why: Option<String>,
}

/// Machines, those first that were here last: of an account, or of all.
///
/// # Errors
///
/// If the database fails.
pub async fn machines(connection: &mut Connection<'_>, account: Option<i64>, page: i64) -> Outcome<Vec<Machine>> {
    // First the rows of the page: what is counted for each is counted for no other.
    let query = "SELECT w.id AS worker, accounts.name AS account, w.name AS name, version, threads, system,
                        instruction_set, nodes_per_second, trusted, blocked, last_seen,
                        (SELECT COUNT(*) FROM shards WHERE worker = w.id AND shards.state = 'validated') AS accepted,
                        (SELECT COUNT(*) FROM shards WHERE worker = w.id AND shards.state = 'rejected') AS rejected,
                        (SELECT detail FROM shards WHERE worker = w.id AND shards.state = 'rejected'
                         ORDER BY shards.id DESC LIMIT 1) AS rejected_why
                 FROM (SELECT * FROM workers WHERE $1 < 0 OR account = $1 ORDER BY last_seen DESC, id LIMIT $2 OFFSET $3)
                      AS w JOIN accounts ON accounts.id = w.account ORDER BY last_seen DESC, w.id";
    let query = sqlx::query_as(query).bind(account.unwrap_or(-1)).bind(ROWS).bind(page.max(0) * ROWS);
    Ok(query.fetch_all(connection.raw()).await?)
}

/// What a worker said went wrong.
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
pub struct Failure {
    /// Its number.
    pub failure: i64,
    /// Whose.
    pub account: String,
    /// On which machine.
    pub worker: Option<String>,
    /// When.
    pub at: i64,
    /// The kind.
    pub kind: String,
    /// The version of the program.
    pub version: String,
    /// What it said.
    pub detail: String,
}

/// A page of what workers said went wrong, the last first: of an account, or of all.
///
/// # Errors
///
/// If the database fails.
pub async fn failures(connection: &mut Connection<'_>, account: Option<i64>, page: i64) -> Outcome<Vec<Failure>> {
    let query = "SELECT failures.id AS failure, accounts.name AS account, workers.name AS worker, at, kind,
                        failures.version AS version, detail
                 FROM failures JOIN accounts ON accounts.id = failures.account
                 LEFT JOIN workers ON workers.id = failures.worker
                 WHERE $1 < 0 OR failures.account = $1 ORDER BY failures.id DESC LIMIT $2 OFFSET $3";
    let query = sqlx::query_as(query).bind(account.unwrap_or(-1)).bind(ROWS).bind(page.max(0) * ROWS);
    Ok(query.fetch_all(connection.raw()).await?)
}

/// Games that two delivered, and that are compared or disputed.
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
pub struct Dispute {
    /// Its number.
    pub comparison: i64,
    /// The job.
    pub job: i64,
    /// The first game that both have.
    pub first: i64,
    /// How many.
    pub games: i64,
    /// waiting, different.
    pub state: String,
    /// The first game that differs.
    pub game: Option<i64>,
    /// Who delivered one.
    pub left: String,
    /// Who delivered the other.
    pub right: String,
    /// When it was found that both have them.
    pub created: i64,
}

/// Audits and disputes that are open, and how many shards wait to be played again.
#[derive(Clone, Debug, Serialize)]
pub struct Audits {
    /// Comparisons that differ or wait.
    pub open: Vec<Dispute>,
    /// Shards that are to be played again by others.
    pub wanted: i64,
    /// Shards that are being played again.
    pub leased: i64,
}

/// Audits and disputes that are open; a page of them, counted from 0.
///
/// # Errors
///
/// If the database fails.
pub async fn audits(connection: &mut Connection<'_>, page: i64) -> Outcome<Audits> {
    let query = "SELECT comparisons.id AS comparison, comparisons.job AS job, comparisons.first AS first,
                        comparisons.games AS games, comparisons.state AS state, game, one.name AS left,
                        other.name AS right, comparisons.created AS created
                 FROM comparisons JOIN shards AS l ON l.id = left_shard JOIN shards AS r ON r.id = right_shard
                 JOIN accounts AS one ON one.id = l.account JOIN accounts AS other ON other.id = r.account
                 WHERE comparisons.state IN ('different', 'waiting')
                 ORDER BY comparisons.state, comparisons.id DESC LIMIT $1 OFFSET $2";
    // `left` and `right` are words of SQL.
    let query = query.replace("AS left,", "AS \"left\",").replace("AS right,", "AS \"right\",");
    let query = sqlx::query_as(sqlx::AssertSqlSafe(query)).bind(ROWS).bind(page.max(0) * ROWS);
    let open = query.fetch_all(connection.raw()).await?;
    let count = |state: &'static str| sqlx::query_scalar("SELECT COUNT(*) FROM shards WHERE audit = $1").bind(state);
    let wanted = count("wanted").fetch_one(connection.raw()).await?;
    let leased = count("leased").fetch_one(connection.raw()).await?;
    Ok(Audits { open, wanted, leased })
}

/// What an account delivered, the last first.
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
pub struct Delivery {
    /// The shard's SHA-256.
    pub hash: String,
    /// The job.
    pub job: i64,
    /// Which machine.
    pub worker: String,
    /// The first game.
    pub first: i64,
    /// How many.
    pub games: i64,
    /// received, validated, rejected, disputed, quarantined.
    pub state: String,
    /// Why it was rejected, as a word.
    pub code: Option<String>,
    /// Why it was rejected.
    pub detail: Option<String>,
    /// When it came.
    pub received: i64,
}

/// A page of what an account delivered, the newest first.
///
/// # Errors
///
/// If the database fails.
pub async fn deliveries(connection: &mut Connection<'_>, account: i64, page: i64) -> Outcome<Vec<Delivery>> {
    let query = "SELECT hash, job, workers.name AS worker, first, games, state, code, detail, received
                 FROM shards JOIN workers ON workers.id = shards.worker
                 WHERE shards.account = $1 ORDER BY shards.id DESC LIMIT $2 OFFSET $3";
    let query = sqlx::query_as(query).bind(account).bind(ROWS).bind(page.max(0) * ROWS);
    Ok(query.fetch_all(connection.raw()).await?)
}

/// Who contributed how much.
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
pub struct Contributor {
    /// The account.
    pub account: String,
    /// Validated games.
    pub games: i64,
    /// Their positions.
    pub positions: i64,
}

/// Who contributed most, by validated games.
///
/// # Errors
///
/// If the database fails.
pub async fn ranking(connection: &mut Connection<'_>, page: i64) -> Outcome<Vec<Contributor>> {
    let query = "SELECT accounts.name AS account, total.games AS games, total.positions AS positions
                 FROM (SELECT account, CAST(SUM(games) AS BIGINT) AS games, CAST(SUM(positions) AS BIGINT) AS positions
                       FROM contributions GROUP BY account ORDER BY 2 DESC, 1 LIMIT $1 OFFSET $2) AS total
                 JOIN accounts ON accounts.id = total.account ORDER BY games DESC, accounts.id";
    Ok(sqlx::query_as(query).bind(ROWS).bind(page.max(0) * ROWS).fetch_all(connection.raw()).await?)
}

/// Somebody, as everybody may know them.
#[derive(Clone, Debug, Serialize)]
pub struct Person {
    /// The account.
    pub account: String,
    /// The place among all by validated games; none without any.
    pub rank: Option<i64>,
    /// Validated games.
    pub games: i64,
    /// Their positions.
    pub positions: i64,
}

/// The number and state of an account, and what everybody may know of it.
///
/// # Errors
///
/// If there is none, or none any more.
pub async fn person(connection: &mut Connection<'_>, name: &str) -> Outcome<(i64, String, Person)> {
    let id = people::account_by_name(connection, name).await?;
    let query = "SELECT name, state FROM accounts WHERE id = $1 AND state <> 'deleted'";
    let found: Option<(String, String)> = sqlx::query_as(query).bind(id).fetch_optional(connection.raw()).await?;
    let gone = || Failed::refused(Code::NotFound, format!("there is no account {name}"));
    let (account, state) = found.ok_or_else(gone)?;
    let total = people::contribution(connection, id, i64::MIN).await?;
    let rank = people::rank(connection, id).await?.map(|rank| rank as i64);
    Ok((id, state, Person { account, rank, games: total.games as i64, positions: total.positions as i64 }))
}

/// A day of somebody's.
#[derive(Clone, Copy, Debug, Default, Serialize, sqlx::FromRow)]
pub struct Day {
    /// Days since 1970.
    pub day: i64,
    /// Validated games.
    pub games: i64,
}

/// What an account gave on each of the last thirty days, the oldest first.
///
/// # Errors
///
/// If the database fails.
pub async fn days(connection: &mut Connection<'_>, account: i64, now: Time) -> Outcome<Vec<Day>> {
    let first = now.day() - 29;
    let query = "SELECT day, games FROM contributions WHERE account = $1 AND day >= $2";
    let found: Vec<Day> = sqlx::query_as(query).bind(account).bind(first).fetch_all(connection.raw()).await?;
    let of = |day| found.iter().find(|found| found.day == day).copied().unwrap_or(Day { day, games: 0 });
    Ok((first..=now.day()).map(of).collect())
}

/// An account's token, without what makes it one.
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
pub struct Token {
    /// Its number.
    pub token: i64,
    /// What it is for.
    pub name: String,
    /// How it begins.
    pub begins: String,
    /// What it allows.
    pub role: String,
    /// When it was made.
    pub created: i64,
    /// When it was used last.
    pub last_used: Option<i64>,
    /// When it ends.
    pub expires: Option<i64>,
    /// When it was revoked.
    pub revoked: Option<i64>,
}

/// A page of an account's tokens, the newest first.
///
/// # Errors
///
/// If the database fails.
pub async fn tokens(connection: &mut Connection<'_>, account: i64, page: i64) -> Outcome<Vec<Token>> {
    let query = "SELECT id AS token, name, prefix AS begins, role, created, last_used, expires, revoked
                 FROM tokens WHERE account = $1 ORDER BY id DESC LIMIT $2 OFFSET $3";
    let query = sqlx::query_as(query).bind(account).bind(ROWS).bind(page.max(0) * ROWS);
    Ok(query.fetch_all(connection.raw()).await?)
}

/// An account.
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
pub struct Account {
    /// Its number.
    pub account: i64,
    /// Its name.
    pub name: String,
    /// What it may do.
    pub role: String,
    /// pending, active, blocked, quarantined, deleted.
    pub state: String,
    /// What its workers are told.
    pub message: Option<String>,
    /// Since when it is here.
    pub created: i64,
    /// Games that were the same when others played them.
    pub clean_games: i64,
}

/// Accounts, those first that wait for something.
///
/// # Errors
///
/// If the database fails.
pub async fn accounts(connection: &mut Connection<'_>, page: i64) -> Outcome<Vec<Account>> {
    let query = "SELECT id AS account, name, role, state, message, created, clean_games FROM accounts
                 ORDER BY CASE state WHEN 'pending' THEN 0 WHEN 'quarantined' THEN 1 ELSE 2 END, id DESC
                 LIMIT $1 OFFSET $2";
    Ok(sqlx::query_as(query).bind(ROWS).bind(page.max(0) * ROWS).fetch_all(connection.raw()).await?)
}
