//! Two coordinators on one PostgreSQL and one folder of objects: workers use either, and one of
//! them is killed and restarted. On one `SQLite` file the second is refused.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU16, Ordering},
    },
    time::Duration,
};

use crate::{
    killed::{Acknowledged, end, start_workers},
    postgres::Server,
    program::{self, Place},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_coordinators_on_one_database_lose_nothing() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let database = server.address(&server.database(None).await);
    let place = Place::with(folder.path(), database);
    let tokens = program::prepare_many(&place, 3);
    let (mut first, at) = program::start(&[], &place);
    let (mut second, other) = program::start(&[], &place);
    let ports = Arc::new(vec![AtomicU16::new(at), AtomicU16::new(other)]);
    let (stop, acknowledged) = (Arc::new(AtomicBool::new(false)), Acknowledged::default());
    let tasks = start_workers(12, &ports, &tokens, &stop, &acknowledged);
    let by = |acknowledged: &Acknowledged| acknowledged.lock().unwrap().len();
    for round in 0..3 {
        let before = by(&acknowledged);
        for _ in 0..600 {
            tokio::time::sleep(Duration::from_millis(50)).await;
            if by(&acknowledged) >= before + 20 {
                break;
            }
        }
        assert!(by(&acknowledged) >= before + 20, "no upload is acknowledged any more, in round {round}");
        first.kill().unwrap();
        first.wait().unwrap();
        // Meanwhile the other one serves.
        let alone = by(&acknowledged);
        for _ in 0..600 {
            tokio::time::sleep(Duration::from_millis(50)).await;
            if by(&acknowledged) >= alone + 5 {
                break;
            }
        }
        assert!(by(&acknowledged) >= alone + 5, "one alone does not answer");
        let (again, at) = program::start(&[], &place);
        first = again;
        ports[0].store(at, Ordering::SeqCst);
    }
    end(&mut [&mut first, &mut second], tasks, &stop, acknowledged, &place).await;
}

#[test]
fn a_second_coordinator_on_one_database_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::folder(folder.path());
    let (mut first, _) = program::start(&[], &place);
    let second = || {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chuhe-coordinator"));
        place.add_options(&mut command);
        command.args(["serve", "--listen", "127.0.0.1:0"]).output().unwrap()
    };
    let refused = second();
    let file = folder.path().join("chuhe.db");
    let wanted = format!(
        "chuhe-coordinator: another coordinator serves with {}: stop that one first; several need PostgreSQL \
         (`--database`)\n",
        file.display()
    );
    assert_eq!((refused.status.code(), String::from_utf8_lossy(&refused.stderr).into_owned()), (Some(2), wanted));
    // A killed one does not block the next.
    first.kill().unwrap();
    first.wait().unwrap();
    let (mut next, _) = program::start(&[], &place);
    next.kill().unwrap();
    next.wait().unwrap();
}
