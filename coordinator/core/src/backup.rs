//! Backups of a running coordinator into a folder, and restores into an empty one.
//!
//! A backup has a JSON Lines file per table, and the objects that the rows name. The format is
//! independent of the database: a backup of one kind can be restored into the other.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
};

use dataset::{AtomicFile, Digest};
use serde_json::{Value, json};

use crate::{
    folder::create_private,
    objects::{Kind, ObjectError, Objects},
    query,
    store::{self, Connection, Database, JsonRow, StoreError, Tables},
};

pub use crate::store::TABLES;

/// Tables that older backups lack, with the schema version that introduced them.
const ADDED_TABLES: [(&str, i64); 4] = [("figures", 3), ("reviews", 7), ("manifest_parts", 7), ("rulings", 11)];

/// Tables whose rows name objects.
const WITH_OBJECTS: [&str; 4] = ["shards", "nets", "books", "trainings"];

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
    let path = folder.join(ABOUT);
    let about = json!({ "schema": store::SCHEMA, "program": env!("CARGO_PKG_VERSION") });
    AtomicFile::write(&path, format!("{about}\n").as_bytes()).map_err(failed(&path))?;
    let target = folder.to_owned();
    // One snapshot for all tables, written row by row: a table may be larger than the memory.
    let rows = store.read(query!(|connection| write_tables(connection, &target).await));
    let mut summary = Summary { rows: rows.await?, ..Summary::default() };
    let copies = Objects::open(&folder.join("objects").display().to_string())?;
    let mut gone = BTreeSet::new();
    for table in WITH_OBJECTS {
        for row in rows_of(folder, table)? {
            for (kind, hash) in objects_of(table, &row?) {
                if gone.contains(&(kind, hash)) || copies.length(kind, hash).await.is_ok() {
                    continue;
                }
                match objects.get(kind, hash).await {
                    Ok(bytes) if Digest::of(&bytes) == hash => {
                        copies.put(kind, bytes).await?;
                        summary.objects += 1;
                    }
                    Ok(_) => {
                        summary.damaged += 1;
                        gone.insert((kind, hash));
                    }
                    Err(ObjectError::Missing) => {
                        summary.missing += 1;
                        gone.insert((kind, hash));
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }
    Ok(summary)
}

/// Writes all tables into a folder; returns the number of rows.
async fn write_tables(mut connection: Connection<'_>, folder: &Path) -> Result<u64, StoreError> {
    let mut rows = 0;
    for table in TABLES {
        let path = folder.join(format!("{table}.jsonl"));
        let failed = |source: io::Error| StoreError::Backup(format!("{}: {source}", path.display()));
        let mut file = AtomicFile::begin(&path).map_err(failed)?;
        let mut tables = Tables::on(connection.reborrow());
        tables
            .read(table, |row| {
                rows += 1;
                writeln!(file, "{}", Value::Object(row)).map_err(failed)
            })
            .await?;
        file.finish().map_err(failed)?;
    }
    Ok(rows)
}

/// Reads the rows of a table, one at a time.
fn rows_of(
    folder: &Path,
    table: &'static str,
) -> Result<impl Iterator<Item = Result<JsonRow, BackupError>> + use<>, BackupError> {
    let path = folder.join(format!("{table}.jsonl"));
    let file = fs::File::open(&path).map_err(|source| BackupError::File { path: path.clone(), source })?;
    Ok(BufReader::new(file).lines().enumerate().map(move |(number, line)| {
        let wrong = |message: String| BackupError::Line { path: path.clone(), line: number + 1, message };
        let line = line.map_err(|error| wrong(error.to_string()))?;
        let row: JsonRow = serde_json::from_str(&line).map_err(|error| wrong(error.to_string()))?;
        if !row.keys().all(|key| key.bytes().all(|byte| byte.is_ascii_lowercase() || b"_".contains(&byte))) {
            return Err(wrong("a key that is no column".to_owned()));
        }
        Ok(row)
    }))
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
    let schema = schema_of(folder)?;
    if schema > store::SCHEMA {
        return Err(BackupError::TooNew { found: schema, known: store::SCHEMA });
    }
    let is_there = |table| !ADDED_TABLES.iter().any(|&(later, since)| later == table && schema < since);
    let tables: Vec<&'static str> = TABLES.into_iter().filter(|table| is_there(*table)).collect();
    // Every line is read before the first row is written.
    for table in &tables {
        for row in rows_of(folder, table)? {
            row?;
            summary.rows += 1;
        }
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
    let folder = folder.to_owned();
    let restored = store.write(move |mut connection| {
        let (folder, tables) = (folder.clone(), tables.clone());
        Box::pin(async move {
            if Tables::on(connection.reborrow()).has_accounts().await? {
                return Ok(false);
            }
            let failed = |error: BackupError| StoreError::Backup(error.to_string());
            for table in tables {
                for row in rows_of(&folder, table).map_err(failed)? {
                    Tables::on(connection.reborrow()).insert(table, row.map_err(failed)?).await?;
                }
                Tables::on(connection.reborrow()).continue_ids(table).await?;
            }
            Tables::on(connection).complete(schema).await?;
            Ok(true)
        })
    });
    if restored.await? { Ok(summary) } else { Err(BackupError::NotEmpty) }
}

/// Returns the objects that a row references.
fn objects_of(table: &str, row: &JsonRow) -> Vec<(Kind, Digest)> {
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
