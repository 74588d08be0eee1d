//! Attacks.

use std::time::Duration;

use protocol::api::{
    MAX_SHARD_BYTES, SHARD_TYPE, path,
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
async fn a_token_allows_only_its_owners_actions() {
    let bench = Bench::start().await;
    let ann = bench.account("ann", Role::Volunteer).await;
    problem(bench.request(Method::GET, path::ME, "").send().await.unwrap(), Code::NoToken).await;
    problem(bench.request(Method::GET, path::ME, "chuhe_unknown").send().await.unwrap(), Code::BadToken).await;
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
async fn tokens_expire_and_are_revoked() {
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
async fn the_token_of_a_worker_ends_nothing_but_itself() {
    let bench = Bench::start().await;
    let boss = bench.account("boss", Role::Admin).await;
    let create = async |token: &str, body: serde_json::Value| bench.post("/api/v1/tokens", token, &body).await;
    let made = create(&boss, json!({ "name": "worker", "role": "volunteer", "days": 1 })).await;
    let made: serde_json::Value = read(made).await;
    let stolen = made["token"].as_str().unwrap();
    for body in [json!({ "name": "for ever" }), json!({ "name": "longer", "days": 2 })] {
        problem(create(stolen, body).await, Code::Forbidden).await;
    }
    for address in ["/api/v1/tokens/1", "/api/v1/accounts/boss"] {
        let answer = bench.request(Method::DELETE, address, stolen).send().await.unwrap();
        problem(answer, Code::Forbidden).await;
    }
    let own = bench.request(Method::DELETE, "/api/v1/tokens/2", stolen).send().await.unwrap();
    assert_eq!(own.status(), StatusCode::NO_CONTENT);
    problem(bench.request(Method::GET, path::ME, stolen).send().await.unwrap(), Code::BadToken).await;
    assert_eq!(bench.request(Method::GET, path::ME, &boss).send().await.unwrap().status(), StatusCode::OK);
    let gone = bench.request(Method::DELETE, "/api/v1/accounts/boss", &boss).send().await.unwrap();
    assert_eq!(gone.status(), StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn a_maintainer_does_not_stop_an_administrator() {
    let bench = Bench::start().await;
    let boss = bench.account("boss", Role::Admin).await;
    let max = bench.account("max", Role::Maintainer).await;
    let block = json!({ "state": "blocked", "message": "no" });
    for (address, body) in
        [("/api/v1/accounts/boss", block.clone()), ("/api/v1/accounts/boss/quarantine", json!({ "reason": "no" }))]
    {
        problem(bench.post(address, &max, &body).await, Code::Forbidden).await;
    }
    assert_eq!(bench.request(Method::GET, path::ME, &boss).send().await.unwrap().status(), StatusCode::OK);
    assert_eq!(bench.post("/api/v1/accounts/max", &boss, &block).await.status(), StatusCode::NO_CONTENT);
    problem(bench.request(Method::GET, path::ME, &max).send().await.unwrap(), Code::Blocked).await;
}

#[tokio::test]
async fn names_and_hashes_are_validated() {
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
    for (length, status) in [(100, "200"), (100_000, "431")] {
        let mut stream = TcpStream::connect(bench.address).await.unwrap();
        let head =
            format!("GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx: {}\r\n\r\n", "y".repeat(length));
        // The connection may close while the client still writes; the response is sent all the
        // same.
        drop(stream.write_all(head.as_bytes()).await);
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&answer), format!("HTTP/1.1 {status}"), "with {length} bytes");
    }
}

/// Slowloris: a client that sends byte by byte is disconnected, and delays no other.
#[tokio::test]
async fn slow_senders_are_disconnected() {
    let bench = Bench::start().await;
    let mut slow = Vec::new();
    for beginning in [&b"GET /healthz HTTP/1.1\r\nhost: x\r\n"[..], b"", b"P", b"PRI * HTTP/2.0"].repeat(12) {
        let mut stream = TcpStream::connect(bench.address).await.unwrap();
        stream.write_all(beginning).await.unwrap();
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

/// Requests with their head sent, but not their body.
async fn half_sent(bench: &Bench, count: usize, head: &str, begin: &[u8]) -> Vec<TcpStream> {
    let mut streams = Vec::new();
    for _ in 0..count {
        let mut stream = TcpStream::connect(bench.address).await.unwrap();
        stream.write_all(format!("{head}\r\nhost: x\r\n\r\n").as_bytes()).await.unwrap();
        // A rejected connection is closed already.
        drop(stream.write_all(begin).await);
        streams.push(stream);
    }
    streams
}

/// The value of a metric.
async fn metric(bench: &Bench, name: &str) -> u64 {
    let text = bench.request(Method::GET, "/metrics", "").send().await.unwrap().text().await.unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    line.unwrap_or_else(|| panic!("no {name} in {text}"))
}

#[tokio::test]
async fn half_sent_bodies_block_no_other_request() {
    let bench = Bench::with(coordinator_core::settings::Settings { most_requests: 16, ..settings() }).await;
    let ann = bench.account("ann", Role::Volunteer).await;
    let head = "POST /api/v1/workers HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: 500";
    // The limit of an address: one more request is rejected, and none is active.
    let mut slow = half_sent(&bench, 4, head, b"{").await;
    let behind = async || bench.request(Method::GET, path::ME, &ann).send().await.unwrap();
    while behind().await.status() == StatusCode::OK {
        tokio::task::yield_now().await;
    }
    problem(behind().await, Code::TooMany).await;
    // Other addresses are unaffected, and this request is the only active one.
    let elsewhere = reqwest::Client::builder().local_address(std::net::IpAddr::from([127, 0, 0, 2])).build().unwrap();
    let text = elsewhere.get(format!("http://{}/metrics", bench.address)).send().await.unwrap().text().await.unwrap();
    assert!(text.contains("chuhe_requests_inside 1\n"), "{text}");
    slow.pop();
    while behind().await.status() != StatusCode::OK {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn stalled_uploads_fill_no_memory() {
    let bench =
        Bench::with(coordinator_core::settings::Settings { request_timeout: Duration::from_mins(2), ..settings() })
            .await;
    bench.campaign(CAMPAIGN).await;
    let ann = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&ann, "one").await;
    let lease = bench.lease(&ann, worker, "a").await;
    let head = format!(
        "PUT {} HTTP/1.1\r\nauthorization: Bearer {ann}\r\ncontent-type: {SHARD_TYPE}\r\ncontent-length: {MAX_SHARD_BYTES}",
        path::games(&lease.token, lease.terms.first_game)
    );
    let part = vec![0; 3 << 20];
    let slow = half_sent(&bench, 12, &head, &part).await;
    // 36 MiB were sent, and 16 are kept: the others get 429.
    let mut answers = tokio::task::JoinSet::new();
    for mut stream in slow {
        answers.spawn(async move {
            let mut answer = [0; 12];
            stream.read_exact(&mut answer).await.map(|_| answer)
        });
    }
    for _ in 0..7 {
        let answer = answers.join_next().await.unwrap().unwrap().unwrap();
        assert_eq!(&answer, b"HTTP/1.1 429");
    }
    assert!(metric(&bench, "chuhe_body_bytes").await <= 16 << 20);
    assert_eq!(
        metric(&bench, "chuhe_requests_inside").await,
        1,
        "stalled uploads hold no permit: the one active request is this"
    );
}

#[tokio::test]
async fn rate_limited_clients_get_retry_after() {
    let bench =
        Bench::with(coordinator_core::settings::Settings { requests_per_second: 1, burst: 3, ..settings() }).await;
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
