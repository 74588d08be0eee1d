//! Bad uploads: each is rejected with its own code, and leaves nothing that counts.

use dataset::{Digest, Header, Record, codec::BlockEncoder, delivery, shard::Shard};
use futures_util::StreamExt as _;
use protocol::api::{
    MAX_SHARD_BYTES, SHA256_HEADER, SHARD_TYPE, VERSION_HEADER, path,
    problem::Code,
    work::{Answer, Ask, Lease, Role, Work},
};
use reqwest::{Method, StatusCode};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use xiangqi::{Move, Square, rules::Outcome};

use crate::{
    bench::{Bench, CAMPAIGN, ask, play, problem, read, shard},
    forge,
};

async fn with_lease() -> (Bench, String, i64, Lease) {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let token = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&token, "one").await;
    let lease = bench.lease(&token, worker, "a").await;
    (bench, token, worker, lease)
}

#[tokio::test]
async fn uploads_rejected_by_the_precheck() {
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
    let mut damaged = good.clone();
    let place = damaged.len() - 40;
    damaged[place] ^= 1;
    let endless = forge::Block { moves: u32::MAX, ..payload(&lease.terms, &records) };
    let cases = [
        ("cut off", good[..good.len() - 30].to_vec(), Code::Truncated),
        ("damaged", damaged, Code::Corrupt),
        ("more than fits", forge::file(&lease.terms.to_bytes(), &[endless]), Code::Bomb),
        ("no shard", b"games".to_vec(), Code::NotAShard),
        ("another net", altered(&|header| header.net = Some(Digest::of(b"net"))), Code::WrongNet),
        ("fewer nodes", altered(&|header| header.settings.hard_nodes = 10), Code::WrongSettings),
        ("another engine", altered(&|header| header.bench_signature += 1), Code::WrongEngine),
        ("games of another job", foreign, Code::WrongSeed),
        ("too few", shard(&lease.terms, &[]), Code::WrongGames),
    ];
    for (name, bytes, code) in cases {
        let answer = bench.upload(&token, &lease, bytes).await;
        let status = answer.status();
        let found: protocol::api::problem::Problem = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        assert_eq!((found.code, status.as_u16()), (code, code.status()), "{name}: {}", found.detail);
    }
    let mut numbers = lease.terms.clone();
    numbers.first_game = 1;
    let shifted = shard(&numbers, &play(&numbers, 1));
    problem(bench.upload(&token, &lease, shifted).await, Code::WrongGames).await;
    assert_eq!(bench.number("SELECT COUNT(*) FROM shards").await, 0);
    let stored = bench.service.objects.older_than(coordinator_core::objects::Kind::Shard, i64::MAX).await.unwrap();
    assert!(stored.is_empty(), "{stored:?}");
    assert_eq!(bench.upload(&token, &lease, good).await.status(), StatusCode::CREATED, "and the lease still stands");
}

#[tokio::test]
async fn uploads_rejected_by_their_headers() {
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
    let large = vec![0; MAX_SHARD_BYTES as usize + 1];
    problem(put(SHARD_TYPE, &hash, large).await.unwrap(), Code::TooLarge).await;
    let other = bench.account("eve", Role::Volunteer).await;
    problem(bench.upload(&other, &lease, bytes.clone()).await, Code::NotOwner).await;
    problem(bench.upload_at(&token, &lease, 1_000_000, bytes.clone()).await, Code::WrongGames).await;
    let unknown = Lease { token: "unknown".to_owned(), ..lease.clone() };
    problem(bench.upload(&token, &unknown, bytes).await, Code::NotFound).await;
    assert_eq!(bench.number("SELECT COUNT(*) FROM shards").await, 0);
}

/// Closing a connection with unread data resets it, and on many systems the response is lost.
#[tokio::test]
async fn the_body_of_an_early_rejection_is_drained() {
    let (bench, token, _, lease) = with_lease().await;
    let body = vec![7; 300 << 10];
    let cases = [
        (path::games(&lease.token, 0), "text/plain", "wrong_type"),
        (path::games("unknown", 0), SHARD_TYPE, "not_found"),
        ("/api/v1/server".to_owned(), SHARD_TYPE, "method_not_allowed"),
    ];
    for (place, kind, code) in cases {
        let mut stream = tokio::net::TcpStream::connect(bench.address).await.unwrap();
        let head = format!(
            "PUT {place} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\ncontent-type: {kind}\r\n\
             {VERSION_HEADER}: {}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            bench.address,
            env!("CARGO_PKG_VERSION"),
            body.len(),
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // The first part suffices to reject it.
        stream.write_all(&body[..1_000]).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        stream.write_all(&body[1_000..]).await.expect(code);
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.expect(code);
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.contains(&format!("\"code\":\"{code}\"")), "{answer}");
    }
}

