//! A disk that blocks: neither games nor the owner wait for it.

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

/// Pipes without another end stand for files of a disk that hangs: the status file, and the
/// request that the spool reads at its start.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_a_worker_on_a_hanging_disk() {
    use std::{fs::OpenOptions, os::unix::fs::OpenOptionsExt as _, process::Command, thread, time::Duration};

    use common::process::{Process, log_of};

    /// From Linux's `fcntl.h`.
    const O_NONBLOCK: i32 = 0o4000;

    // Before the worker has begun, a signal ends it at once.
    for (file, expected) in [(".status.new", Some(0)), ("asking", None)] {
        let coordinator = Coordinator::new(header(2000), 10_000, 10_000);
        let state = tempfile::tempdir().unwrap();
        let pipe = state.path().join(file);
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let worker = Process::start(&coordinator.url(), state.path(), &[]);
        let mut writer = None;
        while coordinator.state().asked == 0 && writer.is_none() {
            thread::sleep(Duration::from_millis(20));
            if file == "asking" {
                // This fails until the worker reads.
                writer = OpenOptions::new().write(true).custom_flags(O_NONBLOCK).open(&pipe).ok();
            }
        }
        worker.signal("TERM");
        assert_eq!(worker.end(), expected, "{file}: {}", log_of(state.path()));
    }
}
