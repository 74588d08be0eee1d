//! Disks that fail, hang or change bits, and files that do not belong into a spool.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod common;

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use common::{
    clock,
    coordinator::{Coordinator, reject_uploads},
    digest_of, header,
    in_process::Worker,
    process::leave_results,
    state_folder::leases,
    wait_until,
};
use dataset::Digest;
use engine::Evaluation;
use protocol::api::problem::{Code, Problem};
use testkit::{FastClock, Gate};
use worker::{
    control::ControlCommand,
    spool::{Disk, Record},
    state::Folder,
};

/// A disk whose operations fail on demand.
#[derive(Default)]
struct FaultyDisk {
    writes: AtomicBool,
    syncs: AtomicBool,
    folders: AtomicBool,
}

fn full(fails: &AtomicBool) -> io::Result<()> {
    if fails.load(Relaxed) { Err(io::Error::from(io::ErrorKind::StorageFull)) } else { Ok(()) }
}

impl Disk for FaultyDisk {
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        full(&self.writes).and_then(|()| file.write_all(bytes))
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        full(&self.syncs).and_then(|()| file.sync_data())
    }

    fn sync_folder_of(&self, path: &Path) -> io::Result<()> {
        full(&self.folders).and_then(|()| File::open(path.parent().unwrap())?.sync_all())
    }
}

/// Returns the places of a file's records, with their ends.
fn records(bytes: &[u8]) -> Vec<(Record, usize, usize)> {
    let (mut rest, mut found) = (bytes, Vec::new());
    while let Some((record, after)) = Record::split(rest) {
        found.push((record, bytes.len() - rest.len(), bytes.len() - after.len()));
        rest = after;
    }
    found
}

#[test]
fn a_changed_bit_costs_one_game() {
    let coordinator = Coordinator::new(header(200), 12, 12);
    let state = tempfile::tempdir().unwrap();
    let files = leave_results(&coordinator, &coordinator.url(), state.path());
    let mut bytes = fs::read(&files[0]).unwrap();
    let all = records(&bytes);
    let (_, start, end) = all.iter().filter(|(record, ..)| matches!(record, Record::Game(..))).nth(3).unwrap();
    bytes[(start + end) / 2] ^= 4;
    fs::write(&files[0], bytes).unwrap();
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    coordinator.wait_for(12);
    let played = worker.said.clone();
    let said = worker.finish();
    assert!(said.contains("is damaged on this disk (1 times)"), "{said}");
    assert_eq!(played.games(), 1, "only the damaged game is played again");
    coordinator.check(digest_of(&header(200), Evaluation::Plain, None, 12));
}

/// A lease without its terms cannot be submitted. Its file is kept as it is.
#[test]
fn a_result_that_the_disk_has_changed_is_not_sent() {
    let coordinator = Coordinator::new(header(200), 8, 8);
    let state = tempfile::tempdir().unwrap();
    let files = leave_results(&coordinator, &coordinator.url(), state.path());
    let mut bytes = fs::read(&files[0]).unwrap();
    let (.., end) = records(&bytes).into_iter().find(|(record, ..)| matches!(record, Record::Lease(_))).unwrap();
    bytes[end - 9] ^= 1;
    fs::write(&files[0], &bytes).unwrap();
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    worker.said.wait_for(|snapshot| snapshot.refused == 1);
    let said = worker.stop();
    assert!(coordinator.state().accepted.is_empty());
    let kept = state.path().join("refused").join(files[0].file_name().unwrap());
    assert_eq!(fs::read(&kept).unwrap(), bytes, "the file is untouched");
    assert!(kept.with_extension("txt").is_file() && !files[0].exists());
    assert!(said.contains(files[0].to_str().unwrap()) && said.contains("damaged on this disk"), "{said}");
}

fn record_of(rest: &[u8]) -> Vec<u8> {
    [&(rest.len() as u32).to_le_bytes()[..], &Digest::of(rest).as_bytes()[..8], rest].concat()
}

