//! The whole loop with real processes: games, validation, audits, training, gate, promotion, next
//! generation, rollback.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use std::{collections::BTreeSet, fs, sync::Arc, time::Duration};

use client::{Client, Clock as _, SystemClock};
use dataset::{Digest, Header, shard};
use e2e::{
    Coordinator, Role, Stage,
    campaign::{self, Bar},
};
use nnue::Net;
use serde_json::{Value, json};
use worker::{selftest::SIGNATURE, status::outlook};

const LONG: Duration = Duration::from_mins(8);

fn nets(coordinator: &Coordinator<'_>) -> Vec<Value> {
    serde_json::from_str(&coordinator.admin(&["net", "list"])).unwrap()
}

/// The headers of all accepted shards.
fn headers(stage: &Stage) -> Vec<Header> {
    let mut found = Vec::new();
    let mut folders = vec![stage.path("coordinator").join("objects")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(shard) = shard::open(&path) {
                found.push(shard.header().clone());
            }
        }
    }
    found
}

#[test]
fn games_become_nets_that_play_the_next_games_and_can_be_rolled_back() {
    let stage = Stage::default();
    let coordinator = Coordinator::start(&stage, &[]);
    let material = campaign::begin(&stage, &coordinator, Bar::Low, 4);

    // Workers that acquire all games and disappear block them only until their leases expire.
    coordinator.campaign_is("loop", LONG, |campaign| campaign["selfplay"]["job"].is_number());
    let mut lost = 0;
    while ManualWorker::new(&coordinator, &format!("lost-{lost}")).takes(&coordinator) > 0 {
        lost += 1;
        assert!(lost < 30, "there is no end of games");
    }
    // The last got none, as all games were leased.
    assert!(lost > 0, "there was nothing to play");
    coordinator.set_ahead_by(Duration::from_hours(24));

    // Two accounts audit each other's games.
    let tokens = ["elder", "younger"].map(|name| coordinator.account(name, Role::Volunteer));
    let trainer = coordinator.account("trainer", Role::Trainer);
    let workers =
        [("first", &tokens[0]), ("second", &tokens[1])].map(|(name, token)| stage.worker(&coordinator, token, name));
    let agent = stage.agent(coordinator.address(), &trainer, "agent", &[]);
    // Before the lost leases would have expired by any other clock.
    coordinator.campaign_is("loop", LONG, |campaign| campaign["selfplay"]["games"].as_u64() > Some(0));

    // `watch` ends at the second promotion.
    let watched = coordinator.watch("loop", 2);
    let output = String::from_utf8(watched.stdout).unwrap();
    assert!(watched.status.success(), "{output}\n{}\n{}", String::from_utf8_lossy(&watched.stderr), coordinator.log());
    // A step shorter than the polling interval of two seconds may be missed, a decision may not.
    for step in ["generation 0: ", "generation 1: ", " of 3000 positions", " is stronger: "] {
        assert!(output.contains(step), "{step}: {output}");
    }

    // Each net plays the games of its own generation.
    let all = nets(&coordinator);
    let promoted = |generation: u64| {
        let found = all.iter().find(|net| net["state"] == "promoted" && net["generation"] == generation);
        found.unwrap_or_else(|| panic!("no net of generation {generation}: {all:#?}"))["net"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (first, second) = (promoted(1), promoted(2));
    let standing = coordinator.campaign_is("loop", LONG, |campaign| campaign["selfplay"]["games"].as_u64() > Some(0));
    assert_eq!((&standing["champion"], &standing["generation"]), (&second.clone().into(), &2.into()));
    // Two generations show how long the third will take.
    let clock = SystemClock::default();
    let since_1970 = clock.since_1970();
    let client = Client::new(client::Settings::new(coordinator.address().parse().unwrap(), None, Arc::new(clock)));
    assert!(outlook::request(&client.unwrap(), since_1970).is_some());

    let played = headers(&stage);
    for (net, what) in [(&material, "the first"), (&first, "the second"), (&second, "the third")] {
        let of_generation =
            |header: &&Header| header.opponent.is_none() && header.net == Some(net.parse::<Digest>().unwrap());
        assert!(played.iter().any(|header| of_generation(&header)), "{what} generation is not played by its net");
    }
    // The parent of each net is the previous champion, which it was tested against.
    for (candidate, champion) in [(&first, &material), (&second, &first)] {
        assert!(
            all.iter().any(|net| net["net"] == candidate.as_str() && net["parent"] == champion.as_str()),
            "{all:#?}"
        );
        let pair = |header: &Header| {
            let opponent = header.opponent.as_ref().and_then(|opponent| opponent.net);
            header.net == candidate.parse().ok() && opponent == champion.parse().ok()
        };
        assert!(played.iter().any(pair));
    }
    // The files are nets, and their manifests name stored games of the champions until then.
    for (net, players) in [(&first, [&material].as_slice()), (&second, &[&material, &first])] {
        let bytes = fs::read(find(&stage, net)).unwrap();
        assert_eq!(Net::from_bytes(&bytes).unwrap().hash().to_string(), *net);
        let played_by = players_of(&stage, &coordinator, net);
        let expected: BTreeSet<_> = players.iter().map(|&player| Some(player.parse().unwrap())).collect();
        assert_eq!(played_by, expected, "{net}");
    }
    let events = coordinator.admin(&["audit"]);
    assert!(!events.contains("\"quarantine\"") && !events.contains("\"dispute\""), "{events}");
    assert_eq!(events.matches("is the champion of generation").count(), 2);
    let audited = coordinator.admin(&["user", "list"]);
    let clean: Vec<u64> = serde_json::from_str::<Vec<Value>>(&audited)
        .unwrap()
        .iter()
        .filter_map(|account| account["clean_games"].as_u64())
        .collect();
    assert!(clean.iter().sum::<u64>() > 0, "games were audited by the other account: {audited}");

    // Rollback: the first net plays again, in a new generation.
    let _ = coordinator.admin(&["net", "rollback", "loop", "--reason", "a test"]);
    let back = coordinator.campaign("loop");
    assert_eq!((&back["champion"], &back["generation"]), (&first.clone().into(), &3.into()));
    assert!(nets(&coordinator).iter().any(|net| net["net"] == second.as_str() && net["state"] == "rolled_back"));
    let standing = coordinator.campaign_is("loop", LONG, |campaign| campaign["selfplay"]["games"].as_u64() > Some(0));
    assert_eq!(standing["champion"], first.as_str());

    for worker in workers {
        worker.signal("TERM");
        assert_eq!(worker.end(LONG), 0);
    }
    agent.signal("INT");
    assert_eq!(agent.end(LONG), 0);
}

/// Returns the players of a net's training games, according to its manifest and the games.
fn players_of(stage: &Stage, coordinator: &Coordinator<'_>, net: &str) -> BTreeSet<Option<Digest>> {
    let token = coordinator.account(&format!("reader-{}", &net[..8]), Role::Volunteer);
    let (status, manifest) = coordinator.ask("GET", &format!("/api/v1/nets/{net}/manifest"), &token, "");
    assert_eq!(status, 200, "{manifest}");
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let sets = manifest["data"].as_array().unwrap().iter().map(|set| set["manifest"].as_str().unwrap());
    let shards = sets.flat_map(|set| {
        let (status, set) = coordinator.ask("GET", &format!("/api/v1/manifests/{set}"), &token, "");
        assert_eq!(status, 200, "{set}");
        serde_json::from_str::<Value>(&set).unwrap()["shards"].as_array().unwrap().clone()
    });
    shards
        .map(|shard| {
            let file = find(stage, shard["sha256"].as_str().unwrap());
            shard::open(&file).unwrap().header().net
        })
        .collect()
}

/// A worker with its own account that sends requests by hand.
struct ManualWorker {
    token: String,
    worker: i64,
    leases: u32,
}

impl ManualWorker {
    fn new(coordinator: &Coordinator<'_>, name: &str) -> Self {
        let token = coordinator.account(name, Role::Volunteer);
        let machine = json!({"name": name, "version": env!("CARGO_PKG_VERSION"), "bench_signature": SIGNATURE, "threads": 16,
            "memory_mebibytes": 4096, "system": "linux-x86_64", "instruction_set": "avx2"});
        let (status, answer) = coordinator.ask("POST", "/api/v1/workers", &token, &machine.to_string());
        assert!(status < 300, "{answer}");
        let worker = serde_json::from_str::<Value>(&answer).unwrap()["worker"].as_i64().unwrap();
        Self { token, worker, leases: 0 }
    }

    /// Acquires all available leases; returns their number.
    fn takes(&mut self, coordinator: &Coordinator<'_>) -> u32 {
        loop {
            let request = json!({"worker": self.worker, "nonce": format!("request {}", self.leases), "threads": 16});
            let (status, answer) = coordinator.ask("POST", "/api/v1/leases", &self.token, &request.to_string());
            assert_eq!(status, 200, "{answer}");
            if serde_json::from_str::<Value>(&answer).unwrap()["work"] != "games" {
                return self.leases;
            }
            self.leases += 1;
        }
    }
}

/// The file of an object.
fn find(stage: &Stage, hash: &str) -> std::path::PathBuf {
    let mut folders = vec![stage.path("coordinator").join("objects")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap().to_string_lossy().contains(hash) {
                return path;
            }
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    panic!("there is no object {hash}");
}
