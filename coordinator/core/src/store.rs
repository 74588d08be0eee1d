//! The database.
//!
//! One [`Database`], two kinds: `SQLite` in a file, or `PostgreSQL` by address. Both run the same
//! SQL. The differences (row locks, see [`Connection::for_update`], and column types) are confined
//! to this module.
//!
//! An [`Operation`] is a value. [`Database::run`] runs it as one transaction, which is durable when
//! the call returns. A failed operation leaves nothing behind. Databases may ask for a retry, so
//! operations do nothing but read and write the database. A [`Query`] reads on a snapshot: by
//! [`Database::read`], or by [`Database::report`] if it is long.
//!
//! Group commit: a commit costs a wait for the disk, so queued operations are committed together,
//! each within its own savepoint.

mod accounts;
mod audits;
mod campaigns;
mod comparisons;
mod connection;
mod convert;
pub mod counting;
mod error;
mod events;
mod group_commit;
mod jobs;
mod leases;
mod matches;
mod nets;
mod object_names;
mod operation;
mod report_pool;
pub mod reports;
mod retention;
mod reviews;
mod rulings;
mod schema;
mod segments;
mod settings;
mod shards;
mod standing;
mod stored_bytes;
mod tables;
mod times;
mod tokens;
mod totals;
mod trainings;
mod webhooks;
mod workers;

use std::{
    path::{Path, PathBuf},
    str::FromStr,
    sync::{Once, atomic::Ordering},
    time::Duration,
};

use sqlx::{
    AnyConnection, AnyPool, ConnectOptions as _, Connection as _, Row as _,
    any::{AnyConnectOptions, AnyPoolOptions, AnyRow},
    sqlite::SqliteConnectOptions,
};

pub use accounts::Accounts;
pub use campaigns::{Campaigns, Promotion};
pub use comparisons::Comparisons;
pub use connection::{Connection, Dialect, Query, Running};
pub use error::{OpenError, StoreError};
pub use events::Events;
pub use jobs::{Jobs, NewJob};
pub use leases::{DueLease, LeaseWithHeader, Leases};
pub use matches::Match;
pub use nets::{Nets, TrainingSet};
pub use object_names::ObjectNames;
pub use operation::{Operation, Tx};
pub use report_pool::MAX_REPORTS;
pub use retention::{Current, Expirable, Retention};
pub use reviews::Reviews;
pub use rulings::Rulings;
pub use schema::{RECOUNT, VERSION as SCHEMA};
pub use segments::Segments;
pub use settings::SettingValues;
pub use shards::Shards;
pub use tables::{JsonRow, TABLES, Tables};
pub use times::Times;
pub use tokens::{NewToken, Tokens};
pub use totals::Totals;
pub use trainings::Trainings;
pub use webhooks::{Due, Webhooks};
pub use workers::Workers;

use crate::{
    clock::{Clock, Time},
    folder,
};
use group_commit::{Received, Writer};
use operation::Unnamed;
use report_pool::ReportPool;

/// Maximum difference between the clocks of the coordinator and its database, in milliseconds.
const MAX_CLOCK_SKEW_MS: i64 = 2_000;

/// Settings of the `SQLite` connection that writes. The busy timeout comes first, because other
/// coordinators may be writing.
const WRITE_PRAGMAS: &str = "PRAGMA busy_timeout = 30000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
                       PRAGMA foreign_keys = ON; PRAGMA cache_size = -65536;";

/// Settings of the `SQLite` connections that read.
const READ_PRAGMAS: &str = "PRAGMA busy_timeout = 30000; PRAGMA query_only = ON; PRAGMA cache_size = -65536;";

/// Settings of the `PostgreSQL` connections for reports: the server ends a statement that takes
/// longer than any report may.
const REPORT_SETTINGS: &str = "SET statement_timeout = '20s'";

/// A pool of connections to one database.
#[derive(Clone)]
pub struct Database {
    dialect: Dialect,
    /// Connections for reading.
    pool: AnyPool,
    /// Connections for reports.
    reports: ReportPool,
    /// The single writer.
    writer: Writer,
    /// The database file; none for a server.
    file: Option<PathBuf>,
    /// Its folder.
    folder: Option<PathBuf>,
    /// The version of its tables before this program migrated them; 0 for a new database.
    found_schema: i64,
}

