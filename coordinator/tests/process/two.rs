//! Two coordinators on one PostgreSQL and one folder of objects: workers use either, and one of
//! them is killed and restarted.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU16, Ordering},
    },
    time::Duration,
};

use crate::{
    killed::{Thanked, end, start_workers},
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
    let (stop, thanked) = (Arc::new(AtomicBool::new(false)), Thanked::default());
    let tasks = start_workers(12, &ports, &tokens, &stop, &thanked);
    let by = |thanked: &Thanked| thanked.lock().unwrap().len();
    for round in 0..3 {
        let before = by(&thanked);
        for _ in 0..600 {
            tokio::time::sleep(Duration::from_millis(50)).await;
            if by(&thanked) >= before + 20 {
                break;
            }
        }
        assert!(by(&thanked) >= before + 20, "nobody is thanked any more, in round {round}");
        first.kill().unwrap();
        first.wait().unwrap();
        // Meanwhile the other one serves.
        let alone = by(&thanked);
        for _ in 0..600 {
            tokio::time::sleep(Duration::from_millis(50)).await;
            if by(&thanked) >= alone + 5 {
                break;
            }
        }
        assert!(by(&thanked) >= alone + 5, "one alone does not answer");
        let (again, at) = program::start(&[], &place);
        first = again;
        ports[0].store(at, Ordering::SeqCst);
    }
    end(&mut [&mut first, &mut second], tasks, &stop, thanked, &place).await;
}
