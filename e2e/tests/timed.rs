//! Timed matches with real workers, a real coordinator and the machine's own clock.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use dataset::shard;
use e2e::{Coordinator, Role, Stage, program, wait_for};
use serde_json::Value;

const LONG: Duration = Duration::from_mins(3);

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Starts a match and waits until all its pairs are played; returns its standing.
fn played(coordinator: &Coordinator<'_>, player: &str, pairs: u64, more: &[&str]) -> Value {
    let count = pairs.to_string();
    let words = [&["timed", "--pairs", &count, "--hash", "1", "--ply-cap", "60"], more].concat();
    let job = json(&coordinator.admin(&words))["job"].to_string();
    wait_for("all pairs of a timed match", LONG, || {
        let standing = json(&coordinator.admin(&["standing", &job]));
        if standing["pairs"].as_u64() != Some(pairs) {
            return None;
        }
        let (_, text) = coordinator.ask("GET", &format!("/api/v1/matches/{job}/details"), player, "");
        // The body may be chunked.
        let details = json(&text[text.find('{')?..=text.rfind('}')?].replace("\r\n", ""));
        let by = details["workers"].as_array()?.clone();
        assert!(!by.is_empty() && by.iter().all(|worker| worker["account"] == "friend"), "{by:?}");
        Some(standing)
    })
}

fn shards(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if shard::open(&path).is_ok() {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn a_trusted_worker_plays_timed_matches_without_consequences() {
    let stage = Stage::default();
    let coordinator = Coordinator::start(&stage, &[]);
    let [stranger, friend] = ["stranger", "friend"].map(|name| coordinator.account(name, Role::Volunteer));
    let workers =
        [("stranger", &stranger), ("friend", &friend)].map(|(name, token)| stage.worker(&coordinator, token, name));
    let number = wait_for("two workers", LONG, || {
        let all = json(&coordinator.admin(&["worker", "list"]));
        let all = all.as_array()?.clone();
        let named = |name: &str| all.iter().find(|worker| worker["name"] == name)?["worker"].as_i64();
        named("stranger").and(named("friend"))
    });
    let _ = coordinator.admin(&["worker", "trust", &number.to_string()]);

    // First enough time; then hardly any.
    let calm = played(&coordinator, &friend, 3, &["--movetime", "10", "--grace", "60000"]);
    assert_eq!(calm["timed"]["unprovable"], true);
    assert_eq!(calm["timed"]["time_losses"], serde_json::json!([0, 0]), "{calm:#}");
    assert_eq!(calm["verdict"]["decision"], "continue");
    assert!(calm["timed"]["elo"]["elo_low"].is_number(), "{calm:#}");
    let hurried = played(&coordinator, &friend, 3, &["--tc", "0.001", "--grace", "0"]);
    let lost: u64 = hurried["timed"]["time_losses"].as_array().unwrap().iter().map(|it| it.as_u64().unwrap()).sum();
    assert!((1..=6).contains(&lost), "{hurried:#}");

    // No event may follow from timed games.
    let events = coordinator.admin(&["audit"]);
    for never in ["\"promotion\"", "\"dispute\"", "\"quarantine\"", "\"rejected\""] {
        assert!(!events.contains(never), "{events}");
    }

    // The toolbox marks the files as unprovable.
    let files = shards(&stage.path("coordinator").join("objects"));
    assert!(!files.is_empty() && files.iter().all(|file| shard::open(file).unwrap().header().clock.is_some()));
    let chuhe = |words: &[&str]| Command::new(program("chuhe")).args(words).args(&files).output().unwrap();
    for words in [["data", "verify"], ["data", "stats"]] {
        let output = chuhe(&words);
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && said.contains("timed 12: played under a clock, unprovable"), "{said}");
    }
    let text = stage.path("games.jsonl").display().to_string();
    let output = chuhe(&["data", "export", "--format", "jsonl", "--out", &text]);
    assert!(String::from_utf8(output.stdout).unwrap().contains("timed 12: "));
    let set = stage.path("set.json");
    let sfen = stage.path("games.sfen");
    let (set, sfen) = (set.display().to_string(), sfen.display().to_string());
    for words in [
        vec!["data", "manifest", "--out", &set],
        vec!["data", "sample"],
        vec!["data", "export", "--format", "sfen", "--out", &sfen],
    ] {
        let output = chuhe(&words);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains("they are no training data"), "{words:?}: {said}");
    }
    for worker in workers {
        worker.signal("TERM");
        assert_eq!(worker.end(LONG), 0);
    }
}
