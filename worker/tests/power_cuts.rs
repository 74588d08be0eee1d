//! Workers that are killed again and again, while their disk loses what was not synced.
//!
//! `CHUHE_KILLS` is the number of kills; `scripts/check --long` sets 200.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod common;

use std::{fs, path::Path, thread, time::Duration};

use client::JitterRng;
use common::{
    coordinator::Coordinator,
    digest_of, header,
    process::{Process, log_of},
    state_folder::leases,
    wait_until,
};
use engine::Evaluation;
use worker::spool::Record;

/// Nodes per move. A lease must take longer than the interval of writes: otherwise its games are
/// written together with its end, and synced at once.
const NODES: u64 = 1_500;

/// The length of a lease's synced part. A lease itself was synced before it was used, and a closed
/// lease before its upload.
fn synced(bytes: &[u8]) -> usize {
    let (mut rest, mut synced) = (bytes, 0);
    while let Some((record, after)) = Record::split(rest) {
        rest = after;
        if matches!(record, Record::Asked(_) | Record::Lease(_) | Record::Closed) {
            synced = bytes.len() - rest.len();
        }
    }
    synced
}

/// Whether a cut may lose something.
fn is_vulnerable(state: &Path) -> bool {
    let files = leases(state).into_iter().filter_map(|(path, _)| fs::read(path).ok());
    files.into_iter().any(|bytes| synced(&bytes) < bytes.len())
}

/// Cuts the leases of a folder at random bytes that were not synced. Returns the number of lost
/// bytes.
fn cut(state: &Path, rng: &mut JitterRng) -> u64 {
    let mut lost = 0;
    for (path, _) in leases(state) {
        let bytes = fs::read(&path).unwrap();
        let synced = synced(&bytes);
        let kept = synced as u64 + rng.next_u64() % (bytes.len() - synced + 1) as u64;
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(kept).unwrap();
        lost += bytes.len() as u64 - kept;
    }
    lost
}

#[test]
fn every_finished_game_is_accepted_once_despite_kills_and_cuts() {
    let kills = std::env::var("CHUHE_KILLS").map_or(6, |kills| kills.parse::<u64>().unwrap());
    let games = 12 * (kills + 1);
    let coordinator = Coordinator::new(header(NODES), games, 33);
    let state = tempfile::tempdir().unwrap();
    let mut rng = JitterRng::new(23);
    let mut lost = 0;
    for kill in 0..kills {
        let asked = coordinator.state().asked;
        let worker = Process::start(&coordinator.url(), state.path(), &[]);
        // Each second worker is killed as soon as a cut may lose games, the others also while they
        // start.
        if kill % 2 == 0 {
            wait_until(|| is_vulnerable(state.path()) || coordinator.state().accepted.len() as u64 == games);
        } else {
            wait_until(|| coordinator.state().asked > asked || !leases(state.path()).is_empty());
            thread::sleep(rng.duration_between(Duration::from_millis(20), Duration::from_millis(1200)));
        }
        worker.signal("KILL");
        drop(worker);
        lost += cut(state.path(), &mut rng);
    }
    assert!(lost > 0, "no byte was ever lost");
    let asked = coordinator.state().asked;
    let worker = Process::start(&coordinator.url(), state.path(), &[]);
    wait_until(|| coordinator.state().asked > asked);
    coordinator.wait_for(games);
    worker.signal("TERM");
    assert_eq!(worker.end(), Some(0), "{}", log_of(state.path()));
    coordinator.check(digest_of(&header(NODES), Evaluation::Plain, None, games));
    assert_eq!(coordinator.state().given_back, 0);
    assert!(leases(state.path()).is_empty());
    assert_eq!(fs::read_dir(state.path().join("refused")).unwrap().count(), 0);
}
