//! Matches under a clock, from the request to their pages.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use dataset::{Reason, Record, manifest::Entry};
use engine::Evaluation;
use protocol::api::{
    problem::Code,
    work::{Lease, Role, Work},
};
use reqwest::{Method, StatusCode};
use selfplay::{Timer, selfplay::Run};
use serde_json::{Value, json};

use crate::bench::{Bench, problem, read, shard};

/// A clock that advances by a millisecond per reading.
#[derive(Default)]
struct Ticks(AtomicU64);

impl Timer for Ticks {
    fn now(&self) -> Duration {
        Duration::from_millis(self.0.fetch_add(1, Relaxed))
    }
}

fn play(lease: &Lease) -> Vec<Record> {
    let (plain, timer) = (Evaluation::Plain, Arc::new(Ticks::default()));
    let run = Run::from_header_with_timer(&lease.terms, plain.clone(), Some(plain), None, timer).unwrap();
    let mut players = run.players();
    lease.numbers().map(|number| run.game(&mut players, number).unwrap().record).collect()
}

async fn get(bench: &Bench, path: &str) -> String {
    let answer = bench.request(Method::GET, path, "").send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK, "{path}");
    answer.text().await.unwrap()
}

#[tokio::test]
async fn trusted_workers_play_them_and_every_view_marks_them_unprovable() {
    const MARK: &str = "unprovable";
    let bench = Bench::start().await;
    let (boss, ann) = (bench.account("boss", Role::Maintainer).await, bench.account("ann", Role::Volunteer).await);
    let wanted = json!({
        "clock": { "time": { "game": { "base_milliseconds": 20 } } },
        "pairs": 2, "hash_mebibytes": 1, "ply_cap": 60,
    });
    let path = "/api/v1/matches/timed";
    problem(bench.post(path, "", &wanted).await, Code::NoToken).await;
    problem(bench.post(path, &ann, &wanted).await, Code::Forbidden).await;
    let mut wrong = wanted.clone();
    wrong["clock"]["time"]["game"]["base_milliseconds"] = json!(0);
    problem(bench.post(path, &boss, &wrong).await, Code::Invalid).await;
    wrong = json!({ "pairs": 2 });
    assert!(bench.post(path, &boss, &wrong).await.status().is_client_error(), "a clock is required");
    let answer = bench.post(path, &boss, &wanted).await;
    assert_eq!(answer.status(), StatusCode::CREATED);
    let job = read::<Value>(answer).await["job"].as_i64().unwrap();

    let worker = bench.worker(&ann, "one").await;
    assert!(matches!(bench.ask(&ann, worker, "1").await.work, Work::Wait { .. }), "the worker is not trusted");
    let trust = bench.post(&format!("/api/v1/workers/{worker}/trust"), &boss, &json!({ "trusted": true })).await;
    assert_eq!(trust.status(), StatusCode::NO_CONTENT);
    let mut late = 0;
    let mut bytes = Vec::new();
    for round in 0..4 {
        let Work::Games(lease) = bench.ask(&ann, worker, &format!("t{round}")).await.work else { break };
        let records = play(&lease);
        late += records.iter().filter(|record| record.reason == Reason::TimeLoss).count() as u64;
        bytes = shard(&lease.terms, &records);
        assert_eq!(bench.upload(&ann, &lease, bytes.clone()).await.status(), StatusCode::CREATED);
    }
    bench.validate().await;
    bench.step().await;
    assert!(late > 0, "so short a clock is exceeded");

    let standing: Value =
        read(bench.request(Method::GET, &format!("/api/v1/matches/{job}"), "").send().await.unwrap()).await;
    assert_eq!(standing["pairs"], 2);
    let losses = &standing["timed"]["time_losses"];
    assert_eq!(losses[0].as_u64().unwrap() + losses[1].as_u64().unwrap(), late, "{standing}");
    let list: Value = serde_json::from_str(&get(&bench, "/api/v1/matches").await).unwrap();
    assert_eq!(
        (&list[0]["kind"], &list[0][MARK], &list[0]["state"]),
        (&json!("timed"), &json!(true), &json!("closed"))
    );
    let details: Value = serde_json::from_str(&get(&bench, &format!("/api/v1/matches/{job}/details")).await).unwrap();
    assert_eq!((&details[MARK], &details["outlook"]), (&json!(true), &Value::Null));

    let shards: Value = serde_json::from_str(&get(&bench, &format!("/api/v1/games?job={job}")).await).unwrap();
    assert_eq!(shards[0][MARK], true);
    let shard = shards[0]["shard"].as_str().unwrap();
    let first = shards[0]["first"].as_i64().unwrap();
    let game: Value = serde_json::from_str(&get(&bench, &format!("/api/v1/games/{shard}/{first}")).await).unwrap();
    assert_eq!((&game[MARK], &game["clock"]["time"]["game"]["base_milliseconds"]), (&json!(true), &json!(20)));
    let pgn = get(&bench, &format!("/api/v1/games/{shard}/{first}/pgn")).await;
    assert!(pgn.contains("[TimeControl \"0.02+0\"]") && pgn.contains(MARK), "{pgn}");
    for path in [format!("/en/matches/{job}"), "/en/matches".to_owned(), format!("/en/games?job={job}")] {
        assert!(get(&bench, &path).await.contains(MARK), "{path}");
    }
    for path in [format!("/en/games/{shard}"), format!("/en/games/{shard}/{first}")] {
        assert!(get(&bench, &path).await.contains("Played under a clock"), "{path}");
    }
    assert!(get(&bench, &format!("/zh/matches/{job}")).await.contains("不可复核"));
    // Their manifest entries are empty, and cannot be created.
    assert_eq!(bench.number("SELECT COUNT(*) FROM shards WHERE entry <> ''").await, 0);
    assert!(Entry::of(&bytes).is_err());
    assert_eq!(bench.number("SELECT COUNT(*) FROM promotions").await, 0);
}
