//! Backups of a running coordinator into a folder, and restores into an empty one.
//!
//! A backup has a JSON Lines file per table, and the objects that the rows name. The format is
//! independent of the database: a backup of one kind can be restored into the other.

use std::{
    fmt::Write as _,
    fs,
    io::{self, BufRead as _, BufReader},
    path::{Path, PathBuf},
};

use dataset::{AtomicFile, Digest};
use serde_json::{Map, Value, json};
use sqlx::{
    AnyConnection, AssertSqlSafe, Column as _, Row as _, TypeInfo as _, ValueRef as _,
    any::{AnyRow, AnyTypeInfoKind},
};

use crate::{
    folder::create_private,
    objects::{Kind, ObjectError, Objects},
    store::{self, Database, Dialect, Store as _, StoreError},
};

/// All tables, each after those it references.
pub const TABLES: [&str; 25] = [
    "accounts",
    "invitations",
    "tokens",
    "sessions",
    "workers",
    "failures",
    "contributions",
    "nets",
    "books",
    "manifests",
    "campaigns",
    "jobs",
    "leases",
    "segments",
    "shards",
    "comparisons",
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

/// Tables that older backups lack, with the schema version that introduced them.
const ADDED_TABLES: [(&str, i64); 1] = [("figures", 3)];

/// The schema version that introduced the column `distrusted`. For older backups it is derived from
/// the states of the account and its shards.
const DISTRUST_SCHEMA: i64 = 5;

/// The file with the schema version of a backup.
const ABOUT: &str = "backup.json";

/// An error in a backup or restore.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum BackupError {
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{} is there already: give a folder that is not", .0.display())]
    There(PathBuf),
    #[error("{}, line {line}: {message}", path.display())]
    Line { path: PathBuf, line: usize, message: String },
    #[error("there are accounts in the database already: restore into one that is empty")]
    NotEmpty,
    #[error("the object {0} has other bytes than its name says")]
    Altered(Digest),
    #[error("the backup is of schema {found}; this program knows up to {known}: restore it with a newer one")]
    TooNew { found: i64, known: i64 },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Objects(#[from] ObjectError),
}

/// The contents of a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// Number of rows in all tables.
    pub rows: u64,
    /// Number of objects.
    pub objects: u64,
    /// Number of referenced objects that do not exist.
    pub missing: u64,
    /// Number of objects left out because their bytes do not match their hash.
    pub damaged: u64,
}

/// Writes a backup into a new folder.
///
/// # Errors
///
/// If the folder exists, or something cannot be read or written.
pub async fn backup(store: &Database, objects: &Objects, folder: &Path) -> Result<Summary, BackupError> {
    if folder.exists() {
        return Err(BackupError::There(folder.to_owned()));
    }
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| BackupError::File { path, source }
    };
    create_private(folder).map_err(failed(folder))?;
    // One snapshot for all tables.
    let tables = store.read(|mut connection| {
        Box::pin(async move {
            if connection.dialect() == Dialect::Postgres {
                let query = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ";
                sqlx::raw_sql(query).execute(connection.raw()).await?;
            }
            let mut tables = Vec::new();
            for table in TABLES {
                tables.push((table, rows_of(connection.raw(), table).await?));
            }
            Ok(tables)
        })
    });
    let mut summary = Summary::default();
    let mut named = Vec::new();
    let path = folder.join(ABOUT);
    let about = json!({ "schema": store::SCHEMA, "program": env!("CARGO_PKG_VERSION") });
    AtomicFile::write(&path, format!("{about}\n").as_bytes()).map_err(failed(&path))?;
    for (table, rows) in tables.await? {
        let path = folder.join(format!("{table}.jsonl"));
        let mut text = String::new();
        for row in rows {
            named.extend(objects_of(table, &row));
            let _ = writeln!(text, "{}", Value::Object(row));
            summary.rows += 1;
        }
        AtomicFile::write(&path, text.as_bytes()).map_err(failed(&path))?;
    }
    named.sort_unstable();
    named.dedup();
    let copies = Objects::open(&folder.join("objects").display().to_string())?;
    for (kind, hash) in named {
        match objects.get(kind, hash).await {
            Ok(bytes) if Digest::of(&bytes) == hash => {
                copies.put(kind, bytes).await?;
                summary.objects += 1;
            }
            Ok(_) => summary.damaged += 1,
            Err(ObjectError::Missing) => summary.missing += 1,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(summary)
}

/// Returns the schema version of a backup; the first versions did not record it.
fn schema_of(folder: &Path) -> Result<i64, BackupError> {
    let path = folder.join(ABOUT);
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(1),
        text => text.map_err(|source| BackupError::File { path: path.clone(), source })?,
    };
    let about = serde_json::from_str::<Value>(&text).ok().and_then(|about| about["schema"].as_i64());
    let message = "it does not say of which schema the backup is".to_owned();
    about.ok_or(BackupError::Line { path, line: 1, message })
}

