//! A full disk: a small file system in memory, which only root can mount. `scripts/check --long`
//! runs this test.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod common;

use std::{fs, io::Write as _, path::Path, process::Command, sync::Arc, time::Duration};

use common::{coordinator::Coordinator, digest_of, header, in_process::Worker};
use engine::Evaluation;
use testkit::FastClock;
use worker::status::Snapshot;

struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

/// Appends to a file until the disk takes no byte more.
fn fill(path: &Path) {
    let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
    let mut size = 1 << 20;
    while size > 0 {
        if file.write_all(&vec![0; size]).is_err() {
            size /= 2;
        }
    }
}

#[test]
#[ignore = "it mounts a file system"]
fn a_full_disk_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"]).arg(folder.path()).status();
    assert!(mounted.unwrap().success());
    let _mounted = Mounted(folder.path());
    // A lease's games need several pages of this disk.
    let coordinator = Coordinator::new(header(300), 600, 200);
    let worker = Worker::start(&coordinator.url(), folder.path(), Arc::new(FastClock::new(20)));
    coordinator.wait_for(200);
    // Full to the last byte, also after an accepted lease's file is removed.
    let is_full = |snapshot: &Snapshot| {
        snapshot
            .reason
            .as_ref()
            .is_some_and(|why| why.contains("cannot be written") && why.contains("the disk is full"))
    };
    let filler = folder.path().join("filler");
    worker.said.wait_for(|snapshot| {
        fill(&filler);
        is_full(snapshot)
    });
    // The status is current, though the disk is full.
    for round in 0.. {
        if Snapshot::read(folder.path()).is_some_and(|snapshot| is_full(&snapshot)) {
            break;
        }
        assert!(round < 1000, "the status is stale: {:?}", Snapshot::read(folder.path()));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!folder.path().join(".status.new").exists());
    // A stopped worker reports the leases that are not in the outbox.
    let said = worker.stop();
    assert!(said.contains("could not be packed;") && said.contains("the disk is full"), "{said}");
    fs::remove_file(filler).unwrap();
    let worker = Worker::start(&coordinator.url(), folder.path(), Arc::new(FastClock::new(20)));
    coordinator.wait_for(600);
    worker.finish();
    coordinator.check(digest_of(&header(300), Evaluation::Plain, None, 600));
}
