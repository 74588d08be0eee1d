//! Bad uploads: each is refused with its own code, and leaves nothing behind that counts.

use dataset::{Digest, Header};
use futures_util::StreamExt as _;
use protocol::api::{
    MOST_SHARD_BYTES, SHA256_HEADER, SHARD_TYPE, path,
    problem::Code,
    work::{Lease, Role},
};
use reqwest::{Method, StatusCode};
use xiangqi::rules::Outcome;

use crate::bench::{Bench, CAMPAIGN, play, problem, shard};

async fn with_lease() -> (Bench, String, i64, Lease) {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let token = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&token, "one").await;
    let lease = bench.lease(&token, worker, "a").await;
    (bench, token, worker, lease)
}

#[tokio::test]
async fn at_the_door() {
    let (bench, token, _, lease) = with_lease().await;
    let records = play(&lease.terms, lease.games);
    let good = shard(&lease.terms, &records);
    let altered = |change: &dyn Fn(&mut Header)| {
        let mut header = lease.terms.clone();
        change(&mut header);
        let games = if header.seed == lease.terms.seed { records.clone() } else { play(&header, lease.games) };
        shard(&header, &games)
    };
    let foreign = altered(&|header| header.seed += 1);
    let cases = [
        ("cut off", good[..good.len() - 30].to_vec(), Code::Truncated),
        ("no shard", b"games".to_vec(), Code::NotAShard),
        ("another net", altered(&|header| header.net = Some(Digest::of(b"net"))), Code::WrongNet),
        ("fewer nodes", altered(&|header| header.settings.hard_nodes = 10), Code::WrongSettings),
        ("another engine", altered(&|header| header.bench_signature += 1), Code::WrongEngine),
        ("games of another job", foreign, Code::WrongSeed),
        ("too few", shard(&lease.terms, &[]), Code::WrongGames),
    ];
    for (what, bytes, code) in cases {
        let answer = bench.upload(&token, &lease, bytes).await;
        let status = answer.status();
        let found: protocol::api::problem::Problem = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        assert_eq!((found.code, status.as_u16()), (code, code.status()), "{what}: {}", found.detail);
    }
    let mut numbers = lease.terms.clone();
    numbers.first_game = 1;
    let shifted = shard(&numbers, &play(&numbers, 1));
    problem(bench.upload(&token, &lease, shifted).await, Code::WrongGames).await;
    assert_eq!(bench.number("SELECT COUNT(*) FROM shards").await, 0);
    let stored = bench.service.objects.older_than(coordinator::objects::Kind::Shard, i64::MAX).await.unwrap();
    assert!(stored.is_empty(), "{stored:?}");
    assert_eq!(bench.upload(&token, &lease, good).await.status(), StatusCode::CREATED, "and the lease still stands");
}

#[tokio::test]
async fn by_its_envelope() {
    let (bench, token, _, lease) = with_lease().await;
    let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
    let place = path::games(&lease.token, 0);
    let put = |kind: &str, hash: &str, body: Vec<u8>| {
        let request = bench.request(Method::PUT, &place, &token).header("content-type", kind);
        request.header(SHA256_HEADER, hash).body(body).send()
    };
    let hash = Digest::of(&bytes).to_string();
    problem(put("text/plain", &hash, bytes.clone()).await.unwrap(), Code::WrongType).await;
    problem(put(SHARD_TYPE, "none", bytes.clone()).await.unwrap(), Code::BadHash).await;
    problem(put(SHARD_TYPE, &Digest::of(b"").to_string(), bytes.clone()).await.unwrap(), Code::BadHash).await;
    let large = vec![0; MOST_SHARD_BYTES as usize + 1];
    problem(put(SHARD_TYPE, &hash, large).await.unwrap(), Code::TooLarge).await;
    let other = bench.account("eve", Role::Volunteer).await;
    problem(bench.upload(&other, &lease, bytes.clone()).await, Code::Foreign).await;
    problem(bench.upload_at(&token, &lease, 1_000_000, bytes.clone()).await, Code::WrongGames).await;
    let unknown = Lease { token: "nobody".to_owned(), ..lease.clone() };
    problem(bench.upload(&token, &unknown, bytes).await, Code::NotFound).await;
    assert_eq!(bench.number("SELECT COUNT(*) FROM shards").await, 0);
}

