//! Errors of the store.

use std::io;

use protocol::api::problem::{Code, Problem};

use crate::model::{Refusal, UnknownWord};

/// An error in opening the database.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum OpenError {
    #[error("`{0}` is no address of a database: give sqlite:FILE or postgres://USER@HOST/NAME")]
    Address(String),
    #[error("the database {address} cannot be opened: {cause}")]
    Unreachable { address: String, cause: String },
    #[error("the database's clock is {apart} ms from this machine's: set them right, then start again")]
    Clock { apart: i64 },
    #[error("the database has tables of version {found}, this program knows {known}: it is too old for them")]
    TooNew { found: i64, known: i64 },
    #[error("the database failed: {0}")]
    Database(sqlx::Error),
}

impl OpenError {
    pub(super) fn unreachable(address: String, error: &sqlx::Error) -> Self {
        let cause = match error {
            sqlx::Error::Database(error) if address.starts_with("sqlite:") => {
                // The lowest byte is the primary code.
                match error.code().and_then(|code| code.parse::<u32>().ok()).unwrap_or_default() & 0xff {
                    8 => "this user may not write it".to_owned(),
                    11 => "it is damaged; `admin restore` reads a backup into a new folder".to_owned(),
                    14 => "it is a folder, or this user may not use it".to_owned(),
                    26 => "this file is no database; `--data DIR` names another folder".to_owned(),
                    _ => error.message().to_owned(),
                }
            }
            sqlx::Error::Database(error) => error.message().to_owned(),
            sqlx::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                "no server answers there (connection refused)".to_owned()
            }
            sqlx::Error::Io(error) => error.to_string(),
            sqlx::Error::Configuration(error) => error.to_string(),
            other => other.to_string(),
        };
        Self::Unreachable { address, cause }
    }
}

/// An error of an operation.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The request is not allowed.
    #[error(transparent)]
    Rejected(#[from] Refusal),
    /// The database failed.
    #[error("the database failed: {0}")]
    Database(#[from] sqlx::Error),
    /// The queue of writes is full.
    #[error("the database is busy")]
    Busy,
    /// Nothing was written, as the disk is full.
    #[error("the disk of the database is full")]
    DiskFull,
    /// A file of a backup cannot be read or written.
    #[error("{0}")]
    Backup(String),
    /// The stored data is inconsistent.
    #[error("the database holds {0}")]
    Corrupt(String),
}

impl StoreError {
    /// A problem for programs.
    #[must_use]
    pub fn rejected(code: Code, detail: impl Into<String>) -> Self {
        Self::Rejected(Problem::new(code, detail).into())
    }

    /// Whether a row that must exist does not.
    #[must_use]
    pub const fn is_missing_row(&self) -> bool {
        matches!(self, Self::Database(sqlx::Error::RowNotFound))
    }

    /// Whether the disk of the database is full.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::DiskFull => true,
            // SQLITE_FULL, and disk_full of PostgreSQL.
            Self::Database(sqlx::Error::Database(error)) => matches!(error.code().as_deref(), Some("13" | "53100")),
            _ => false,
        }
    }

    /// Whether an immediate retry may succeed: serialization failure, deadlock or unique violation.
    #[must_use]
    pub fn is_collision(&self) -> bool {
        let Self::Database(sqlx::Error::Database(error)) = self else { return false };
        matches!(error.code().as_deref(), Some("40001" | "40P01" | "23505"))
    }
}

impl From<Problem> for StoreError {
    fn from(problem: Problem) -> Self {
        Self::Rejected(problem.into())
    }
}

impl From<UnknownWord> for StoreError {
    fn from(unknown: UnknownWord) -> Self {
        Self::Corrupt(unknown.to_string())
    }
}
