//! A connection within a transaction.

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

/// A function that only reads, with its arguments: see [`query!`](crate::query).
pub trait Query<T>: for<'c> FnOnce(Connection<'c>) -> Running<'c, T> + Send {}

impl<T, F: for<'c> FnOnce(Connection<'c>) -> Running<'c, T> + Send> Query<T> for F {}

/// A [`Query`] of an expression, which may await.
#[macro_export]
macro_rules! query {
    (|$connection:ident| $found:expr) => {
        move |#[allow(unused_mut, reason = "not every query borrows it")] mut $connection| {
            ::std::boxed::Box::pin(async move { $found })
        }
    };
}