/// What only a replay shows is taken in, counts for nothing, and its worker is told why.
#[tokio::test]
async fn by_replay() {
    let (bench, token, worker, lease) = with_lease().await;
    let mut records = play(&lease.terms, lease.games);
    let lie = if records[1].outcome == Outcome::Draw { Outcome::RedWins } else { Outcome::Draw };
    records[1].outcome = lie;
    let answer = bench.upload(&token, &lease, shard(&lease.terms, &records)).await;
    assert_eq!(answer.status(), StatusCode::CREATED);
    let mut corrupt = shard(&lease.terms, &play(&lease.terms, 1));
    let middle = corrupt.len() / 2;
    corrupt[middle] ^= 1;
    let second = bench.upload(&token, &lease, corrupt).await;
    let at_once = second.status() != StatusCode::CREATED;
    bench.validate().await;
    let answer = bench.ask(&token, worker, "b").await;
    let codes: Vec<_> = answer.notices.iter().filter_map(|notice| notice.code.as_deref()).collect();
    assert_eq!(codes.first(), Some(&"false_label"), "{:?}", answer.notices);
    assert!(at_once || codes.get(1) == Some(&"corrupt"), "{:?}", answer.notices);
    assert!(bench.ask(&token, worker, "c").await.notices.is_empty(), "once is enough");
    assert_eq!(bench.number("SELECT COUNT(*) FROM segments WHERE state = 'held'").await, 0);
    assert_eq!(bench.number("SELECT COUNT(*) FROM contributions").await, 0);
    let stored = bench.service.objects.older_than(coordinator::objects::Kind::Shard, i64::MAX).await.unwrap();
    assert!(!stored.is_empty(), "what was rejected is kept, for people to look at");
}

#[tokio::test]
async fn what_is_beyond_the_quota_is_refused_while_it_comes() {
    let bench =
        Bench::with(coordinator::service::Settings { quota_bytes: Some(2_000), ..crate::bench::settings() }).await;
    bench.campaign(CAMPAIGN).await;
    let token = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&token, "one").await;
    let lease = bench.lease(&token, worker, "a").await;
    let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
    // Nobody says how long it is, and it does not end.
    let many = futures_util::stream::repeat_with(|| Ok::<_, std::io::Error>(vec![0_u8; 500])).take(1_000_000);
    let request = bench.request(Method::PUT, &path::games(&lease.token, lease.terms.first_game), &token);
    let request = request.header("content-type", SHARD_TYPE).header(SHA256_HEADER, Digest::of(b"many").to_string());
    let refused = request.body(reqwest::Body::wrap_stream(many)).send().await.unwrap();
    assert!(refused.headers().contains_key("retry-after"));
    problem(refused, Code::Quota).await;
    assert!(bytes.len() < 2_000, "{} bytes", bytes.len());
    assert_eq!(bench.upload(&token, &lease, bytes.clone()).await.status(), StatusCode::CREATED);
    let mut used = bytes.len();
    for round in 0..20 {
        let lease = bench.lease(&token, worker, &format!("b{round}")).await;
        let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
        let fits = used + bytes.len() <= 2_000;
        let answer = bench.upload(&token, &lease, bytes.clone()).await;
        if !fits {
            problem(answer, Code::Quota).await;
            let other = bench.account("bob", Role::Volunteer).await;
            let worker = bench.worker(&other, "one").await;
            let lease = bench.lease(&other, worker, "a").await;
            let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
            assert!(bench.upload(&other, &lease, bytes).await.status().is_success(), "it is the account's alone");
            return;
        }
        assert_eq!(answer.status(), StatusCode::CREATED);
        used += bytes.len();
    }
    panic!("{used} bytes are there");
}
