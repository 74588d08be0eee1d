//! The tables, and how they come to be.
//!
//! Times are milliseconds since 1970, sizes and counts are whole numbers, hashes are in hexadecimal digits; words that
//! a column may hold stand behind it. Nothing has a row for every game.

use sqlx::{AssertSqlSafe, Row as _};

use super::{Database, Dialect, Failure, Store as _, StoreError};

/// The steps from an empty database to this version's, in order. A step that was released never changes.
const STEPS: [&str; 1] = [include_str!("schema/1.sql")];

/// Brings the tables to this version.
pub(super) async fn migrate(store: &Database) -> Result<(), StoreError> {
    let found = store
        .write(|mut connection| {
            Box::pin(async move {
                let table = "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)";
                sqlx::raw_sql(table).execute(connection.raw()).await?;
                if connection.dialect() == Dialect::Postgres {
                    sqlx::raw_sql("LOCK TABLE schema_version IN EXCLUSIVE MODE").execute(connection.raw()).await?;
                }
                let row = sqlx::query("SELECT COALESCE(MAX(version), 0) FROM schema_version");
                let found: i64 = row.fetch_one(connection.raw()).await?.try_get(0)?;
                for (number, step) in (1..).zip(STEPS).skip_while(|(number, _)| *number <= found) {
                    let step = in_dialect(step, connection.dialect());
                    sqlx::raw_sql(AssertSqlSafe(step)).execute(connection.raw()).await?;
                    let note = sqlx::query("INSERT INTO schema_version (version) VALUES ($1)");
                    note.bind(number).execute(connection.raw()).await?;
                }
                Ok(found)
            })
        })
        .await
        .map_err(|failure| match failure {
            Failure::Database(error) => StoreError::Database(error),
            other => StoreError::Database(sqlx::Error::Protocol(other.to_string())),
        })?;
    let known = STEPS.len() as i64;
    if found > known { Err(StoreError::TooNew { found, known }) } else { Ok(()) }
}

/// The types that the databases call differently.
fn in_dialect(step: &str, dialect: Dialect) -> String {
    let (identity, bytes) = match dialect {
        Dialect::Sqlite => ("INTEGER PRIMARY KEY AUTOINCREMENT", "BLOB"),
        Dialect::Postgres => ("BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "BYTEA"),
    };
    step.replace("IDENTITY", identity).replace("BYTES", bytes)
}
