//! The database.
//!
//! One [`Store`], two databases: `SQLite` in a file, or `PostgreSQL` by its address. What is asked of them is the same
//! text of SQL; where they differ ([`Connection::locking`], the types of columns) is said here and nowhere else.
//!
//! An operation is a function on a [`Connection`]. [`Store::write`] runs it as one transaction, which is committed,
//! and on disk, when the call returns; if the operation fails, nothing of it happened. Operations may be run again
//! when databases ask for it, so they do nothing but read and write the database.
//!
//! A commit costs a wait for the disk. So operations that wait at the same time are committed together, each within a
//! savepoint of its own.

mod error;
mod group;
mod schema;

use std::{
    path::{Path, PathBuf},
    str::FromStr,
    sync::Once,
    time::Duration,
};

use futures_util::future::BoxFuture;
use sqlx::{
    AnyConnection, AnyPool, AssertSqlSafe, ConnectOptions as _, Row as _,
    any::{AnyConnectOptions, AnyPoolOptions, AnyRow},
    sqlite::SqliteConnectOptions,
};

pub use error::{Failure, StoreError};
pub use schema::VERSION as SCHEMA;

use crate::clock::{Clock, Time};
use group::Writer;

/// How far the clocks of a coordinator and its database may be apart, in milliseconds.
const MOST_SKEW: i64 = 2_000;

/// What `SQLite` is told on the connection that writes. Other coordinators may be writing, so waiting comes first.
const WRITING: &str = "PRAGMA busy_timeout = 30000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
                       PRAGMA foreign_keys = ON; PRAGMA cache_size = -65536;";

/// What it is told on those that read.
const READING: &str = "PRAGMA busy_timeout = 30000; PRAGMA query_only = ON; PRAGMA cache_size = -65536;";

/// What an operation gives back.
pub type Outcome<T> = Result<T, Failure>;

/// An operation under way.
pub type Operation<'c, T> = BoxFuture<'c, Outcome<T>>;

/// Which database it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `SQLite`.
    Sqlite,
    /// `PostgreSQL`.
    Postgres,
}

/// A connection in the middle of a transaction.
pub struct Connection<'t> {
    raw: &'t mut AnyConnection,
    dialect: Dialect,
}

impl Connection<'_> {
    /// For `sqlx`.
    pub fn raw(&mut self) -> &mut AnyConnection {
        self.raw
    }

    /// Which database it is.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// A query whose rows nobody else changes until this transaction ends. `SQLite` has one writer anyway. That others
    /// refer to such a row is no change of it: whoever writes a row behind the job may look at its campaign, whatever
    /// is done with that.
    #[must_use]
    pub fn locking(&self, query: &'static str) -> AssertSqlSafe<String> {
        AssertSqlSafe(match self.dialect {
            Dialect::Sqlite => query.to_owned(),
            Dialect::Postgres => format!("{query} FOR NO KEY UPDATE"),
        })
    }

    /// A query whose rows nobody changes until this transaction ends, though others may hold them so as well.
    #[must_use]
    pub fn sharing(&self, query: &'static str) -> AssertSqlSafe<String> {
        AssertSqlSafe(match self.dialect {
            Dialect::Sqlite => query.to_owned(),
            Dialect::Postgres => format!("{query} FOR SHARE"),
        })
    }

    /// A query that takes rows of this table, and passes over those which somebody else is changing.
    #[must_use]
    pub fn taking(&self, query: &'static str, table: &'static str) -> AssertSqlSafe<String> {
        AssertSqlSafe(match self.dialect {
            Dialect::Sqlite => query.to_owned(),
            Dialect::Postgres => format!("{query} FOR NO KEY UPDATE OF {table} SKIP LOCKED"),
        })
    }
}

/// The database, and how to work on it.
pub trait Store: Clone + Send + Sync + 'static {
    /// Runs an operation as one transaction that may write. When it returns `Ok`, what was written is on disk.
    fn write<T, F>(&self, operation: F) -> impl Future<Output = Outcome<T>> + Send
    where
        T: Send + 'static,
        F: for<'c> Fn(Connection<'c>) -> Operation<'c, T> + Send + Sync + 'static;

    /// Runs an operation that only reads, on what was committed before it began.
    fn read<T, F>(&self, operation: F) -> impl Future<Output = Outcome<T>> + Send
    where
        T: Send + 'static,
        F: for<'c> Fn(Connection<'c>) -> Operation<'c, T> + Send + Sync + 'static;
}

/// One of the databases.
#[derive(Clone)]
pub struct Database {
    dialect: Dialect,
    /// Connections that read.
    pool: AnyPool,
    /// The one that writes.
    writer: Writer,
    /// The folder with its file, if it has one.
    folder: Option<PathBuf>,
}

