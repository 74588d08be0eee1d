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
    state_folder::{finished, leases},
    wait_until,
};
use engine::Evaluation;
use worker::spool::Record;

/// Cuts the leases of a folder at random bytes. A lease itself was synced before it was used, and a
/// closed lease before its upload; these records stay. Returns the number of lost bytes.
fn cut(state: &Path, rng: &mut JitterRng) -> u64 {
    let mut lost = 0;
    for (path, _) in leases(state) {
        let bytes = fs::read(&path).unwrap();
        let (mut rest, mut synced) = (&bytes[..], 0);
        while let Some((record, after)) = Record::split(rest) {
            rest = after;
            if matches!(record, Record::Asked(_) | Record::Lease(_) | Record::Closed) {
                synced = bytes.len() - rest.len();
            }
        }
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
    let coordinator = Coordinator::new(header(600), games, 33);
    let state = tempfile::tempdir().unwrap();
    let mut rng = JitterRng::new(23);
    let mut lost = 0;
    let finished = || coordinator.state().accepted.len() + finished(state.path()).len();
    for kill in 0..kills {
        let before = finished();
        let asked = coordinator.state().asked;
        let worker = Process::start(&coordinator.url(), state.path(), &[]);
        // Each second worker is killed while it plays, the others also while they start.
        let is_at_it = || match kill % 2 {
            0 => finished() > before || finished() as u64 == games,
            _ => coordinator.state().asked > asked || !leases(state.path()).is_empty(),
        };
        wait_until(is_at_it);
        thread::sleep(rng.duration_between(Duration::from_millis(20), Duration::from_millis(1200)));
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
    coordinator.check(digest_of(&header(600), Evaluation::Plain, None, games));
    assert_eq!(coordinator.state().given_back, 0);
    assert!(leases(state.path()).is_empty());
    assert_eq!(fs::read_dir(state.path().join("refused")).unwrap().count(), 0);
}