/// Restores a backup into an empty database and an object store.
///
/// # Errors
///
/// If the database is not empty, or something cannot be read or written; the database then stays
/// empty.
pub async fn restore(store: &Database, objects: &Objects, folder: &Path) -> Result<Summary, BackupError> {
    let mut summary = Summary::default();
    let mut tables = Vec::new();
    let schema = schema_of(folder)?;
    if schema > store::SCHEMA {
        return Err(BackupError::TooNew { found: schema, known: store::SCHEMA });
    }
    for table in TABLES {
        let path = folder.join(format!("{table}.jsonl"));
        let file = match fs::File::open(&path) {
            Err(error)
                if error.kind() == io::ErrorKind::NotFound
                    && ADDED_TABLES.iter().any(|&(later, since)| later == table && schema < since) =>
            {
                continue;
            }
            file => file.map_err(|source| BackupError::File { path: path.clone(), source })?,
        };
        let mut rows = Vec::new();
        for (number, line) in BufReader::new(file).lines().enumerate() {
            let wrong = |message: String| BackupError::Line { path: path.clone(), line: number + 1, message };
            let line = line.map_err(|error| wrong(error.to_string()))?;
            let row: Map<String, Value> = serde_json::from_str(&line).map_err(|error| wrong(error.to_string()))?;
            if !row.keys().all(|key| key.bytes().all(|byte| byte.is_ascii_lowercase() || b"_".contains(&byte))) {
                return Err(wrong("a key that is no column".to_owned()));
            }
            rows.push(row);
        }
        summary.rows += rows.len() as u64;
        tables.push((table, rows));
    }
    let copies = Objects::open(&folder.join("objects").display().to_string())?;
    for kind in Kind::ALL {
        for hash in copies.older_than(kind, i64::MAX).await? {
            let bytes = copies.get(kind, hash).await?;
            if objects.put(kind, bytes).await? != hash {
                return Err(BackupError::Altered(hash));
            }
            summary.objects += 1;
        }
    }
    let tables = std::sync::Arc::new(tables);
    let restored = store.write(move |mut connection| {
        let tables = std::sync::Arc::clone(&tables);
        Box::pin(async move {
            let accounts: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM accounts").fetch_one(connection.raw()).await?;
            if accounts > 0 {
                return Ok(false);
            }
            let dialect = connection.dialect();
            for (table, rows) in tables.iter() {
                for row in rows {
                    insert(connection.raw(), table, row).await?;
                }
                if dialect == Dialect::Postgres {
                    continue_ids(connection.raw(), table).await?;
                }
            }
            if schema < DISTRUST_SCHEMA {
                let query = "UPDATE accounts SET distrusted = 1 WHERE state = 'quarantined'
                             OR EXISTS (SELECT 1 FROM shards WHERE shards.account = accounts.id
                                        AND shards.state = 'quarantined')";
                sqlx::query(query).execute(connection.raw()).await?;
            }
            if schema < store::COUNTERS {
                sqlx::raw_sql(store::RECOUNT).execute(connection.raw()).await?;
            }
            Ok(true)
        })
    });
    if restored.await? { Ok(summary) } else { Err(BackupError::NotEmpty) }
}

async fn rows_of(connection: &mut AnyConnection, table: &str) -> Result<Vec<Map<String, Value>>, StoreError> {
    let query = format!("SELECT * FROM {table} ORDER BY 1");
    let rows = sqlx::query(AssertSqlSafe(query)).fetch_all(connection).await?;
    rows.iter().map(to_json).collect()
}

fn to_json(row: &AnyRow) -> Result<Map<String, Value>, StoreError> {
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

/// Returns the objects that a row references.
fn objects_of(table: &str, row: &Map<String, Value>) -> Vec<(Kind, Digest)> {
    let hash = |column: &str| row.get(column).and_then(Value::as_str).and_then(|hash| hash.parse().ok());
    let found = match table {
        "shards" if row.get("object").and_then(Value::as_str) == Some("present") => vec![(Kind::Shard, hash("hash"))],
        "nets" => vec![(Kind::Net, hash("hash"))],
        "books" => vec![(Kind::Book, hash("hash"))],
        "trainings" => vec![(Kind::Net, hash("candidate")), (Kind::Curves, hash("curves"))],
        _ => Vec::new(),
    };
    found.into_iter().filter_map(|(kind, hash)| Some((kind, hash?))).collect()
}

async fn insert(connection: &mut AnyConnection, table: &str, row: &Map<String, Value>) -> Result<(), StoreError> {
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
    query.execute(connection).await?;
    Ok(())
}

/// Continues the id sequence after the restored rows.
async fn continue_ids(connection: &mut AnyConnection, table: &str) -> Result<(), StoreError> {
    let query = "SELECT COUNT(*) FROM information_schema.columns WHERE table_name = $1 AND is_identity = 'YES'";
    let numbered: i64 = sqlx::query_scalar(query).bind(table.to_owned()).fetch_one(&mut *connection).await?;
    if numbered > 0 {
        let query = format!(
            "SELECT CAST(setval(pg_get_serial_sequence('{table}', 'id'), COALESCE(MAX(id), 0) + 1, false) AS BIGINT)
             FROM {table}"
        );
        sqlx::query(AssertSqlSafe(query)).execute(connection).await?;
    }
    Ok(())
}