impl Database {
    /// Opens a database and brings its tables to this version.
    ///
    /// `address` is `sqlite:FILE` or `postgres://…`.
    ///
    /// # Errors
    ///
    /// If there is none, it is newer than this program, or its clock is not the one given.
    pub async fn open(address: &str, clock: Option<&Clock>) -> Result<Self, StoreError> {
        let store = Self::connect(address).await?;
        if let Some(clock) = clock {
            // Asked only now: a database that is slow to reach is not one with another clock.
            store.check_clock(clock.now()).await?;
        }
        schema::migrate(&store).await?;
        Ok(store)
    }

    async fn connect(address: &str) -> Result<Self, StoreError> {
        static DRIVERS: Once = Once::new();
        DRIVERS.call_once(sqlx::any::install_default_drivers);
        let unreachable = |source| StoreError::Unreachable { address: hidden(address), source };
        if let Some(file) = address.strip_prefix("sqlite:") {
            let file = file.strip_prefix("//").unwrap_or(file);
            let options = SqliteConnectOptions::new().filename(Path::new(file)).create_if_missing(true);
            let options = AnyConnectOptions::from_str(options.to_url_lossy().as_str()).map_err(unreachable)?;
            // What an address cannot say is said on every connection.
            let pool = |most, settings: &'static str| {
                AnyPoolOptions::new().max_connections(most).acquire_timeout(Duration::from_secs(30)).after_connect(
                    move |connection, _| {
                        Box::pin(async move { sqlx::raw_sql(settings).execute(connection).await.map(drop) })
                    },
                )
            };
            let one = pool(1, WRITING).connect_with(options.clone()).await.map_err(unreachable)?;
            let pool = pool(4, READING).connect_with(options).await.map_err(unreachable)?;
            let writer = Writer::start(one, Dialect::Sqlite);
            let folder = Path::new(file).parent().map(|folder| Path::new(".").join(folder));
            return Ok(Self { dialect: Dialect::Sqlite, pool, writer, folder });
        }
        if address.starts_with("postgres://") || address.starts_with("postgresql://") {
            let options = AnyConnectOptions::from_str(address).map_err(unreachable)?;
            let pool = |most| AnyPoolOptions::new().max_connections(most).acquire_timeout(Duration::from_secs(30));
            let one = pool(1).connect_with(options.clone()).await.map_err(unreachable)?;
            let pool = pool(8).connect_with(options).await.map_err(unreachable)?;
            let writer = Writer::start(one, Dialect::Postgres);
            return Ok(Self { dialect: Dialect::Postgres, pool, writer, folder: None });
        }
        Err(StoreError::Address(hidden(address)))
    }

    /// Which database it is.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The folder with its file; none if it is a server's.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    async fn check_clock(&self, now: Time) -> Result<(), StoreError> {
        let query = match self.dialect {
            Dialect::Sqlite => "SELECT CAST(unixepoch('subsec') * 1000 AS BIGINT)",
            Dialect::Postgres => "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
        };
        let row: AnyRow = sqlx::query(query).fetch_one(&self.pool).await.map_err(StoreError::Database)?;
        let theirs: i64 = row.try_get(0).map_err(StoreError::Database)?;
        let apart = theirs - now.0;
        if apart.abs() > MOST_SKEW { Err(StoreError::Clock { apart }) } else { Ok(()) }
    }

    /// Waits for what is being written, and closes all connections.
    pub async fn close(&self) {
        self.writer.stop().await;
        self.pool.close().await;
    }
}

impl Store for Database {
    async fn write<T, F>(&self, operation: F) -> Outcome<T>
    where
        T: Send + 'static,
        F: for<'c> Fn(Connection<'c>) -> Operation<'c, T> + Send + Sync + 'static,
    {
        self.writer.write(operation).await
    }

    async fn read<T, F>(&self, operation: F) -> Outcome<T>
    where
        T: Send + 'static,
        F: for<'c> Fn(Connection<'c>) -> Operation<'c, T> + Send + Sync + 'static,
    {
        let begin = match self.dialect {
            Dialect::Sqlite => "BEGIN",
            // One picture of the database for all that the operation asks.
            Dialect::Postgres => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        };
        let mut transaction = self.pool.begin_with(begin).await?;
        let result = operation(Connection { raw: &mut transaction, dialect: self.dialect }).await;
        // There is nothing to keep; if this fails, the connection is at fault, and the next to have it finds out.
        drop(transaction.rollback().await);
        result
    }
}

/// An address without the password in it.
fn hidden(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    match rest.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://…@{host}"),
        None => address.to_owned(),
    }
}
