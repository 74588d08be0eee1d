//! What an honest worker does, from the first question to games that count.

use protocol::api::{
    path,
    problem::Code,
    work::{GiveBack, Me, Receipt, ReceiptStatus, Renew, Renewed, Role, Server, Work},
};
use reqwest::{Method, StatusCode};

use crate::bench::{Bench, CAMPAIGN, machine, play, problem, read, shard};

/// The coordinator knows it without an engine.
#[test]
fn the_engine_whose_games_are_wanted_is_this_one() {
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
    assert_eq!(bench.lease(&token, worker, "a").await, lease, "the answer may have been lost");
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
    assert_eq!((me.total.games, me.rank), (0, None), "nothing counts before it was validated");
    bench.validate().await;
    let me: Me = read(bench.request(Method::GET, path::ME, &token).send().await.unwrap()).await;
    let positions: usize = records.iter().map(|record| record.moves.len()).sum();
    assert_eq!((me.total.games, me.total.positions, me.rank), (lease.games, positions as u64, Some(1)));
    let next = bench.lease(&token, worker, "b").await;
    assert_eq!(next.terms.first_game, lease.games, "the next games follow");
}

#[tokio::test]
async fn part_of_a_lease_may_be_delivered_and_the_rest_given_back() {
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
    let answer = bench.post(&path::giving_back(&lease.token), &token, &GiveBack { from: 2 }).await;
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    let next = bench.lease(&token, worker, "b").await;
    assert_eq!((next.terms.first_game, next.games), (2, lease.games - 2), "the same games, for whoever comes next");
}

#[tokio::test]
async fn what_comes_late_is_taken_and_games_are_played_once() {
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
async fn a_worker_that_is_too_old_or_blocked_is_told() {
    let bench = Bench::start().await;
    let token = bench.account("ann", Role::Volunteer).await;
    let old = bench.client.post(format!("http://{}{}", bench.address, path::WORKERS)).bearer_auth(&token);
    let old = old.header("chuhe-version", "0.0.9").header("content-type", "application/json");
    let body = serde_json::to_vec(&machine("one")).unwrap();
    let told = problem(old.body(body).send().await.unwrap(), Code::TooOld).await;
    assert!(told.detail.contains("0.0.9") && told.detail.contains("update"), "{}", told.detail);
    let worker = bench.worker(&token, "one").await;
    let boss = bench.account("boss", Role::Maintainer).await;
    let message = serde_json::json!({ "message": "your memory is broken" });
    let answer = bench.post(&format!("/api/v1/workers/{worker}/block"), &boss, &message).await;
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    let answer = bench.post(path::LEASES, &token, &crate::bench::ask(worker, "a")).await;
    assert_eq!(problem(answer, Code::Blocked).await.detail, "your memory is broken");
}
