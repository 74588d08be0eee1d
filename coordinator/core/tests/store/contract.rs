//! One suite for both databases: every case runs on each.

mod audits;
mod backups;
mod campaigns;
mod disputes;
mod leases;
mod matches;
mod opening;
mod people;
mod ratings;
mod receiving;
mod rechecks;
mod reports;
mod retention;
mod standing;
mod steps;
mod timed;
mod trainings;
mod validation;

use std::panic::AssertUnwindSafe;

use futures_util::{FutureExt as _, future::BoxFuture};

use crate::common::{block_on, folder, lab::Lab, postgres::Server};

/// A test case on an empty database.
type Case = fn(Lab) -> BoxFuture<'static, ()>;

/// Turns functions on a test bench into tests on SQLite, and a list of them for PostgreSQL.
macro_rules! cases {
    ($($name:ident)*) => {
        pub(super) const ALL: &[(&str, super::Case)] = &[$((stringify!($name), |lab| Box::pin($name(lab)))),*];

        mod on_sqlite {
            $(#[test]
            fn $name() {
                crate::contract::on_sqlite(|lab| Box::pin(super::$name(lab)));
            })*
        }
    };
}
use cases;

fn on_sqlite(case: Case) {
    let folder = folder();
    let address = format!("sqlite:{}", folder.path().join("chuhe.db").display());
    block_on(async {
        let lab = Lab::open(&address).await;
        case(lab.clone()).await;
        lab.store.close().await;
    });
}

/// One test for all cases, since a server takes a while to start.
#[test]
fn on_postgres() {
    let all = [
        audits::ALL,
        backups::ALL,
        campaigns::ALL,
        disputes::ALL,
        leases::ALL,
        matches::ALL,
        opening::ALL,
        people::ALL,
        receiving::ALL,
        ratings::ALL,
        rechecks::ALL,
        reports::ALL,
        retention::ALL,
        standing::ALL,
        steps::ALL,
        timed::ALL,
        trainings::ALL,
        validation::ALL,
    ];
    let Some(server) = Server::start() else { return };
    block_on(async {
        let like = server.database(None).await;
        Lab::open(&server.address(&like)).await.store.close().await;
        let mut failed = Vec::new();
        for (name, case) in all.concat() {
            let database = server.database(Some(&like)).await;
            let lab = Lab::open(&server.address(&database)).await;
            if AssertUnwindSafe(case(lab.clone())).catch_unwind().await.is_err() {
                failed.push(name);
            }
            lab.store.close().await;
            server.remove(&database).await;
        }
        assert!(failed.is_empty(), "on PostgreSQL failed: {failed:?}");
    });
}
