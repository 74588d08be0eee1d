//! What strangers try.

use std::time::Duration;

use protocol::api::{
    path,
    problem::Code,
    training::{Claim, Offer},
    work::Role,
};
use reqwest::{Method, StatusCode};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::bench::{Bench, CAMPAIGN, machine, problem, read, settings};

#[tokio::test]
async fn a_token_opens_what_is_its_owners_and_no_more() {
    let bench = Bench::start().await;
    let ann = bench.account("ann", Role::Volunteer).await;
    problem(bench.request(Method::GET, path::ME, "").send().await.unwrap(), Code::NoToken).await;
    problem(bench.request(Method::GET, path::ME, "chuhe_nobody").send().await.unwrap(), Code::BadToken).await;
    problem(bench.request(Method::GET, path::ME, &"x".repeat(4_000)).send().await.unwrap(), Code::BadToken).await;
    let claim = Claim { name: "t".to_owned(), version: "1".to_owned(), backend: "cpu".to_owned() };
    problem(bench.post(path::TRAININGS, &ann, &claim).await, Code::Forbidden).await;
    problem(bench.request(Method::GET, path::EVENTS, &ann).send().await.unwrap(), Code::Forbidden).await;
    let create = bench.request(Method::POST, path::CAMPAIGNS, &ann).body(CAMPAIGN);
    problem(create.send().await.unwrap(), Code::Forbidden).await;
    for (address, body) in [
        ("/api/v1/accounts/ann", json!({ "role": "admin" })),
        ("/api/v1/accounts/ann/quarantine", json!({ "reason": "x" })),
        ("/api/v1/workers/1/trust", json!({ "trusted": true })),
        ("/api/v1/tokens", json!({ "name": "more", "role": "admin" })),
        ("/api/v1/invitations", json!({ "role": "volunteer" })),
    ] {
        problem(bench.post(address, &ann, &body).await, Code::Forbidden).await;
    }
    let trainer = bench.account("tom", Role::Trainer).await;
    let offer: Offer = read(bench.post(path::TRAININGS, &trainer, &claim).await).await;
    assert!(matches!(offer, Offer::Wait { .. }));
}

#[tokio::test]
async fn tokens_end() {
    let bench = Bench::start().await;
    let ann = bench.account("ann", Role::Volunteer).await;
    let made = bench.post("/api/v1/tokens", &ann, &json!({ "name": "short", "days": 1 })).await;
    assert_eq!(made.status(), StatusCode::CREATED);
    let made: serde_json::Value = read(made).await;
    let short = made["token"].as_str().unwrap().to_owned();
    assert_eq!(bench.request(Method::GET, path::ME, &short).send().await.unwrap().status(), StatusCode::OK);
    bench.clock.advance(25 * 3_600_000);
    problem(bench.request(Method::GET, path::ME, &short).send().await.unwrap(), Code::BadToken).await;
    let listed = bench.request(Method::GET, "/api/v1/tokens", &ann).send().await.unwrap();
    let listed: serde_json::Value = read(listed).await;
    assert!(!listed.to_string().contains(&short[12..]), "a token is shown once");
    let first = listed[0]["token"].as_i64().unwrap();
    let revoked = bench.request(Method::DELETE, &format!("/api/v1/tokens/{first}"), &ann).send().await.unwrap();
    assert_eq!(revoked.status(), StatusCode::NO_CONTENT);
    problem(bench.request(Method::GET, path::ME, &ann).send().await.unwrap(), Code::BadToken).await;
}

#[tokio::test]
async fn names_and_hashes_are_nothing_else() {
    let bench = Bench::start().await;
    let ann = bench.account("ann", Role::Volunteer).await;
    for name in ["../../etc", "x'; DROP TABLE workers; --", "", "a b", "-rf", "名"] {
        let answer = bench.post(path::WORKERS, &ann, &machine(name)).await;
        problem(answer, Code::Invalid).await;
    }
    for hash in ["..%2F..%2Fchuhe.db", "%00", "0123", "' OR 1=1 --"] {
        for kind in ["nets", "books", "shards", "manifests"] {
            let answer = bench.request(Method::GET, &format!("/api/v1/{kind}/{hash}"), "").send().await.unwrap();
            problem(answer, Code::NotFound).await;
        }
    }
    assert_eq!(bench.number("SELECT COUNT(*) FROM accounts").await, 1);
    let register = json!({ "name": "bob'; --", "licence": "CC0-1.0" });
    problem(bench.post("/api/v1/registrations", "", &register).await, Code::Invalid).await;
    let register = json!({ "name": "bob", "licence": "mine" });
    problem(bench.post("/api/v1/registrations", "", &register).await, Code::Invalid).await;
    let register = json!({ "name": "bob", "licence": "CC0-1.0" });
    assert_eq!(bench.post("/api/v1/registrations", "", &register).await.status(), StatusCode::CREATED);
    problem(bench.post("/api/v1/registrations", "", &register).await, Code::Conflict).await;
}

#[tokio::test]
async fn bodies_and_heads_have_limits() {
    let bench = Bench::start().await;
    let ann = bench.account("ann", Role::Volunteer).await;
    let send = |body: Vec<u8>| {
        let request = bench.request(Method::POST, path::WORKERS, &ann).header("content-type", "application/json");
        request.body(body).send()
    };
    problem(send(vec![b' '; 3 << 20]).await.unwrap(), Code::TooLarge).await;
    problem(send(b"{".to_vec()).await.unwrap(), Code::BadRequest).await;
    problem(send(b"{\"command\":\"rm\"}".to_vec()).await.unwrap(), Code::BadRequest).await;
    let mut stream = TcpStream::connect(bench.address).await.unwrap();
    let head = format!("GET /healthz HTTP/1.1\r\nhost: x\r\nx: {}\r\n\r\n", "y".repeat(100_000));
    drop(stream.write_all(head.as_bytes()).await);
    let mut answer = String::new();
    drop(stream.read_to_string(&mut answer).await);
    assert!(!answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// Who says what he wants a byte at a time is cut off, and holds up nobody meanwhile.
#[tokio::test]
async fn slow_senders_are_cut_off() {
    let bench = Bench::start().await;
    let mut slow = Vec::new();
    for _ in 0..50 {
        let mut stream = TcpStream::connect(bench.address).await.unwrap();
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n").await.unwrap();
        slow.push(stream);
    }
    let answer = bench.request(Method::GET, "/healthz", "").send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    for mut stream in slow {
        let mut rest = Vec::new();
        let ended = tokio::time::timeout(Duration::from_mins(1), stream.read_to_end(&mut rest)).await;
        assert!(ended.is_ok(), "still open after a minute");
    }
}

#[tokio::test]
async fn who_asks_too_often_is_told_when_to_come_back() {
    let bench = Bench::with(coordinator::service::Settings { requests_per_second: 1, burst: 3, ..settings() }).await;
    let ann = bench.account("ann", Role::Volunteer).await;
    let ask = || async { bench.request(Method::GET, path::ME, &ann).send().await.unwrap() };
    for _ in 0..3 {
        assert_eq!(ask().await.status(), StatusCode::OK);
    }
    let refused = ask().await;
    assert_eq!(refused.headers()["retry-after"], "1");
    problem(refused, Code::TooMany).await;
    bench.clock.advance(1_000);
    assert_eq!(ask().await.status(), StatusCode::OK);
}
