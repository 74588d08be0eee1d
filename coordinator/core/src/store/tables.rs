//! Rows of any table as JSON, for backups.

use futures_util::TryStreamExt as _;
use serde_json::{Map, Value, json};
use sqlx::{
    AssertSqlSafe, Column as _, Row as _, TypeInfo as _, ValueRef as _,
    any::{AnyRow, AnyTypeInfoKind},
};

use super::{
    connection::{Connection, Dialect},
    error::StoreError,
    schema::{COUNTERS, PROVEN, RECOUNT, STANDING},
};

/// A row by its columns.
pub type JsonRow = Map<String, Value>;

/// All tables, each after those it references.
pub const TABLES: [&str; 28] = [
    "accounts",
    "reviews",
    "invitations",
    "tokens",
    "sessions",
    "workers",
    "failures",
    "contributions",
    "nets",
    "books",
    "manifests",
    "manifest_parts",
    "campaigns",
    "jobs",
    "leases",
    "segments",
    "shards",
    "comparisons",
    "rulings",
    "totals",
    "labels",
    "figures",
    "trainings",
    "promotions",
    "events",
    "settings",
    "webhooks",
    "deliveries",
];

/// Columns of older schemas.
const REMOVED_COLUMNS: [(&str, &str); 1] = [("accounts", "clean_until")];

/// The schema version that introduced the column `distrusted`. For older rows it is derived from
/// the states of the account and its shards.
const DISTRUST_SCHEMA: i64 = 5;

/// All tables, within a transaction.
pub struct Tables<'t>(Connection<'t>);

impl<'t> Tables<'t> {
    /// All tables.
    #[must_use]
    pub const fn on(connection: Connection<'t>) -> Self {
        Self(connection)
    }

    /// Passes each row of a table to a function, one at a time.
    pub async fn read(
        &mut self,
        table: &'static str,
        mut each: impl FnMut(JsonRow) -> Result<(), StoreError> + Send,
    ) -> Result<(), StoreError> {
        let query = format!("SELECT * FROM {table} ORDER BY 1");
        let mut rows = sqlx::query(AssertSqlSafe(query)).fetch(self.0.raw());
        while let Some(row) = rows.try_next().await? {
            each(to_json(&row)?)?;
        }
        Ok(())
    }

    /// Whether there is an account.
    pub async fn has_accounts(&mut self) -> Result<bool, StoreError> {
        let accounts: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM accounts").fetch_one(self.0.raw()).await?;
        Ok(accounts > 0)
    }

    /// Adds a row, without columns of older schemas.
    pub async fn insert(&mut self, table: &'static str, mut row: JsonRow) -> Result<(), StoreError> {
        row.retain(|column, _| !REMOVED_COLUMNS.contains(&(table, column)));
        // NULL is written literally: a bound parameter would need a type.
        let mut parameters = Vec::new();
        let mut bound = Vec::new();
        for value in row.values() {
            if value.is_null() {
                parameters.push("NULL".to_owned());
            } else {
                bound.push(value);
                parameters.push(format!("${}", bound.len()));
            }
        }
        let columns = row.keys().cloned().collect::<Vec<_>>().join(", ");
        let query = format!("INSERT INTO {table} ({columns}) VALUES ({})", parameters.join(", "));
        let mut query = sqlx::query(AssertSqlSafe(query));
        for value in bound {
            query = match value {
                Value::Number(number) => query.bind(number.as_i64().unwrap_or_default()),
                Value::String(text) => query.bind(text.clone()),
                other => {
                    let bytes: Vec<u8> = serde_json::from_value(other["bytes"].clone())
                        .map_err(|error| StoreError::Corrupt(format!("bytes that are none: {error}")))?;
                    query.bind(bytes)
                }
            };
        }
        query.execute(self.0.raw()).await?;
        Ok(())
    }

    /// Continues the ids of a table after its rows.
    pub async fn continue_ids(&mut self, table: &'static str) -> Result<(), StoreError> {
        if self.0.dialect() == Dialect::Sqlite {
            return Ok(());
        }
        let query = "SELECT COUNT(*) FROM information_schema.columns WHERE table_name = $1 AND is_identity = 'YES'";
        let numbered: i64 = sqlx::query_scalar(query).bind(table.to_owned()).fetch_one(self.0.raw()).await?;
        if numbered > 0 {
            let query = format!(
                "SELECT CAST(setval(pg_get_serial_sequence('{table}', 'id'), COALESCE(MAX(id), 0) + 1, false) AS BIGINT)
                 FROM {table}"
            );
            sqlx::query(AssertSqlSafe(query)).execute(self.0.raw()).await?;
        }
        Ok(())
    }

    /// Computes the columns that rows of an older schema lack.
    pub async fn complete(&mut self, schema: i64) -> Result<(), StoreError> {
        if schema < DISTRUST_SCHEMA {
            let query = "UPDATE accounts SET distrusted = 1 WHERE state = 'quarantined'
                         OR EXISTS (SELECT 1 FROM shards WHERE shards.account = accounts.id
                                    AND shards.state = 'quarantined')";
            sqlx::query(query).execute(self.0.raw()).await?;
        }
        if schema < COUNTERS {
            sqlx::raw_sql(RECOUNT).execute(self.0.raw()).await?;
        }
        if schema < STANDING {
            sqlx::raw_sql(PROVEN).execute(self.0.raw()).await?;
        }
        Ok(())
    }
}

fn to_json(row: &AnyRow) -> Result<JsonRow, StoreError> {
    let mut object = Map::new();
    for column in row.columns() {
        let place = column.ordinal();
        let raw = row.try_get_raw(place)?;
        let kind = raw.type_info().kind();
        let value = match kind {
            _ if raw.is_null() => Value::Null,
            AnyTypeInfoKind::SmallInt | AnyTypeInfoKind::Integer | AnyTypeInfoKind::BigInt => {
                json!(row.try_get::<i64, _>(place)?)
            }
            AnyTypeInfoKind::Text => json!(row.try_get::<String, _>(place)?),
            AnyTypeInfoKind::Blob => json!({ "bytes": row.try_get::<Vec<u8>, _>(place)? }),
            _ => return Err(StoreError::Corrupt(format!("a column of the type {}", raw.type_info().name()))),
        };
        object.insert(column.name().to_owned(), value);
    }
    Ok(object)
}