/// A shard is accepted for one lease only.
#[tokio::test]
async fn replayed_uploads_are_rejected() {
    let (bench, token, worker, lease) = with_lease().await;
    let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
    assert_eq!(bench.upload(&token, &lease, bytes.clone()).await.status(), StatusCode::CREATED);
    assert_eq!(bench.upload(&token, &lease, bytes.clone()).await.status(), StatusCode::OK, "the same again");
    let next = bench.lease(&token, worker, "b").await;
    problem(bench.upload(&token, &next, bytes.clone()).await, Code::Replayed).await;
    let other = bench.account("eve", Role::Volunteer).await;
    let worker = bench.worker(&other, "one").await;
    let theirs = bench.lease(&other, worker, "a").await;
    problem(bench.upload(&other, &theirs, bytes).await, Code::Replayed).await;
    assert_eq!(bench.number("SELECT COUNT(*) FROM shards").await, 1);
}

/// An outdated worker gets no games, and games of its engine are rejected.
#[tokio::test]
async fn outdated_workers_are_rejected() {
    let (bench, token, worker, lease) = with_lease().await;
    let request = bench.client.post(format!("http://{}{}", bench.address, path::LEASES)).bearer_auth(&token);
    let request = request.header(VERSION_HEADER, "0.0.9").header("content-type", "application/json");
    let answer = request.body(serde_json::to_vec(&ask(worker, "old")).unwrap()).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 426);
    let found = problem(answer, Code::TooOld).await;
    assert!(found.detail.contains("0.0.9") && found.detail.contains("update the worker"), "{}", found.detail);
    let old = Header { bench_signature: 1, ..lease.terms.clone() };
    let records = play(&lease.terms, lease.games);
    problem(bench.upload(&token, &lease, shard(&old, &records)).await, Code::WrongEngine).await;
}

/// One block of games, even if the encoder rejects some.
fn payload(terms: &Header, records: &[Record]) -> forge::Block {
    let mut encoder = BlockEncoder::new();
    for (number, record) in (terms.first_game..).zip(records) {
        drop(encoder.add(terms, number, record));
    }
    let moves = records.iter().map(|record| record.moves.len() as u32).sum();
    forge::Block { payload: encoder.finish(), games: records.len() as u32, moves }
}

/// The first of these games in which a check can be ignored: the forger writes the illegal move
/// that the encoder refuses.
fn with_illegal_move(terms: &Header, records: &[Record]) -> Option<Vec<u8>> {
    let whole = |records: &[Record]| forge::file(&terms.to_bytes(), &[payload(terms, records)]);
    for (index, record) in records.iter().enumerate() {
        let mut position = record.opening.start.position.clone();
        for mv in &record.opening.moves {
            let _ = position.make(*mv);
        }
        for (place, scored) in record.moves.iter().enumerate() {
            let pairs = Square::all().flat_map(|from| Square::all().map(move |to| Move::new(from, to)));
            let own = |mv: &Move| position.piece_at(mv.from()).is_some_and(|piece| piece.color() == position.turn());
            for mv in pairs.filter(|mv| position.in_check() && own(mv) && !position.is_legal(*mv)) {
                let mut forged = records.to_vec();
                forged[index].moves[place].mv = mv;
                let bytes = whole(&forged);
                let games = terms.first_game..terms.first_game + records.len() as u64;
                let refusal = delivery::by_replay(&bytes, terms, games, None).err();
                if refusal.is_some_and(|refusal| refusal.code() == "illegal_move") {
                    return Some(bytes);
                }
            }
            let _ = position.make(scored.mv);
        }
    }
    None
}

/// Forges a shard from a lease; not every lease allows it.
type Forger<'f> = &'f dyn Fn(&Lease) -> Option<Vec<u8>>;