/// Files of a newer version, which was rolled back, wait for the next one.
#[test]
fn records_of_another_version_are_left_alone() {
    let coordinator = Coordinator::new(header(200), 12, 6);
    let state = tempfile::tempdir().unwrap();
    let files = leave_results(&coordinator, &coordinator.url(), state.path());
    let sound: Vec<_> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    // A record of an unknown kind, and a lease with an unknown field.
    let kind = [&sound[0][..], &record_of(b"Xsomething new")].concat();
    let (_, start, end) =
        records(&sound[1]).into_iter().find(|(record, ..)| matches!(record, Record::Lease(_))).unwrap();
    let lease = String::from_utf8(sound[1][start + 12..end].to_vec()).unwrap();
    let lease = lease.replacen("\"token\"", "\"colour\":\"red\",\"token\"", 1);
    let field = [&sound[1][..start], &record_of(lease.as_bytes()), &sound[1][end..]].concat();
    let changed = [kind, field];
    for (file, bytes) in files.iter().zip(&changed) {
        fs::write(file, bytes).unwrap();
    }
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    worker.said.wait_for(|snapshot| snapshot.reason.as_deref().is_some_and(|why| why.contains("nothing to play")));
    let said = worker.stop();
    assert_eq!(said.matches("is left for that").count(), 2, "{said}");
    for (file, bytes) in files.iter().zip(&changed) {
        assert_eq!(&fs::read(file).unwrap(), bytes);
    }
    assert!(coordinator.state().accepted.is_empty());
    // The other version submits them.
    for (file, bytes) in files.iter().zip(&sound) {
        fs::write(file, bytes).unwrap();
    }
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    coordinator.wait_for(12);
    worker.finish();
}

/// The removal of accepted leases frees a full disk, so nothing is written before.
#[test]
fn a_full_disk_does_not_stop_the_delivery() {
    let coordinator = Coordinator::new(header(200), 12, 4);
    let state = tempfile::tempdir().unwrap();
    leave_results(&coordinator, &coordinator.url(), state.path());
    let disk = Arc::new(FaultyDisk::default());
    disk.writes.store(true, Relaxed);
    let worker = Worker::start_on(&coordinator.url(), state.path(), Arc::new(FastClock::new(20)), disk);
    coordinator.wait_for(12);
    wait_until(|| leases(state.path()).is_empty());
    worker.stop();
    assert_eq!(coordinator.state().duplicates, 0, "a shard was sent again");
}

/// A worker with three results that its coordinator refuses for now. Also returns its folder, and
/// the file of the first one.
fn with_waiting_results() -> (Coordinator, tempfile::TempDir, Worker, PathBuf) {
    let coordinator = Coordinator::new(header(200), 12, 4);
    let state = tempfile::tempdir().unwrap();
    let mut files = leave_results(&coordinator, &coordinator.url(), state.path());
    coordinator.state().refuse = Some(reject_uploads);
    let worker = Worker::start(&coordinator.url(), state.path(), Arc::new(FastClock::new(20)));
    worker.said.wait_for(|snapshot| snapshot.outbox == 3);
    (coordinator, state, worker, files.swap_remove(0))
}

#[test]
fn an_unreadable_lease_blocks_no_other() {
    let (coordinator, state, worker, first) = with_waiting_results();
    // At once: a lease that is missing is not waited for.
    let folder = state.path().join("folder");
    std::os::unix::fs::symlink(state.path(), &folder).unwrap();
    fs::rename(&folder, &first).unwrap();
    // A request that was read from the file before is rejected too.
    let refused = coordinator.state().refused;
    wait_until(|| coordinator.state().refused > refused);
    coordinator.state().refuse = None;
    coordinator.wait_for(8);
    let path = first.to_str().unwrap();
    worker.said.wait_for(|snapshot| snapshot.outbox_reason.as_ref().is_some_and(|why| why.contains(path)));
    worker.stop();
}

/// Its games are gone, and nothing waits for them.
#[test]
fn a_lease_that_vanished_is_not_waited_for() {
    let (coordinator, _state, worker, first) = with_waiting_results();
    fs::remove_file(&first).unwrap();
    coordinator.state().refuse = None;
    coordinator.wait_for(8);
    worker.said.wait_for(|snapshot| snapshot.outbox == 0);
    worker.stop();
}

/// Folders where files are expected.
#[test]
fn odd_files_in_the_spool_are_named_and_the_others_are_played() {
    let coordinator = Coordinator::new(header(200), 8, 4);
    let state = tempfile::tempdir().unwrap();
    fs::create_dir_all(state.path().join("spool/odd.lease")).unwrap();
    fs::create_dir(state.path().join("asking")).unwrap();
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    coordinator.wait_for(8);
    let said = worker.finish();
    for name in ["spool/odd.lease", "asking"] {
        assert!(said.contains(state.path().join(name).to_str().unwrap()), "{name}: {said}");
    }
    assert!(state.path().join("refused/asking").is_dir());
}

/// The name of a granted lease is synced later, and the lease is played.
#[test]
fn a_failed_sync_of_the_folder_orphans_no_lease() {
    let coordinator = Coordinator::new(header(200), 8, 8);
    let state = tempfile::tempdir().unwrap();
    let disk = Arc::new(FaultyDisk::default());
    let gate = Arc::clone(&disk);
    coordinator.state().refuse = Some(|request| {
        request.path.ends_with("/leases").then(|| Problem::new(Code::Internal, "the coordinator failed"))
    });
    let worker = Worker::start_on(&coordinator.url(), state.path(), Arc::new(FastClock::new(20)), disk);
    // The request is on disk.
    worker.said.wait_for(|snapshot| snapshot.reason.as_ref().is_some_and(|why| why.contains("failed")));
    gate.folders.store(true, Relaxed);
    coordinator.state().refuse = None;
    worker.said.wait_for_line("is not safe on disk yet");
    worker.said.wait_for(|snapshot| snapshot.games > 0);
    gate.folders.store(false, Relaxed);
    coordinator.wait_for(8);
    worker.finish();
    coordinator.check(digest_of(&header(200), Evaluation::Plain, None, 8));
}

