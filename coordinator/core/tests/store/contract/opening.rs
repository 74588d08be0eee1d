//! Opening a database, and isolation between operations.

use coordinator_core::{
    clock::{Clock, Time},
    query,
    store::{Database, Dialect, OpenError, SettingValues, StoreError},
};

use super::cases;
use crate::{common::lab::Lab, op};

cases! {
    an_operation_that_fails_leaves_nothing_and_harms_no_other
    an_operation_that_panics_harms_no_other
    a_full_disk_is_the_error_of_all_that_it_undoes
    a_read_operation_cannot_write
    a_read_operation_sees_one_snapshot
    a_store_can_be_closed_twice
    the_folder_of_a_file_is_known
    clock_skew_is_rejected
    a_newer_schema_is_rejected
}

async fn set(lab: &Lab, name: &'static str) -> Result<(), StoreError> {
    op!(lab.write, [], |c| SettingValues::on(c).set(name, "1"))
}

async fn the_folder_of_a_file_is_known(lab: Lab) {
    // The disk of a remote server is unknown.
    let is_file = lab.store.dialect() == Dialect::Sqlite;
    assert_eq!(lab.store.folder().is_some_and(std::path::Path::is_dir), is_file);
}

async fn count(lab: &Lab) -> i64 {
    lab.value("SELECT COUNT(*) FROM settings").await
}

async fn an_operation_that_fails_leaves_nothing_and_harms_no_other(lab: Lab) {
    let bad = lab.store.write(|mut c| {
        Box::pin(async move {
            SettingValues::on(c.reborrow()).set("bad", "1").await?;
            sqlx::raw_sql("SELECT nonsense FROM nowhere").execute(c.raw()).await?;
            Ok(())
        })
    });
    let (one, two, three) = tokio::join!(set(&lab, "one"), bad, set(&lab, "three"));
    assert!(one.is_ok() && matches!(two, Err(StoreError::Database(_))) && three.is_ok());
    assert_eq!(count(&lab).await, 2);
}

async fn an_operation_that_panics_harms_no_other(lab: Lab) {
    let store = lab.store.clone();
    let bad = tokio::spawn(async move {
        store
            .write::<(), _>(|mut c| {
                Box::pin(async move {
                    SettingValues::on(c.reborrow()).set("bad", "1").await?;
                    panic!("this panic is part of a test");
                })
            })
            .await
    });
    let (one, bad, three) = tokio::join!(set(&lab, "one"), bad, set(&lab, "three"));
    assert!(one.is_ok() && three.is_ok() && !matches!(bad, Ok(Ok(()))));
    assert_eq!(count(&lab).await, 2);
}

/// `SQLite` then undoes the whole transaction, with operations that had succeeded.
async fn a_full_disk_is_the_error_of_all_that_it_undoes(lab: Lab) {
    if lab.store.dialect() == Dialect::Postgres {
        return;
    }
    lab.execute("PRAGMA max_page_count = 1").await;
    let large = lab.store.write(|mut c| {
        Box::pin(async move {
            let query = "INSERT INTO settings (name, value) VALUES ('large', hex(zeroblob(1000000)))";
            Ok(sqlx::query(query).execute(c.raw()).await.map(drop)?)
        })
    });
    let (one, large, three) = tokio::join!(set(&lab, "one"), large, set(&lab, "three"));
    assert!(large.is_err_and(|error| error.is_disk_full()));
    let small = [one, three];
    assert_eq!(count(&lab).await, small.iter().filter(|done| done.is_ok()).count() as i64);
    for error in small.into_iter().filter_map(Result::err) {
        assert!(error.is_disk_full(), "{error}");
    }
    lab.execute("PRAGMA max_page_count = 1000000").await;
    assert!(set(&lab, "later").await.is_ok());
}

async fn a_read_operation_cannot_write(lab: Lab) {
    let done = op!(lab.read, [], |c| SettingValues::on(c).set("bad", "1"));
    assert!(matches!(done, Err(StoreError::Database(_))), "{done:?}");
    assert_eq!(count(&lab).await, 0);
}

async fn a_read_operation_sees_one_snapshot(lab: Lab) {
    let writer = lab.clone();
    let seen = lab.store.read(query!(|c| {
        let query = "SELECT COUNT(*) FROM settings";
        let before: i64 = sqlx::query_scalar(query).fetch_one(c.raw()).await?;
        set(&writer, "one").await?;
        let after: i64 = sqlx::query_scalar(query).fetch_one(c.raw()).await?;
        Ok((before, after))
    }));
    assert_eq!(seen.await.unwrap(), (0, 0));
    assert_eq!(count(&lab).await, 1);
}

async fn a_store_can_be_closed_twice(lab: Lab) {
    let other = lab.store.clone();
    tokio::join!(lab.store.close(), other.close());
    lab.store.close().await;
    assert!(set(&lab, "late").await.is_err());
}

async fn clock_skew_is_rejected(lab: Lab) {
    let address = lab.address.clone();
    let now = Clock::System.now().0;
    let open = async |clock: Clock| Database::open(&address, Some(&clock)).await;
    open(Clock::System).await.map_err(|error| error.to_string()).unwrap().close().await;
    for apart in [-60_000, 60_000] {
        let wrong = Clock::manual(Time(now + apart));
        assert!(matches!(open(wrong).await.err(), Some(OpenError::Clock { .. })));
    }
}

async fn a_newer_schema_is_rejected(lab: Lab) {
    lab.execute("INSERT INTO schema_version (version) VALUES (99)").await;
    let error = Database::open(&lab.address, None).await.err();
    assert!(matches!(error, Some(OpenError::TooNew { found: 99, .. })), "{error:?}");
    for address in ["mysql://x", "chuhe.db"] {
        assert!(matches!(Database::open(address, None).await.err(), Some(OpenError::Address(_))));
    }
    let error = Database::open("postgres://me:secret@127.0.0.1:1/x", None).await.err().unwrap();
    assert!(!error.to_string().contains("secret"), "{error}");
}