/// Faults that only a replay shows: the upload is accepted, counts for nothing, and its worker is
/// notified.
#[tokio::test]
async fn uploads_rejected_by_replay() {
    let (bench, token, worker, first) = with_lease().await;
    let false_label = |lease: &Lease| {
        let mut records = play(&lease.terms, lease.games);
        records[1].outcome = if records[1].outcome == Outcome::Draw { Outcome::RedWins } else { Outcome::Draw };
        Some(shard(&lease.terms, &records))
    };
    let corrupt = |lease: &Lease| {
        let mut bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
        let block = Shard::new(&bytes[..]).unwrap().index()[0].offset as usize;
        bytes[block + 40] ^= 1;
        Some(bytes)
    };
    let illegal = |lease: &Lease| with_illegal_move(&lease.terms, &play(&lease.terms, lease.games));
    // Other games under the lease's numbers, with valid checksums.
    let foreign = |lease: &Lease| {
        let other = Header { first_game: lease.terms.first_game + 1_000, ..lease.terms.clone() };
        let records = play(&other, lease.games);
        Some(forge::file(&lease.terms.to_bytes(), &[payload(&other, &records)]))
    };
    let cases: [(&[&str], Forger<'_>); 4] = [
        (&["false_label"], &false_label),
        (&["corrupt"], &corrupt),
        (&["illegal_move"], &illegal),
        // The code depends on the random moves of the wrong opening.
        (&["illegal_move", "wrong_opening", "corrupt", "false_label", "bad_score"], &foreign),
    ];
    bench.execute("UPDATE accounts SET proven_nodes = 1000000000".to_owned()).await;
    let (mut lease, mut number) = (first, 0);
    for (codes, forge) in cases {
        let bytes = loop {
            if let Some(bytes) = forge(&lease) {
                break bytes;
            }
            number += 1;
            lease = bench.lease(&token, worker, &format!("other{number}")).await;
        };
        assert_eq!(bench.upload(&token, &lease, bytes).await.status(), StatusCode::CREATED, "{codes:?}");
        bench.validate().await;
        number += 1;
        let answer = bench.ask(&token, worker, &format!("next{number}")).await;
        let found: Vec<_> = answer.notices.iter().filter_map(|notice| notice.code.as_deref()).collect();
        assert!(found.len() == 1 && codes.contains(&found[0]), "{codes:?}: {:?}", answer.notices);
        let Work::Games(next) = answer.work else { panic!("no games") };
        let acknowledged = answer.notices.iter().filter_map(|notice| notice.shard).collect();
        let again = Ask { acknowledged, ..ask(worker, &format!("again{number}")) };
        let again: Answer = read(bench.post(path::LEASES, &token, &again).await).await;
        assert!(again.notices.is_empty(), "the notice was acknowledged");
        lease = next;
    }
    assert_eq!(bench.number("SELECT COUNT(*) FROM shards WHERE state = 'rejected'").await, 4);
    assert_eq!(bench.number("SELECT COUNT(*) FROM segments WHERE state = 'held'").await, 0);
    assert_eq!(bench.number("SELECT COUNT(*) FROM contributions").await, 0);
    let stored = bench.service.objects.older_than(coordinator_core::objects::Kind::Shard, i64::MAX).await.unwrap();
    assert_eq!(stored.len(), 4, "rejected shards are kept for inspection");
}

#[tokio::test]
async fn an_upload_beyond_the_quota_is_rejected_while_it_arrives() {
    let bench =
        Bench::with(coordinator_core::settings::Settings { quota_bytes: Some(2_000), ..crate::bench::settings() })
            .await;
    bench.campaign(CAMPAIGN).await;
    let token = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&token, "one").await;
    let lease = bench.lease(&token, worker, "a").await;
    let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
    // A body without a length or an end.
    let many = futures_util::stream::repeat_with(|| Ok::<_, std::io::Error>(vec![0_u8; 500])).take(1_000_000);
    let request = bench.request(Method::PUT, &path::games(&lease.token, lease.terms.first_game), &token);
    let request = request.header("content-type", SHARD_TYPE).header(SHA256_HEADER, Digest::of(b"many").to_string());
    let refused = request.body(reqwest::Body::wrap_stream(many)).send().await.unwrap();
    assert!(refused.headers().contains_key("retry-after"));
    problem(refused, Code::Quota).await;
    assert!(bytes.len() < 2_000, "{} bytes", bytes.len());
    assert_eq!(bench.upload(&token, &lease, bytes.clone()).await.status(), StatusCode::CREATED);
    let mut used = bytes.len();
    let (first, first_bytes) = (lease, bytes);
    for round in 0..20 {
        let lease = bench.lease(&token, worker, &format!("b{round}")).await;
        let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
        let fits = used + bytes.len() <= 2_000;
        let answer = bench.upload(&token, &lease, bytes.clone()).await;
        if !fits {
            problem(answer, Code::Quota).await;
            // Idempotent retry: an accepted upload is acknowledged again, even with a full quota.
            bench.execute("UPDATE shards SET bytes = bytes + 2000 WHERE id = 1".to_owned()).await;
            assert_eq!(bench.upload(&token, &first, first_bytes).await.status(), StatusCode::OK);
            let other = bench.account("bob", Role::Volunteer).await;
            let worker = bench.worker(&other, "one").await;
            let lease = bench.lease(&other, worker, "a").await;
            let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
            assert!(bench.upload(&other, &lease, bytes).await.status().is_success(), "the quota is per account");
            return;
        }
        assert_eq!(answer.status(), StatusCode::CREATED);
        used += bytes.len();
    }
    panic!("{used} bytes are there");
}

#[tokio::test]
async fn unreadable_addresses_and_bodies_are_problems() {
    let (bench, token, _, lease) = with_lease().await;
    let admin = bench.account("root", Role::Admin).await;
    let json = |place: &str, body: &'static str| {
        let request = bench.request(Method::POST, place, &token).header("content-type", "application/json");
        request.body(body).send()
    };
    for games in ["x", "-1", "18446744073709551616"] {
        let place = format!("/api/v1/leases/{}/games/{games}", lease.token);
        let request = bench.request(Method::PUT, &place, &token).header("content-type", SHARD_TYPE);
        problem(request.body("games").send().await.unwrap(), Code::NotFound).await;
    }
    problem(json("/api/v1/leases/%ff/renewal", r#"{"finished":1}"#).await.unwrap(), Code::NotFound).await;
    problem(json("/api/v1/leases/%ff/giving-back", r#"{"from":0}"#).await.unwrap(), Code::NotFound).await;
    let request = bench.request(Method::POST, "/api/v1/campaigns", &admin).body(b"name = \"\xff\"".to_vec());
    problem(request.send().await.unwrap(), Code::BadRequest).await;
}
