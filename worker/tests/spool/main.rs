//! The spool: its content, also after a crash.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
#![allow(clippy::print_stdout, reason = "skipped checks and counts are printed")]

#[cfg(target_os = "linux")]
mod crash;
#[cfg(target_os = "linux")]
mod disk;

use std::{
    fs::{self, File},
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

use dataset::{Adjudication, GameSettings, Header, OpeningPolicy, shard::Shard};
use engine::Evaluation;
use proptest::prelude::*;
use protocol::api::work::Lease;
use selfplay::selfplay::Run;
use worker::spool::{Contents, Disk, Record, SavedLease, Spool, SpoolFile, SystemDisk, encode_game};

fn header() -> Header {
    Header {
        bench_signature: engine::bench::SIGNATURE,
        net: None,
        opponent: None,
        clock: None,
        parameters: dataset::Overrides::default(),
        opponent_parameters: dataset::Overrides::default(),
        rules: xiangqi::rules::RuleSet::Cxr,
        settings: GameSettings {
            hash_mebibytes: 1,
            soft_nodes: None,
            hard_nodes: 50,
            adjudication: Adjudication::default(),
            ply_cap: 40,
        },
        openings: OpeningPolicy { book: None, plies: 8, filter: None },
        seed: 3,
        first_game: 10,
    }
}

/// A lease of the games 10 to 19.
fn lease(token: &str) -> Record {
    let lease = Lease { token: token.to_owned(), terms: header(), games: 10, seconds: 900, live: false };
    Record::Lease(Box::new(SavedLease {
        server: "https://games.example.org".to_owned(),
        account: None,
        until: 900,
        lease,
    }))
}

/// The records of a closed lease with this name.
fn records(name: &str) -> Vec<Record> {
    let game = |number: u64| Record::Game(number, format!("game {number} of {name}").repeat(20).into_bytes());
    vec![
        Record::Asked(name.to_owned()),
        lease(name),
        game(12),
        game(10),
        Record::Renewed(1500),
        game(15),
        Record::Closed,
    ]
}

fn bytes_of(records: &[Record]) -> Vec<u8> {
    records.iter().flat_map(|record| record.to_bytes().unwrap()).collect()
}

fn contents(name: &str) -> Contents {
    Contents::read(&bytes_of(&records(name))).0
}

fn open(root: &Path) -> Spool {
    Spool::open(root, Arc::new(SystemDisk)).unwrap().0
}

/// After a crash at any byte the records before it are intact, and others can be appended.
#[test]
fn a_file_that_was_cut_anywhere_can_be_appended_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lease");
    let mut records = records("some");
    records.push(Record::Settled(10));
    let whole = bytes_of(&records);
    let ends: Vec<usize> = (0..=records.len()).map(|count| bytes_of(&records[..count]).len()).collect();
    for cut in 0..=whole.len() {
        for flip in [false, true] {
            let mut bytes = whole[..cut].to_vec();
            if flip && let Some(last) = bytes.last_mut() {
                *last ^= 1;
            }
            fs::write(&path, &bytes).unwrap();
            let sound = cut - usize::from(flip && cut > 0);
            let count = ends.iter().filter(|end| **end <= sound).count() - 1;
            let (mut file, found) = SpoolFile::open(&path, Arc::new(SystemDisk)).unwrap();
            assert_eq!(found, Contents::read(&bytes_of(&records[..count])).0, "{cut}");
            let more = Record::Game(11, b"another".to_vec());
            file.append(&more.to_bytes().unwrap()).unwrap();
            let expected = [&records[..count], &[more]].concat();
            let written = fs::read(&path).unwrap();
            // Only an incomplete record is replaced; a whole one with a wrong check stays.
            if flip && ends[1..].contains(&cut) {
                let read = Contents::read(&written);
                assert_eq!((read.0, read.1.damaged), (Contents::read(&bytes_of(&expected)).0, 1), "{cut}");
                assert!(written.starts_with(&bytes), "{cut}");
            } else {
                assert_eq!(written, bytes_of(&expected), "{cut}");
            }
        }
    }
}

proptest! {
    /// Any damage costs one record. The others are read, also behind a wrong length.
    #[test]
    fn a_damaged_record_is_never_read(place in any::<prop::sample::Index>(), mask in 1u8..) {
        let mut records = records("some");
        let mut bytes = bytes_of(&records);
        let place = place.index(bytes.len());
        bytes[place] ^= mask;
        let (found, extent) = Contents::read(&bytes);
        let damaged = (0..records.len()).find(|count| bytes_of(&records[..=*count]).len() > place).unwrap();
        // A wrong length of the last record looks like a torn write.
        let is_torn = extent.length < bytes.len() as u64;
        prop_assert_eq!(extent.damaged, usize::from(!is_torn));
        prop_assert!(!is_torn || damaged == records.len() - 1);
        records.remove(damaged);
        prop_assert_eq!(found, Contents::read(&bytes_of(&records)).0);
    }
}

/// A disk that drops what it could not sync, as file systems do, and syncs the next time.
#[derive(Default)]
struct ForgetfulDisk {
    fails: AtomicBool,
    synced: AtomicU64,
}

