//! Takeover of the state folders of earlier versions; see `tests/data/old_state/README.md`.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod common;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::Arc,
};

use client::{Client, Settings, SystemClock};
use common::{clock, coordinator::Coordinator, header, in_process::Worker, state_folder::leases};
use dataset::{Digest, Header, shard::Shard};
use protocol::api::work::Ask;

/// The server of the recorded folders.
const SERVER: &str = "http://127.0.0.1:39635";
/// A request that had no response.
const NONCE: &str = "0123456789abcdef0123456789abcdef";

/// A recorded submission: first game, hash of its shard, header, games.
type Recorded = (u64, Digest, Header, u64);

/// Copies a folder for another server; returns its submissions and the games in its journals.
fn copy(from: &Path, to: &Path, server: &str) -> (Vec<Recorded>, BTreeSet<u64>) {
    let (mut submissions, mut journalled) = (Vec::new(), BTreeSet::new());
    for folder in ["leases", "outbox"].iter().filter(|folder| from.join(folder).exists()) {
        fs::create_dir_all(to.join(folder)).unwrap();
        for entry in fs::read_dir(from.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let mut bytes = fs::read(&path).unwrap();
            match path.extension().unwrap().to_str().unwrap() {
                "lease" => bytes = String::from_utf8(bytes).unwrap().replace(SERVER, server).into_bytes(),
                "games" => {
                    journalled.extend(games_of(&bytes));
                    // A torn entry.
                    bytes.extend([200, 0, 0, 0, 1, 2, 3]);
                }
                _ => {
                    let lines: Vec<_> = bytes.splitn(3, |&byte| byte == b'\n').collect();
                    let meta = String::from_utf8(lines[1].to_vec()).unwrap().replace(SERVER, server);
                    if let Ok(shard) = Shard::new(lines[2].to_vec()) {
                        let header = shard.header().clone();
                        submissions.push((header.first_game, Digest::of(lines[2]), header, shard.games()));
                    }
                    let rest = [meta.as_bytes(), b"\n", lines[2]].concat();
                    bytes = [Digest::of(&rest).to_string().as_bytes(), b"\n", &rest].concat();
                }
            }
            fs::write(to.join(folder).join(path.file_name().unwrap()), bytes).unwrap();
        }
    }
    (submissions, journalled)
}

/// The games in a journal: each entry is a length, a check of eight bytes, and a shard.
fn games_of(mut bytes: &[u8]) -> BTreeSet<u64> {
    let mut numbers = BTreeSet::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        let (shard, rest) = rest[8..].split_at(u32::from_le_bytes(*length) as usize);
        numbers.insert(Shard::new(shard.to_vec()).unwrap().header().first_game);
        bytes = rest;
    }
    numbers
}

/// A coordinator that has granted the four recorded leases.
fn coordinator(bench_signature: u64) -> Coordinator {
    let coordinator = Coordinator::new(Header { bench_signature, ..header(300) }, 40, 10);
    let clock = Arc::new(SystemClock::default());
    let url = coordinator.url().parse().unwrap();
    let client = Client::new(Settings::new(url, Some("secret".parse().unwrap()), clock)).unwrap();
    for number in 0..4 {
        let nonce = format!("recorded {number}");
        let (nodes_per_second, most_seconds, acknowledged) = (None, None, Vec::new());
        client.ask(&Ask { worker: 1, nonce, threads: 3, nodes_per_second, most_seconds, acknowledged }).unwrap();
    }
    coordinator
}

#[test]
fn old_folders_are_taken_over_once_and_lose_no_game() {
    for folder in ["running", "stopped"] {
        let recorded = Path::new("tests/data/old_state").join(folder);
        let signature = {
            let folder = tempfile::tempdir().unwrap();
            copy(&recorded, folder.path(), SERVER).0[0].2.bench_signature
        };
        let coordinator = coordinator(signature);
        let state = tempfile::tempdir().unwrap();
        let (submissions, journalled) = copy(&recorded, state.path(), &coordinator.url());
        fs::write(state.path().join("asking"), NONCE).unwrap();
        let mut expected = journalled.clone();
        expected.extend(submissions.iter().flat_map(|(first, _, _, games)| *first..first + games));
        assert!(expected.len() > 20 && journalled.is_empty() == (folder == "stopped"), "{expected:?}");
        for _ in 0..2 {
            let worker = Worker::start(&coordinator.url(), state.path(), clock());
            coordinator.wait_for(expected.len() as u64);
            worker.said.wait_for(|snapshot| snapshot.outbox == 0 && snapshot.jobs.is_empty());
            worker.finish();
            for gone in ["leases", "outbox"] {
                assert!(!state.path().join(gone).exists(), "{folder}: {gone}");
            }
            assert!(leases(state.path()).is_empty());
        }
        let state = coordinator.state();
        assert_eq!((&state.faults, state.duplicates), (&Vec::new(), 0));
        assert_eq!(state.accepted.keys().copied().collect::<BTreeSet<_>>(), expected, "{folder}");
        assert!(state.answers.contains_key(NONCE), "the open request was not repeated");
        // The bytes are those that the earlier version would have sent.
        let shards: BTreeMap<_, _> = state.accepted.iter().map(|(number, (_, _, shard))| (*number, *shard)).collect();
        for (first, sha256, ..) in submissions {
            assert_eq!(shards[&first], sha256);
        }
    }
}