impl Database {
    /// Opens a database and migrates its tables to this version.
    ///
    /// `address` is `sqlite:FILE` or `postgres://…`.
    ///
    /// # Errors
    ///
    /// If it cannot be reached, is newer than this program, or its clock is not the given one.
    pub async fn open(address: &str, clock: Option<&Clock>) -> Result<Self, OpenError> {
        let mut store = Self::connect(address).await?;
        if let Some(clock) = clock {
            // Only after connecting: a slow connection must not look like clock skew.
            store.check_clock(clock.now()).await?;
        }
        let found = store.run(Time::default(), schema::Migrate).await.map_err(|error| match error {
            StoreError::Database(error) => OpenError::Database(error),
            other => OpenError::Database(sqlx::Error::Protocol(other.to_string())),
        })?;
        if found > SCHEMA {
            return Err(OpenError::TooNew { found, known: SCHEMA });
        }
        store.found_schema = found;
        Ok(store)
    }

    async fn connect(address: &str) -> Result<Self, OpenError> {
        static DRIVERS: Once = Once::new();
        DRIVERS.call_once(sqlx::any::install_default_drivers);
        let unreachable = |error: sqlx::Error| OpenError::unreachable(hidden(address), &error);
        if let Some(file) = address.strip_prefix("sqlite:") {
            let file = file.strip_prefix("//").unwrap_or(file);
            close_to_others(Path::new(file));
            let options = SqliteConnectOptions::new().filename(Path::new(file)).create_if_missing(true);
            let options = AnyConnectOptions::from_str(options.to_url_lossy().as_str()).map_err(unreachable)?;
            // A pool would retry a connection that cannot write, and then say that it timed out.
            let mut first = AnyConnection::connect_with(&options).await.map_err(unreachable)?;
            sqlx::raw_sql(WRITE_PRAGMAS).execute(&mut first).await.map_err(unreachable)?;
            first.close().await.map_err(unreachable)?;
            // Pragmas cannot be part of the address, so each connection sets them.
            let pool = |max, settings: &'static str| {
                AnyPoolOptions::new().max_connections(max).acquire_timeout(Duration::from_secs(30)).after_connect(
                    move |connection, _| {
                        Box::pin(async move { sqlx::raw_sql(settings).execute(connection).await.map(drop) })
                    },
                )
            };
            let one = pool(1, WRITE_PRAGMAS).connect_with(options.clone()).await.map_err(unreachable)?;
            let reports = pool(2, READ_PRAGMAS).connect_with(options.clone()).await.map_err(unreachable)?;
            let pool = pool(4, READ_PRAGMAS).connect_with(options).await.map_err(unreachable)?;
            let writer = Writer::start(one, Dialect::Sqlite);
            let folder = Path::new(file).parent().map(|folder| Path::new(".").join(folder));
            let reports = ReportPool::new(reports);
            let file = Some(PathBuf::from(file));
            return Ok(Self { dialect: Dialect::Sqlite, pool, reports, writer, file, folder, found_schema: 0 });
        }
        if address.starts_with("postgres://") || address.starts_with("postgresql://") {
            let options = AnyConnectOptions::from_str(address).map_err(unreachable)?;
            // A pool would retry a refused connection for long, and then say that it timed out.
            let first = AnyConnection::connect_with(&options).await.map_err(unreachable)?;
            first.close().await.map_err(unreachable)?;
            let pool = |max| AnyPoolOptions::new().max_connections(max).acquire_timeout(Duration::from_secs(30));
            let one = pool(1).connect_with(options.clone()).await.map_err(unreachable)?;
            let reports = pool(4).after_connect(|connection, _| {
                Box::pin(async move { sqlx::raw_sql(REPORT_SETTINGS).execute(connection).await.map(drop) })
            });
            let reports = ReportPool::new(reports.connect_with(options.clone()).await.map_err(unreachable)?);
            let pool = pool(8).connect_with(options).await.map_err(unreachable)?;
            let writer = Writer::start(one, Dialect::Postgres);
            let (file, folder) = (None, None);
            return Ok(Self { dialect: Dialect::Postgres, pool, reports, writer, file, folder, found_schema: 0 });
        }
        Err(OpenError::Address(hidden(address)))
    }

    /// Returns the kind of database.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the version of the tables that were found; 0 for a new database.
    #[must_use]
    pub const fn found_schema(&self) -> i64 {
        self.found_schema
    }

    /// Returns the database file; none for a server.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Returns the folder of the database file; none for a server.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    async fn check_clock(&self, now: Time) -> Result<(), OpenError> {
        let query = match self.dialect {
            Dialect::Sqlite => "SELECT CAST(unixepoch('subsec') * 1000 AS BIGINT)",
            Dialect::Postgres => "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
        };
        let row: AnyRow = sqlx::query(query).fetch_one(&self.pool).await.map_err(OpenError::Database)?;
        let theirs: i64 = row.try_get(0).map_err(OpenError::Database)?;
        let apart = theirs - now.0;
        if apart.abs() > MAX_CLOCK_SKEW_MS { Err(OpenError::Clock { apart }) } else { Ok(()) }
    }

    /// Runs an operation as one transaction. On `Ok` its writes are durable.
    pub async fn run<O: Operation>(&self, now: Time, operation: O) -> Result<O::Output, StoreError> {
        received(self.writer.queue(now, operation)?).await
    }

    /// Whether an operation found the disk full, and none has written since.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        self.writer.is_disk_full().load(Ordering::Relaxed)
    }

    /// Records that the disk is not full any more.
    pub fn record_space(&self) {
        self.writer.is_disk_full().store(false, Ordering::Relaxed);
    }

    /// Waits for queued writes and closes all connections.
    pub async fn close(&self) {
        self.writer.stop().await;
        self.reports.pool.close().await;
        self.pool.close().await;
    }

    /// Reads for a page or a report. Reports have connections of their own, so they delay neither
    /// authentication nor leases. Their number and their time are limited.
    pub async fn report<T>(&self, query: impl Query<T>) -> Result<T, StoreError> {
        self.reports.limit(self.read_on(&self.reports.pool, query)).await
    }

    /// Runs an operation that only reads, on a snapshot.
    pub async fn read<T>(&self, query: impl Query<T>) -> Result<T, StoreError> {
        self.read_on(&self.pool, query).await
    }

    /// Runs a function as one transaction that may write. On `Ok` its writes are durable.
    pub async fn write<T, F>(&self, function: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> Fn(Connection<'c>) -> Running<'c, T> + Send + Sync + 'static,
    {
        received(self.writer.queue(Time::default(), Unnamed::new(function))?).await
    }

    async fn read_on<T>(&self, pool: &AnyPool, query: impl Query<T>) -> Result<T, StoreError> {
        let begin = match self.dialect {
            Dialect::Sqlite => "BEGIN",
            // One snapshot for all queries of the operation.
            Dialect::Postgres => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        };
        let mut transaction = pool.begin_with(begin).await?;
        let result = query(Connection::new(&mut transaction, self.dialect)).await;
        // Nothing to keep. If the rollback fails, the next user of the connection finds out.
        drop(transaction.rollback().await);
        result
    }
}

/// Waits for the commit of a queued operation.
async fn received<T>(received: Received<T>) -> Result<T, StoreError> {
    received.await.unwrap_or(Err(StoreError::Busy))
}

/// Creates a database file that other users cannot read, or takes this right from them. `SQLite`
/// gives the files beside it the same rights. What fails here is left to `SQLite`, whose error says
/// why.
fn close_to_others(file: &Path) {
    drop(folder::create_private_file(file));
    for end in ["", "-wal", "-shm"] {
        let mut path = file.as_os_str().to_owned();
        path.push(end);
        drop(folder::close_to_others(Path::new(&path)));
    }
}

/// Removes user and password from an address.
#[must_use]
pub fn hidden(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    match rest.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://…@{host}"),
        None => address.to_owned(),
    }
}
