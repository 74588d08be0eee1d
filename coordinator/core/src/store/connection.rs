//! A connection within a transaction, and the trait of what runs operations on one.

use futures_util::future::BoxFuture;
use sqlx::{AnyConnection, AssertSqlSafe};

use super::error::StoreError;

/// A running operation.
pub type Running<'c, T> = BoxFuture<'c, Result<T, StoreError>>;

/// The kind of database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `SQLite`.
    Sqlite,
    /// `PostgreSQL`.
    Postgres,
}

/// A connection within a transaction.
pub struct Connection<'t> {
    raw: &'t mut AnyConnection,
    dialect: Dialect,
}

impl<'t> Connection<'t> {
    /// A connection whose transaction has begun.
    pub(super) fn new(raw: &'t mut AnyConnection, dialect: Dialect) -> Self {
        Self { raw, dialect }
    }

    /// The same connection, for a shorter time.
    pub fn reborrow(&mut self) -> Connection<'_> {
        Connection { raw: &mut *self.raw, dialect: self.dialect }
    }

    /// The underlying `sqlx` connection.
    pub fn raw(&mut self) -> &mut AnyConnection {
        self.raw
    }

    /// Returns the kind of database.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// `SELECT … FOR NO KEY UPDATE`: locks the rows until this transaction ends. References to a
    /// locked row stay possible, so shards can be written while their campaign's row is locked.
    /// `SQLite` has a single writer and needs no lock.
    #[must_use]
    pub fn for_update(&self, query: &'static str) -> AssertSqlSafe<String> {
        AssertSqlSafe(match self.dialect {
            Dialect::Sqlite => query.to_owned(),
            Dialect::Postgres => format!("{query} FOR NO KEY UPDATE"),
        })
    }

    /// `SELECT … FOR SHARE`: keeps the rows unchanged until this transaction ends; others may share
    /// them.
    #[must_use]
    pub fn for_share(&self, query: &'static str) -> AssertSqlSafe<String> {
        AssertSqlSafe(match self.dialect {
            Dialect::Sqlite => query.to_owned(),
            Dialect::Postgres => format!("{query} FOR SHARE"),
        })
    }

    /// `SELECT … FOR NO KEY UPDATE SKIP LOCKED`: locks rows of `table` and skips those locked
    /// elsewhere.
    #[must_use]
    pub fn skip_locked(&self, query: &'static str, table: &'static str) -> AssertSqlSafe<String> {
        AssertSqlSafe(match self.dialect {
            Dialect::Sqlite => query.to_owned(),
            Dialect::Postgres => format!("{query} FOR NO KEY UPDATE OF {table} SKIP LOCKED"),
        })
    }
}

/// Access to the database.
pub trait Store: Clone + Send + Sync + 'static {
    /// Runs an operation as one transaction that may write. On `Ok` its writes are durable.
    fn write<T, F>(&self, operation: F) -> impl Future<Output = Result<T, StoreError>> + Send
    where
        T: Send + 'static,
        F: for<'c> Fn(Connection<'c>) -> Running<'c, T> + Send + Sync + 'static;

    /// Runs an operation that only reads, on a snapshot.
    fn read<T, F>(&self, operation: F) -> impl Future<Output = Result<T, StoreError>> + Send
    where
        T: Send + 'static,
        F: for<'c> Fn(Connection<'c>) -> Running<'c, T> + Send + Sync + 'static;
}
