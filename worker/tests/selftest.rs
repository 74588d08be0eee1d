//! The self-test: its games are equal on every instruction set, and a worker that fails it plays
//! nothing.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod common;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use common::{
    coordinator::Coordinator,
    digest_of, header,
    process::{PROGRAM, Process, log_of},
};
use engine::Evaluation;
use nnue::Kernel;
use worker::selftest::{GAMES, play};

#[test]
fn known_games_are_known_everywhere() {
    for kernel in Kernel::available() {
        let games = GAMES.map(|(name, _)| (name, play(name, kernel).unwrap().digest().to_string()));
        let known = GAMES.map(|(name, digest)| (name, digest.to_owned()));
        assert_eq!(games, known, "{}", kernel.name());
    }
}

/// A modified copy of the program.
fn program(folder: &Path, change: impl FnOnce(&mut Vec<u8>)) -> PathBuf {
    let path = folder.join("chuhe-worker");
    // The old file may be running.
    let _ = fs::remove_file(&path);
    fs::copy(PROGRAM, &path).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    change(&mut bytes);
    fs::write(&path, bytes).unwrap();
    path
}

/// Changes the reference digest of the last game, so that the self-test fails.
fn expects_another_game(bytes: &mut [u8]) {
    let digest = GAMES[2].1.as_bytes();
    let place = bytes.windows(digest.len()).position(|window| window == digest);
    bytes[place.expect("the digest stands in the program")] ^= 1;
}

fn tests(state: &Path) -> usize {
    log_of(state).matches("Self-test: bench").count()
}

#[test]
fn the_first_job_comes_after_a_self_test_which_is_made_again_when_the_program_has_changed() {
    let coordinator = Coordinator::new(header(200), 12, 4);
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let run = |change: fn(&mut Vec<u8>)| {
        let command = Command::new(program(folder.path(), change));
        let worker = Process::start_untested(command, &coordinator.url(), &state, &["--leases", "1"]);
        assert_eq!(worker.end(), Some(0), "{}", log_of(&state));
    };
    run(|_| {});
    assert_eq!((tests(&state), coordinator.state().accepted.len()), (1, 4));
    run(|_| {});
    assert_eq!((tests(&state), coordinator.state().accepted.len()), (1, 8));
    // Appended bytes change the program's hash, but not its behaviour.
    run(|bytes| bytes.extend(b"newer"));
    assert_eq!(tests(&state), 2);
    coordinator.check(digest_of(&header(200), Evaluation::Plain, None, 12));
}

#[test]
fn a_failed_self_test_prevents_play_and_is_reported() {
    let coordinator = Coordinator::new(header(200), 12, 4);
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    for _ in 0..2 {
        let command = Command::new(program(folder.path(), |bytes| expects_another_game(bytes)));
        let worker = Process::start_untested(command, &coordinator.url(), &state, &[]);
        assert_eq!(worker.end(), Some(1), "{}", log_of(&state));
    }
    let log = log_of(&state);
    let said =
        "chuhe-worker: the self-test failed, so nothing is played: the game `match` went otherwise than everywhere";
    assert_eq!(log.matches(said).count(), 2, "{log}");
    let state = coordinator.state();
    assert_eq!((state.asked, state.accepted.len()), (0, 0));
    assert!(state.failures.len() == 2 && state.failures[0].contains("\"self_test\""), "{:?}", state.failures);
}

/// The self-test is repeated after an update; the old version replaces one that fails it.
#[cfg(unix)]
#[test]
fn a_newer_version_that_fails_at_its_first_start_is_rolled_back() {
    let coordinator = Coordinator::new(header(200), 12, 4);
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    fs::create_dir(&state).unwrap();
    let old = folder.path().join("chuhe-worker.old");
    fs::copy(PROGRAM, &old).unwrap();
    let command = Command::new(program(folder.path(), |bytes| expects_another_game(bytes)));
    let trial = format!("{{\"from\":\"0.0.9\",\"to\":\"{}\",\"starts\":0}}", env!("CARGO_PKG_VERSION"));
    fs::write(state.join("update-trial.json"), trial).unwrap();
    // The old version takes over in the same process, tests itself too, and plays.
    let worker = Process::start_untested(command, &coordinator.url(), &state, &["--leases", "3"]);
    assert_eq!(worker.end(), Some(0), "{}", log_of(&state));
    assert!(log_of(&state).contains("This version fails here, and the old one takes over: "), "{}", log_of(&state));
    assert!(fs::read(folder.path().join("chuhe-worker")).unwrap() == fs::read(PROGRAM).unwrap() && !old.exists());
    coordinator.check(digest_of(&header(200), Evaluation::Plain, None, 12));
}

/// A typing error is reported at once, and not after a minute.
#[test]
fn address_and_token_are_tried_before_the_selftest() {
    let coordinator = Coordinator::new(header(300), 40, 8);
    let state = tempfile::tempdir().unwrap();
    let start = |url: &str, more: &[&str]| Process::start_untested(Command::new(PROGRAM), url, state.path(), more);
    assert_eq!(start(&coordinator.url(), &["--token", "other"]).end(), Some(2));
    let log = log_of(state.path());
    assert!(log.contains(": the token is not known here. ") && !log.contains("Self-test"), "{log}");

    let worker = start("http://127.0.0.1:1", &[]);
    for _ in 0..20_000 {
        if log_of(state.path()).contains("Self-test: ") {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    drop(worker);
    let log = log_of(state.path());
    let (before, _) = log.split_once("Self-test: ").unwrap();
    let last = before.lines().last().unwrap();
    let (problem, rest) = last.split_once("The worker tests this machine, and then asks again.").expect(last);
    assert!(problem.contains("No server answers at http://127.0.0.1:1 (connection refused)"), "{last}");
    assert_eq!(rest, "", "{last}");
}
