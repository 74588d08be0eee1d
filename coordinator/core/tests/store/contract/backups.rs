//! Backups are independent of the database: one taken from either is restored into the other.

use std::{collections::BTreeMap, fs, path::Path};

use coordinator_core::{
    backup::{self, BackupError},
    objects::Objects,
    store::Database,
};

use super::cases;
use crate::common::{folder, lab::Lab};

cases! {
    a_backup_is_restored_into_either_database
    an_older_backup_lacks_later_tables
}

/// All lines of all tables of a backup, in no particular order.
fn lines(folder: &Path) -> BTreeMap<String, Vec<String>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    files
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort_unstable();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), lines)
        })
        .collect()
}

async fn filled(lab: &Lab) {
    let [ann, _] = super::audits::an_audit(lab).await;
    super::disputes::quarantine(lab, ann).await;
}

async fn a_backup_is_restored_into_either_database(lab: Lab) {
    filled(&lab).await;
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let objects = Objects::open(at("objects").to_str().unwrap()).unwrap();
    let first = backup::backup(&lab.store, &objects, &at("first")).await.unwrap();
    assert!(first.rows > 20 && first.missing == 1, "both brought the same bytes: {first:?}");
    // Into SQLite, from either.
    let file = Database::open(&format!("sqlite:{}", at("file.db").display()), None).await.unwrap();
    backup::restore(&file, &objects, &at("first")).await.unwrap();
    backup::backup(&file, &objects, &at("second")).await.unwrap();
    assert_eq!(lines(&at("first")), lines(&at("second")));
    // And back into the emptied database.
    for table in backup::TABLES.iter().rev() {
        lab.execute(&format!("DELETE FROM {table}")).await;
    }
    backup::restore(&lab.store, &objects, &at("second")).await.unwrap();
    backup::backup(&lab.store, &objects, &at("third")).await.unwrap();
    assert_eq!(lines(&at("first")), lines(&at("third")));
    // New rows continue the ids.
    let before: i64 = lab.value("SELECT MAX(id) FROM accounts").await;
    assert!(lab.player("newest").await.account > before);
    file.close().await;
}

async fn an_older_backup_lacks_later_tables(lab: Lab) {
    filled(&lab).await;
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let objects = Objects::open(at("objects").to_str().unwrap()).unwrap();
    backup::backup(&lab.store, &objects, &at("old")).await.unwrap();
    let restore = async |name: &str| {
        let file = Database::open(&format!("sqlite:{}", at(name).display()), None).await.unwrap();
        let done = backup::restore(&file, &objects, &at("old")).await;
        file.close().await;
        done
    };
    fs::remove_file(at("old/figures.jsonl")).unwrap();
    let missing = restore("one.db").await.unwrap_err().to_string();
    assert!(missing.contains("figures.jsonl"), "{missing}");
    fs::write(at("old/backup.json"), "{\"schema\": 2}").unwrap();
    restore("two.db").await.unwrap();
    fs::write(at("old/backup.json"), "{\"schema\": 1000}").unwrap();
    assert!(matches!(restore("three.db").await, Err(BackupError::TooNew { found: 1_000, .. })));
    fs::write(at("old/backup.json"), "nothing").unwrap();
    assert!(restore("four.db").await.unwrap_err().to_string().contains("backup.json"));
}
