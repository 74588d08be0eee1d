//! `chuhe-worker status`, with and without a running worker.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod common;

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use common::{
    clock,
    coordinator::Coordinator,
    header,
    in_process::Worker,
    process::{PROGRAM, Process, log_of},
    wait_until,
};
use serde_json::Value;
use worker::{control::set_paused, status::Doing};

fn status(state: &Path, more: &[&str]) -> Output {
    Command::new(PROGRAM).arg("status").args(more).env("CHUHE_STATE", state).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_worker_that_runs_is_described_for_people_and_programs() {
    let coordinator = Coordinator::new(header(3000), 40_000, 100);
    let state = tempfile::tempdir().unwrap();
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    worker.said.wait_for(|snapshot| snapshot.games > 0 && snapshot.contribution.is_some());
    let json = || serde_json::from_str::<Value>(&text(&status(state.path(), &["--json"]))).unwrap();
    // It is written every two seconds.
    let mut reported = json();
    for _ in 0..3000 {
        // A new lease has no speed yet.
        let has_speed = !reported["jobs"][0]["positions_per_second"].is_null();
        if reported["games"].as_u64() > Some(0) && !reported["contribution"].is_null() && has_speed {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        reported = json();
    }
    assert_eq!((reported["doing"].as_str(), reported["name"].as_str()), (Some("playing"), Some("test")));
    assert_eq!((reported["cores"].as_u64(), reported["server"].as_str()), (Some(2), Some(coordinator.url().as_str())));
    assert_eq!(reported["contribution"]["rank"].as_u64(), Some(3));
    let job = &reported["jobs"][0];
    assert_eq!((job["kind"].as_str(), job["games"].as_u64()), (Some("self-play"), Some(100)));
    assert!(job["positions_per_second"].as_f64() > Some(0.0) && job["nodes_per_second"].as_f64() > Some(0.0), "{job}");

    let output = status(state.path(), &[]);
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0));
    let lines: Vec<_> = shown.lines().collect();
    let head = format!("test, 2 cores, for {} (process {})", coordinator.url(), std::process::id());
    assert_eq!(lines[0], head);
    assert!(lines[1].starts_with("playing: ") && lines[1].contains(" positions/s, "), "{shown}");
    assert!(
        lines[2].starts_with("  self-play (plain evaluation): ") && lines[2].contains(" of 100 games, "),
        "{shown}"
    );
    let page = format!("place 3; {}/people/ann", coordinator.url());
    assert!(shown.trim_end().ends_with(&page), "{shown}");

    let shown = text(&status(state.path(), &["--pause"]));
    assert!(shown.ends_with("paused: it rests within two seconds, until `chuhe-worker status --resume`\n"), "{shown}");
    worker.said.wait_for(|snapshot| snapshot.doing == Doing::Resting);
    let shown = text(&status(state.path(), &["--resume"]));
    assert!(shown.ends_with("resumed: it plays within two seconds\n"), "{shown}");
    worker.said.wait_for(|snapshot| snapshot.doing == Doing::Playing);
    worker.stop();
}

#[test]
fn a_pause_without_a_worker_applies_to_the_next_one() {
    let state = tempfile::tempdir().unwrap();
    let none = format!("no worker is running with {}\n", state.path().display());
    let output = status(state.path(), &["--pause"]);
    assert_eq!(output.status.code(), Some(1));
    let next = "paused: the next one will rest, until `chuhe-worker status --resume`\n";
    assert_eq!(text(&output), format!("{none}{next}"));
    assert!(state.path().join("paused").exists());
    assert_eq!(text(&status(state.path(), &["--resume"])), format!("{none}resumed: the next one will play\n"));
    assert!(!state.path().join("paused").exists());
    set_paused(state.path(), false).unwrap();
    assert_eq!(text(&status(state.path(), &["--json"])), "null\n");
}

#[test]
fn the_status_of_a_killed_worker_is_not_the_next_ones() {
    let coordinator = Coordinator::new(header(3000), 40_000, 100);
    let state = tempfile::tempdir().unwrap();
    let json = || serde_json::from_str::<Value>(&text(&status(state.path(), &["--json"]))).unwrap();
    let killed = Process::start(&coordinator.url(), state.path(), &[]);
    wait_until(|| !json().is_null());
    drop(killed);
    fs::remove_file(state.path().join("selftest.json")).unwrap();
    let next = Process::start_untested(Command::new(PROGRAM), &coordinator.url(), state.path(), &[]);
    wait_until(|| log_of(state.path()).contains("Self-test: "));
    let found = json();
    assert!(found.is_null() || found["process"].as_u64() == Some(next.0.id().into()), "{found}");
}

/// A permission error is not reported as "no worker".
#[test]
fn an_unreadable_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    fs::write(&state, "no folder").unwrap();
    let output = status(&state, &[]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.stdout.is_empty() && said.starts_with(&format!("chuhe-worker: {}: ", state.display())), "{said}");
}
