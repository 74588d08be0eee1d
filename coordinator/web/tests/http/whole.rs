//! An honest worker, from the first request to games that count.

use std::sync::Arc;

use coordinator_core::{driver, objects::Kind, settings::Settings};
use dataset::Digest;
use protocol::api::{
    path,
    problem::Code,
    work::{GiveBack, Me, Receipt, ReceiptStatus, Renew, Renewed, Role, Server, Work},
};
use reqwest::{Method, StatusCode};

use crate::bench::{Bench, CAMPAIGN, machine, play, problem, read, settings, shard};

/// The coordinator has the constant without depending on the engine.
#[test]
fn the_bench_signature_is_that_of_this_engine() {
    assert_eq!(protocol::BENCH_SIGNATURE, engine::bench::SIGNATURE);
}

#[tokio::test]
async fn games_are_received_validated_and_counted_once() {
    let bench = Bench::start().await;
    let server: Server = read(bench.request(Method::GET, path::SERVER, "").send().await.unwrap()).await;
    assert_eq!((server.licence.as_str(), server.time), ("CC0-1.0", bench.clock.now().seconds()));
    let token = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&token, "one").await;
    assert!(matches!(bench.ask(&token, worker, "early").await.work, Work::Wait { .. }), "no campaign yet");
    bench.campaign(CAMPAIGN).await;

    let lease = bench.lease(&token, worker, "a").await;
    assert_eq!(bench.lease(&token, worker, "a").await, lease, "idempotent retry: the response may have been lost");
    assert!(lease.games >= 2 && lease.terms.first_game == 0);
    let records = play(&lease.terms, lease.games);
    let bytes = shard(&lease.terms, &records);
    let first = bench.upload(&token, &lease, bytes.clone()).await;
    assert_eq!(first.status(), StatusCode::CREATED);
    let receipt: Receipt = read(first).await;
    assert_eq!(receipt.status, ReceiptStatus::Received);
    let again: Receipt = read(bench.upload(&token, &lease, bytes).await).await;
    assert_eq!((again.status, again.shard), (ReceiptStatus::Duplicate, receipt.shard));

    let me: Me = read(bench.request(Method::GET, path::ME, &token).send().await.unwrap()).await;
    assert_eq!((me.total.games, me.rank), (0, None), "nothing counts before its validation");
    bench.validate().await;
    let me: Me = read(bench.request(Method::GET, path::ME, &token).send().await.unwrap()).await;
    let positions: usize = records.iter().map(|record| record.moves.len()).sum();
    assert_eq!((me.total.games, me.total.positions, me.rank), (lease.games, positions as u64, Some(1)));
    let next = bench.lease(&token, worker, "b").await;
    assert_eq!(next.terms.first_game, lease.games, "the next games follow");
}

#[tokio::test]
async fn part_of_a_lease_may_be_delivered_and_the_rest_released() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let token = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&token, "one").await;
    let lease = bench.lease(&token, worker, "a").await;
    assert!(lease.games > 2);
    let answer = bench.post(&path::renewal(&lease.token), &token, &Renew { finished: 2 }).await;
    let renewed: Renewed = read(answer).await;
    assert!(renewed.seconds >= 900);
    let answer = bench.post(&path::renewal(&lease.token), &token, &Renew { finished: 2 }).await;
    problem(answer, Code::NoProgress).await;
    let bytes = shard(&lease.terms, &play(&lease.terms, 2));
    assert_eq!(bench.upload(&token, &lease, bytes).await.status(), StatusCode::CREATED);
    let answer = bench.post(&path::release(&lease.token), &token, &GiveBack { from: 2 }).await;
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    let next = bench.lease(&token, worker, "b").await;
    assert_eq!((next.terms.first_game, next.games), (2, lease.games - 2), "the released games are leased again");
}

#[tokio::test]
async fn late_games_are_accepted_and_count_once() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let (ann, bob) = (bench.account("ann", Role::Volunteer).await, bench.account("bob", Role::Volunteer).await);
    let (slow, fast) = (bench.worker(&ann, "slow").await, bench.worker(&bob, "fast").await);
    let late = bench.lease(&ann, slow, "a").await;
    bench.clock.advance(24 * 3_600_000);
    bench.step().await;
    let second = bench.lease(&bob, fast, "b").await;
    assert_eq!((second.numbers(), &second.terms), (late.numbers(), &late.terms), "the same numbers: the same games");
    let answer = bench.post(&path::renewal(&late.token), &ann, &Renew { finished: 1 }).await;
    problem(answer, Code::LeaseLost).await;
    let bytes = shard(&late.terms, &play(&late.terms, late.games));
    for (token, lease) in [(&ann, &late), (&bob, &second)] {
        let receipt: Receipt = read(bench.upload(token, lease, bytes.clone()).await).await;
        assert_eq!(receipt.status, ReceiptStatus::Received);
    }
    bench.validate().await;
    let counted = "SELECT CAST(SUM(games) AS BIGINT) FROM segments WHERE state = 'held'";
    assert_eq!(bench.number(counted).await, late.games as i64);
    assert_eq!(bench.number("SELECT COUNT(*) FROM comparisons WHERE state = 'equal'").await, 1, "a free audit");
}

