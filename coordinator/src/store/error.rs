//! Why an operation on the database did not happen.

use protocol::api::problem::{Code, Problem};

/// Why there is no database to work on.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum StoreError {
    #[error("`{0}` is no address of a database: give sqlite:FILE or postgres://USER@HOST/NAME")]
    Address(String),
    #[error("the database {address} cannot be opened: {source}")]
    Unreachable { address: String, source: sqlx::Error },
    #[error("the database's clock is {apart} ms from this machine's: set them right, then start again")]
    Clock { apart: i64 },
    #[error("the database has tables of version {found}, this program knows {known}: it is too old for them")]
    TooNew { found: i64, known: i64 },
    #[error("the database failed: {0}")]
    Database(sqlx::Error),
}

/// Why an operation did not happen.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// It may not.
    #[error(transparent)]
    Refused(#[from] Problem),
    /// The database failed.
    #[error("the database failed: {0}")]
    Database(#[from] sqlx::Error),
    /// There is more to write than the database keeps up with.
    #[error("the database is busy")]
    Busy,
    /// What the database holds does not hold together.
    #[error("the database holds {0}")]
    Broken(String),
}

impl Failure {
    /// It may not happen.
    #[must_use]
    pub fn refused(code: Code, detail: impl Into<String>) -> Self {
        Self::Refused(Problem::new(code, detail))
    }

    /// Whether it may happen if it is tried again at once: two operations were in each other's way.
    #[must_use]
    pub fn is_collision(&self) -> bool {
        let Self::Database(sqlx::Error::Database(error)) = self else { return false };
        matches!(error.code().as_deref(), Some("40001" | "40P01" | "23505"))
    }
}