#[test]
fn failed_syncs_are_shown() {
    let coordinator = Coordinator::new(header(2000), 10_000, 10_000);
    let state = tempfile::tempdir().unwrap();
    let disk = Arc::new(FaultyDisk::default());
    let worker =
        Worker::start_on(&coordinator.url(), state.path(), Arc::new(FastClock::new(20)), Arc::clone(&disk) as _);
    worker.said.wait_for(|snapshot| snapshot.games > 0);
    disk.syncs.store(true, Relaxed);
    let is_shown = |why: &String| why.contains("cannot be written") && why.contains(".lease");
    worker.said.wait_for(|snapshot| snapshot.reason.as_ref().is_some_and(is_shown));
    disk.syncs.store(false, Relaxed);
    worker.said.wait_for(|snapshot| snapshot.reason.is_none());
    worker.stop();
}

/// A disk whose syncs wait at a gate.
struct HangingDisk(Arc<Gate>);

impl Disk for HangingDisk {
    fn sync(&self, file: &File) -> io::Result<()> {
        self.0.pass();
        file.sync_data()
    }
}

#[test]
fn a_hanging_disk_is_shown_and_can_be_left() {
    for is_patient in [false, true] {
        let coordinator = Coordinator::new(header(2000), 10_000, 10_000);
        let state = tempfile::tempdir().unwrap();
        let gate = Arc::new(Gate::default());
        let disk = Arc::new(HangingDisk(Arc::clone(&gate)));
        let worker = Worker::start_on(&coordinator.url(), state.path(), Arc::new(FastClock::new(50)), disk);
        worker.said.wait_for(|snapshot| snapshot.games > 0);
        gate.close();
        let hangs = |why: &String| why.contains("The disk has been writing");
        worker.said.wait_for(|snapshot| snapshot.reason.as_ref().is_some_and(hangs));
        worker.control.add(ControlCommand::Stop);
        if !is_patient {
            thread::sleep(Duration::from_millis(200));
            worker.control.add(ControlCommand::Stop);
        }
        let said = worker.said.clone();
        worker.end();
        assert!(said.lines().contains("The disk is not waited for"), "{}", said.lines());
        gate.open();
    }
}

/// The files of earlier versions that cannot be read are kept, and named.
#[test]
fn a_takeover_deletes_nothing_that_it_cannot_read() {
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().join("leases");
    fs::create_dir(&folder).unwrap();
    for (name, text) in [("some.lease", "{\"damaged"), ("some.games", "games"), ("mine.txt", "a shopping list")] {
        fs::write(folder.join(name), text).unwrap();
    }
    let coordinator = Coordinator::new(header(200), 8, 4);
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    coordinator.wait_for(8);
    let said = worker.finish();
    assert!(!folder.exists());
    let kept = |name: &str| fs::read_to_string(state.path().join("refused").join(name)).unwrap();
    assert_eq!(["some.games", "some-1.lease", "mine.txt.file"].map(kept), ["games", "{\"damaged", "a shopping list"]);
    assert!(["some.lease", "some.games", "mine.txt"].iter().all(|name| said.contains(name)), "{said}");
}

/// A file that cannot be read now may be read later: nothing is taken over before.
#[test]
fn a_takeover_ends_at_a_read_error() {
    let state = tempfile::tempdir().unwrap();
    let recorded = Path::new("tests/data/old_state/running/leases");
    let folder = state.path().join("leases");
    fs::create_dir(&folder).unwrap();
    let lease = fs::read_dir(recorded).unwrap().map(|entry| entry.unwrap().path());
    let lease = lease.into_iter().find(|path| path.extension().is_some_and(|end| end == "lease")).unwrap();
    let copied = folder.join(lease.file_name().unwrap());
    fs::copy(&lease, &copied).unwrap();
    fs::create_dir(copied.with_extension("games")).unwrap();
    let folder = Folder::lock(state.path()).unwrap();
    let opened = worker::spool::Spool::open(folder.root(), Arc::new(FaultyDisk::default()));
    let error = opened.err().unwrap().to_string();
    assert!(error.contains(copied.with_extension("games").to_str().unwrap()), "{error}");
    assert_eq!(fs::read(&copied).unwrap(), fs::read(&lease).unwrap());
    assert!(copied.with_extension("games").is_dir());
}