#[tokio::test]
async fn an_outdated_or_blocked_worker_gets_a_message() {
    let bench = Bench::start().await;
    let token = bench.account("ann", Role::Volunteer).await;
    let old = bench.client.post(format!("http://{}{}", bench.address, path::WORKERS)).bearer_auth(&token);
    let old = old.header("chuhe-version", "0.0.9").header("content-type", "application/json");
    let body = serde_json::to_vec(&machine("one")).unwrap();
    let found = problem(old.body(body).send().await.unwrap(), Code::TooOld).await;
    assert!(found.detail.contains("0.0.9") && found.detail.contains("update"), "{}", found.detail);
    let worker = bench.worker(&token, "one").await;
    let boss = bench.account("boss", Role::Maintainer).await;
    let message = serde_json::json!({ "message": "your memory is broken" });
    let answer = bench.post(&format!("/api/v1/workers/{worker}/block"), &boss, &message).await;
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    let answer = bench.post(path::LEASES, &token, &crate::bench::ask(worker, "a")).await;
    assert_eq!(problem(answer, Code::Blocked).await.detail, "your memory is broken");
}

/// Self-play stops, and earlier games are accepted.
#[tokio::test]
async fn a_nearly_full_disk_accepts_results_and_leases_nothing() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let token = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&token, "one").await;
    let lease = bench.lease(&token, worker, "a").await;
    let ready = async || {
        let answer = bench.request(Method::GET, "/readyz", "").send().await.unwrap();
        (answer.status(), answer.text().await.unwrap())
    };
    assert_eq!(ready().await, (StatusCode::OK, "ready\n".to_owned()));
    let mut full = bench.service.service.clone();
    full.settings = Arc::new(Settings { least_free_bytes: u64::MAX, ..settings() });
    driver::tick(&full).await.unwrap();
    let (status, why) = ready().await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(
        why.starts_with("the coordinator's disk is nearly full (") && why.ends_with(" MiB are left): no new games\n")
    );
    let Work::Wait { reason, .. } = bench.ask(&token, worker, "b").await.work else { panic!("games") };
    assert_eq!(reason, why.trim_end());
    let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
    assert_eq!(bench.upload(&token, &lease, bytes).await.status(), StatusCode::CREATED);
    bench.step().await;
    assert_eq!(ready().await.0, StatusCode::OK);
    bench.lease(&token, worker, "c").await;
}

/// Content of a hash is fetched once, whole or in parts, then cached.
#[tokio::test]
async fn content_of_a_hash_is_cached_by_clients() {
    let bench = Bench::start().await;
    let net: Vec<u8> = (0..200_000_u32).map(|number| (number * 7) as u8).collect();
    let hash = bench.service.objects.put(Kind::Net, net.clone().into()).await.unwrap();
    let manifest = Digest::of(b"manifest");
    bench
        .execute(format!(
            "INSERT INTO manifests (hash, campaign, generation, games, positions, text, created)
             VALUES ('{manifest}', 1, 0, 1, 1, '{{}}', 1)"
        ))
        .await;
    for (path, name, body) in [
        (format!("/api/v1/nets/{hash}"), hash, net.clone()),
        (format!("/api/v1/manifests/{manifest}"), manifest, b"{}".to_vec()),
    ] {
        let etag = format!("\"{name}\"");
        let whole = bench.request(Method::GET, &path, "").send().await.unwrap();
        assert_eq!((whole.status(), whole.headers()["etag"].to_str().unwrap()), (StatusCode::OK, etag.as_str()));
        assert_eq!(whole.headers()["content-length"].to_str().unwrap(), body.len().to_string());
        assert!(whole.headers()["cache-control"].to_str().unwrap().contains("immutable"));
        assert_eq!(whole.bytes().await.unwrap(), body);
        for (known, status) in [(etag.as_str(), 304), ("\"other\"", 200), ("\"other\", *", 304)] {
            let again = bench.request(Method::GET, &path, "").header("if-none-match", known).send().await.unwrap();
            assert_eq!((again.status().as_u16(), again.headers()["etag"].to_str().unwrap()), (status, etag.as_str()));
            assert_eq!(again.bytes().await.unwrap().is_empty(), status == 304);
        }
    }
    let path = format!("/api/v1/nets/{hash}");
    let part = bench.request(Method::GET, &path, "").header("range", "bytes=100000-100009").send().await.unwrap();
    assert_eq!(part.status(), StatusCode::PARTIAL_CONTENT);
    assert_eq!(part.headers()["content-range"].to_str().unwrap(), "bytes 100000-100009/200000");
    assert_eq!(part.bytes().await.unwrap(), net[100_000..100_010]);
}