impl Disk for ForgetfulDisk {
    fn sync(&self, file: &File) -> io::Result<()> {
        if self.fails.load(Relaxed) {
            file.set_len(self.synced.load(Relaxed))?;
            return Err(io::Error::other("a sector is bad"));
        }
        self.synced.store(file.metadata()?.len(), Relaxed);
        Ok(())
    }
}

#[test]
fn records_are_written_again_after_a_failed_sync() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Arc::new(ForgetfulDisk::default());
    let path = folder.path().join("lease");
    let mut file = SpoolFile::create(&path, &Record::Asked("1".to_owned()), disk.clone()).unwrap();
    let records = records("1");
    file.append(&bytes_of(&records[1..3])).unwrap();
    disk.fails.store(true, Relaxed);
    assert!(file.sync().unwrap_err().to_string().contains("lease: a sector is bad"));
    file.append(&bytes_of(&records[3..4])).unwrap();
    assert!(file.sync().is_err());
    disk.fails.store(false, Relaxed);
    file.sync().unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes_of(&records[..4]));
    drop(file);
    let (mut file, _) = SpoolFile::open(&path, disk.clone()).unwrap();
    disk.fails.store(true, Relaxed);
    disk.synced.store(5, Relaxed);
    assert!(file.sync().is_err());
    disk.fails.store(false, Relaxed);
    file.sync().unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes_of(&records[..4]));
}

/// Case: match or not, finished games, their runs (first and count), and the first released game.
type Case = (bool, &'static [u64], &'static [(u64, u64)], Option<u64>);

#[test]
fn every_finished_game_is_submitted_despite_gaps() {
    let cases: [Case; 7] = [
        (false, &[], &[], Some(10)),
        (false, &[10, 11, 12], &[(10, 3)], Some(13)),
        (false, &[11, 12, 15, 19], &[(11, 2), (15, 1), (19, 1)], Some(10)),
        (false, &[10, 12, 13], &[(10, 1), (12, 2)], Some(11)),
        (false, &[10, 11, 12, 13, 14, 15, 16, 17, 18, 19], &[(10, 10)], None),
        (true, &[10, 11, 13, 14, 16, 17, 18, 19], &[(10, 2), (16, 4)], Some(12)),
        (true, &[11, 12], &[], Some(10)),
    ];
    for (is_match, finished, expected, missing) in cases {
        let opponent = dataset::Opponent { net: None, soft_nodes: None, hard_nodes: 50 };
        let terms = Header { opponent: is_match.then_some(opponent), ..header() };
        let evaluation = is_match.then_some(Evaluation::Plain);
        let run = Run::from_header(&terms, Evaluation::Plain, evaluation, None).unwrap();
        let mut players = run.players();
        let Record::Lease(mut saved) = lease("token") else { unreachable!() };
        saved.lease.terms = terms.clone();
        // In any order.
        let mut records: Vec<_> = finished
            .iter()
            .rev()
            .map(|&number| {
                let game = run.game(&mut players, number).unwrap().record;
                (number, game)
            })
            .collect();
        let encoded =
            records.iter().map(|(number, game)| Record::Game(*number, encode_game(&terms, *number, game).unwrap()));
        let all: Vec<_> = [Record::Lease(saved)].into_iter().chain(encoded).collect();
        let contents = Contents::read(&bytes_of(&all)).0;
        let runs: Vec<_> = contents.runs().iter().map(|run| (run.start, run.end - run.start)).collect();
        assert_eq!((&runs[..], contents.release_from()), (expected, missing), "{finished:?}");
        records.reverse();
        for run in contents.runs() {
            // The same bytes as from the games themselves.
            let header = Header { first_game: run.start, ..terms.clone() };
            let mut writer = dataset::shard::ShardWriter::new(Vec::new(), header).unwrap();
            records.iter().filter(|(number, _)| run.contains(number)).for_each(|(_, game)| writer.add(game).unwrap());
            let shard = contents.shard(&run).unwrap();
            assert_eq!(writer.finish().unwrap().0, shard);
            assert_eq!(Shard::new(shard).unwrap().games(), run.end - run.start);
        }
    }
}

/// An obstacle is not mistaken for a stored lease, which would lose games.
#[test]
fn a_failed_put_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let spool = open(folder.path());
    fs::remove_dir(folder.path().join("spool")).unwrap();
    fs::write(folder.path().join("spool"), "").unwrap();
    assert!(spool.put("1", &records("1")).is_err());
    fs::remove_file(folder.path().join("spool")).unwrap();
    spool.put("1", &records("1")).unwrap();
    spool.put("1", &records("1")).unwrap();
    assert_eq!(spool.read("1").unwrap().0, contents("1"));
}

/// A crash between the grant's last steps leaves the lease under the name of its request.
#[test]
fn a_granted_lease_gets_its_name_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let spool = open(folder.path());
    fs::write(folder.path().join("asking"), bytes_of(&records("1")[..2])).unwrap();
    assert!(spool.names().unwrap().is_empty());
    assert_eq!(open(folder.path()).names().unwrap(), ["1"]);
    assert!(!folder.path().join("asking").exists());
    // A request stays, and a cut one was never sent.
    let file = spool.ask("2").unwrap();
    drop(file);
    assert_eq!(open(folder.path()).request().unwrap().unwrap().1, "2");
    fs::write(folder.path().join("asking"), &bytes_of(&records("2")[..1])[..9]).unwrap();
    assert!(open(folder.path()).request().unwrap().is_none());
}
