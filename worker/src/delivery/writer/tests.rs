use std::{
    fs::File,
    io::Write as _,
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc,
    },
};

use testkit::JumpingClock;

use super::*;
use crate::spool::{Disk, Spool};

/// A disk that counts its writes and syncs, and may fail.
#[derive(Default)]
struct CountingDisk {
    writes: AtomicU64,
    syncs: AtomicU64,
    fails: AtomicBool,
}

impl CountingDisk {
    fn counts(&self) -> (u64, u64) {
        (self.writes.load(Relaxed), self.syncs.load(Relaxed))
    }
}

impl Disk for CountingDisk {
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        self.writes.fetch_add(1, Relaxed);
        if self.fails.load(Relaxed) { Err(io::ErrorKind::StorageFull.into()) } else { file.write_all(bytes) }
    }

    fn sync(&self, _: &File) -> io::Result<()> {
        self.syncs.fetch_add(1, Relaxed);
        if self.fails.load(Relaxed) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

/// A writer with an open lease, `name`, on a clock that stands still.
struct Setup {
    _folder: tempfile::TempDir,
    disk: Arc<CountingDisk>,
    clock: Arc<JumpingClock>,
    delivery: Arc<Delivery>,
    writer: Writer,
    spool: Spool,
}

fn setup() -> Setup {
    let folder = tempfile::tempdir().unwrap();
    let disk = Arc::new(CountingDisk::default());
    let spool = Spool::open(folder.path(), disk.clone()).unwrap().0;
    let mut file = spool.ask("name").unwrap();
    spool.grant("name", &mut file).unwrap();
    let clock = Arc::new(JumpingClock::still());
    let delivery = Arc::new(Delivery::new(clock.clone(), Arc::default(), spool.refused().clone()));
    let mut writer = Writer::new(mpsc::channel().1, Arc::clone(&delivery), clock.clone());
    writer.add(Change::Open { name: "name".to_owned(), file });
    Setup { _folder: folder, disk, clock, delivery, writer, spool }
}

fn game(number: u64) -> Change {
    Change::Game { name: "name".to_owned(), number, game: vec![1; 50] }
}

#[test]
fn writes_are_grouped_and_a_closed_lease_is_synced_before_it_is_sent() {
    let Setup { _folder, disk, clock, delivery, mut writer, spool } = setup();
    let before = disk.counts();
    let so_far = || (disk.counts().0 - before.0, disk.counts().1 - before.1);
    // The first game is written at once, others within a second.
    for number in 0..50 {
        writer.add(game(number));
        writer.write();
    }
    assert_eq!((so_far(), spool.read("name").unwrap().0.games.len()), ((1, 0), 1));
    clock.jump(WRITE_INTERVAL);
    writer.write();
    assert_eq!((so_far(), spool.read("name").unwrap().0.games.len()), ((2, 0), 50));
    clock.jump(SYNC_INTERVAL);
    writer.write();
    assert_eq!(so_far(), (2, 1));
    // A failing disk loses nothing, and a lease is not sent before it is synced.
    disk.fails.store(true, Relaxed);
    writer.add(game(50));
    writer.add(Change::Close { name: "name".to_owned() });
    writer.write();
    assert!(delivery.read(|state| state.waiting.is_empty() && state.disk_problem(clock.now()).is_some()));
    disk.fails.store(false, Relaxed);
    clock.jump(RETRY_INTERVAL);
    let synced = so_far().1;
    writer.write();
    assert!(delivery.read(|state| state.waiting.contains("name") && state.disk_problem(clock.now()).is_none()));
    assert!(so_far().1 > synced);
    let contents = spool.read("name").unwrap().0;
    assert!(contents.is_closed && contents.games.len() == 51);
}

#[test]
fn a_failed_sync_is_forgotten_when_its_lease_is_closed() {
    let Setup { _folder, disk, clock, delivery, mut writer, .. } = setup();
    writer.add(game(0));
    writer.write();
    disk.fails.store(true, Relaxed);
    clock.jump(SYNC_INTERVAL);
    writer.write();
    assert!(delivery.read(|state| state.disk_problem(clock.now()).is_some()));
    disk.fails.store(false, Relaxed);
    writer.add(Change::Close { name: "name".to_owned() });
    writer.write();
    assert!(delivery.read(|state| state.waiting.contains("name") && state.disk_problem(clock.now()).is_none()));
    assert_eq!(writer.delay(), IDLE_INTERVAL, "nothing is left to write");
}
