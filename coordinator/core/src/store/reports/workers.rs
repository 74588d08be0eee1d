//! Workers: machines, their failures, and how many are active.

use serde::Serialize;
use sqlx::{FromRow as _, any::AnyRow};

use super::{
    super::convert::{flag, row},
    ROWS,
};
use crate::{
    clock::{HOUR, Time},
    model::{AccountId, Reason, WorkerId},
    store::{Connection, StoreError},
};

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

/// A machine, with fields that only its owner and maintainers may see.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// Its worker.
    #[serde(flatten)]
    pub row: WorkerRow,
    /// Instruction set of its evaluation kernels.
    pub instruction_set: String,
    /// Number of validated shards.
    pub accepted: i64,
    /// Code of the latest rejection.
    #[serde(skip)]
    pub rejected_code: Option<String>,
    /// Reason of the last rejection.
    #[serde(serialize_with = "Reason::as_text")]
    pub rejected_why: Option<Reason>,
}

row!(Machine { row: worker_row, instruction_set, accepted, rejected_code, rejected_why });

fn worker_row(row: &AnyRow, _: &str) -> Result<WorkerRow, sqlx::Error> {
    WorkerRow::from_row(row)
}

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
#[derive(Clone, Debug, Serialize)]
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

row!(Failure { failure, account, worker, at, kind, version, detail });

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

/// The workers of the last ten minutes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Active {
    /// Their number.
    pub workers: i64,
    /// The number of their threads.
    pub threads: i64,
}

row!(Active { workers, threads });

/// Counts the workers of the last ten minutes.
pub async fn active_now(connection: &mut Connection<'_>, now: Time) -> Result<Active, StoreError> {
    let query = "SELECT COUNT(*) AS workers, CAST(COALESCE(SUM(threads), 0) AS BIGINT) AS threads FROM workers
                 WHERE last_seen > $1";
    Ok(sqlx::query_as(query).bind(now.0 - HOUR / 6).fetch_one(connection.raw()).await?)
}
