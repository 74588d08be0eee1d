//! A disk that blocks: games do not wait for it.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod common;

use std::{fs::File, io, sync::Arc};

use common::{coordinator::Coordinator, digest_of, header, in_process::Worker};
use engine::Evaluation;
use testkit::{FastClock, Gate};
use worker::spool::Disk;

/// A disk whose syncs wait at a gate.
struct SlowDisk(Arc<Gate>);

impl Disk for SlowDisk {
    fn sync(&self, file: &File) -> io::Result<()> {
        self.0.pass();
        file.sync_data()
    }
}

#[test]
fn games_go_on_while_a_sync_is_blocked() {
    let coordinator = Coordinator::new(header(300), 400, 200);
    let state = tempfile::tempdir().unwrap();
    let gate = Arc::new(Gate::default());
    let disk = Arc::new(SlowDisk(Arc::clone(&gate)));
    // Its clock is fast, so that syncs are due soon.
    let worker = Worker::start_on(&coordinator.url(), state.path(), Arc::new(FastClock::new(50)), disk);
    worker.said.wait_for(|snapshot| snapshot.games > 0);
    gate.close();
    let blocked = worker.said.wait_for(|_| gate.waiting() > 0).games;
    // The writer waits for the disk, and the games of the lease are played all the same.
    let played = worker.said.wait_for(|snapshot| snapshot.games >= (blocked + 50).min(200));
    assert!(gate.waiting() > 0 && coordinator.state().accepted.is_empty(), "{played:?}");
    gate.open();
    coordinator.wait_for(400);
    worker.finish();
    coordinator.check(digest_of(&header(300), Evaluation::Plain, None, 400));
}
