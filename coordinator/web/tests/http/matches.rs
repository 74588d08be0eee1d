//! Matches of many workers: their pages, and how small these stay.

use std::{io::Read as _, time::Duration};

use coordinator_core::reports::matches::{Memory, ReadTimeouts};
use coordinator_web::memory;
use protocol::api::work::Role;
use reqwest::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::{
    bench::{Bench, CAMPAIGN, play, read, settings, shard},
    live_match,
    paging::Visitor,
    plenty::{self, MATCH},
};

/// Fetches JSON, with retries while a match is being counted.
async fn json(bench: &Bench, path: &str) -> Value {
    loop {
        let answer = bench.request(Method::GET, path, "").send().await.unwrap();
        if answer.status() != StatusCode::SERVICE_UNAVAILABLE {
            return read(answer).await;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Waits until a match has so many pairs: stale figures come first.
async fn has_pairs(bench: &Bench, path: &str, wanted: i64) {
    for _ in 0..1_800 {
        let pairs = json(bench, path).await["standing"]["pairs"].clone();
        if pairs == wanted {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("it never has {wanted} pairs");
}

#[tokio::test]
async fn every_public_page_is_small_with_much_data() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    plenty::fill(&bench).await;
    // One worker with few pairs is an outlier: it is shown.
    let shard = format!("UPDATE shards SET pairs = x'0404040404040404' WHERE job = {MATCH} AND worker = 77");
    let less = format!("UPDATE shards SET pairs = NULL WHERE job = {MATCH} AND worker = 77 AND id / 1000 % 2 = 0");
    bench.execute(shard + ";" + &less).await;
    let one = format!("/matches/{MATCH}");
    let net = format!("/nets/{:064x}", plenty::NETS);
    // Waits until the large match has been counted.
    json(&bench, &format!("/api/v1/matches/{MATCH}/details")).await;
    let pages = [
        &net,
        "",
        "/campaigns",
        "/campaigns/quick",
        "/matches",
        &one,
        "/nets",
        "/data",
        "/workers",
        "/people",
        "/people/a7",
        "/games",
        "/games?job=1001",
        "/judge",
        "/live-game",
        "/sprt",
        "/tour",
        "/sign-in",
        "/register",
    ];
    let mut visitor = Visitor::new(&bench);
    for language in ["en", "zh"] {
        for path in pages {
            let page = visitor.get(&format!("/{language}{path}")).await;
            assert_eq!(page.status, StatusCode::OK, "{path}: {}", page.text);
            assert!(page.text.len() < 100_000, "/{language}{path} has {} bytes", page.text.len());
        }
    }
    let home = visitor.get("/en").await.text;
    assert!(home.contains(">yangtze-300</a>") && !home.contains(">yangtze-200</a>"), "the newest are shown");
    assert!(home.contains("200 earlier ones are in the JSON"));
    let overview = json(&bench, "/api/v1/overview").await;
    let strength = overview["strength"].as_array().unwrap();
    assert_eq!((strength.len(), &strength[299]["number"]), (300, &json!(300)), "and the JSON has all");
    assert!(strength[299]["elo"].as_f64().unwrap() > strength[199]["elo"].as_f64().unwrap());
    let page = visitor.get(&format!("/en{one}")).await.text;
    let rows = page.matches("<tr><th scope=\"row\">a").count();
    assert_eq!(rows, 51, "the largest, and the outlier");
    assert!(page.contains("a77 / 77<") && page.contains(&format!("href=\"/api/v1/matches/{MATCH}/workers\"")));
    assert!(page.contains("and 949 more"), "{page}");

    let details = json(&bench, &format!("/api/v1/matches/{MATCH}/details")).await;
    assert_eq!((&details["worker_count"], details["workers"].as_array().unwrap().len()), (&json!(1_000), 51));
    let (mut seen, mut pairs) = (std::collections::BTreeSet::new(), 0);
    for number in 0.. {
        let part = json(&bench, &format!("/api/v1/matches/{MATCH}/workers?page={number}")).await;
        let part = part.as_array().unwrap();
        if part.is_empty() {
            break;
        }
        seen.extend(part.iter().map(|worker| worker["worker"].as_i64().unwrap()));
        pairs += part.iter().map(|worker| worker["pairs"].as_i64().unwrap()).sum::<i64>();
    }
    assert_eq!(seen.len(), 1_000, "the JSON has all of them");
    assert_eq!(pairs, bench.number("SELECT SUM(LENGTH(pairs)) FROM shards WHERE job = 5000").await);
}

#[tokio::test]
async fn a_changed_match_is_read_again() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    plenty::fill(&bench).await;
    let path = format!("/api/v1/matches/{MATCH}/details");
    let before = json(&bench, &path).await["standing"]["pairs"].clone();
    assert_eq!(before, 160_000);
    // A change without a change of totals is not noticed: the cache holds.
    bench.execute(format!("UPDATE shards SET state = 'quarantined' WHERE job = {MATCH} AND first >= 160")).await;
    assert_eq!(json(&bench, &path).await["standing"]["pairs"], before);
    // The figures of a large match may be some seconds old.
    bench.execute(format!("UPDATE totals SET shards = 10 WHERE job = {MATCH} AND state = 'validated'")).await;
    bench.clock.advance(5_000);
    has_pairs(&bench, &path, 80).await;
    // Those of a small one may not.
    bench.execute(format!("UPDATE shards SET state = 'quarantined' WHERE job = {MATCH} AND first >= 16")).await;
    bench.execute(format!("UPDATE totals SET shards = 1 WHERE job = {MATCH} AND state = 'validated'")).await;
    has_pairs(&bench, &path, 8).await;
}

#[tokio::test]
async fn no_page_waits_while_a_match_is_read() {
    let no_wait = ReadTimeouts { first: Duration::ZERO, later: Duration::ZERO };
    let memory = memory::Memory::with_matches(Memory::with_timeouts(no_wait));
    let bench = Bench::with_memory(settings(), memory).await;
    bench.campaign(CAMPAIGN).await;
    plenty::fill(&bench).await;
    let (path, page) = (format!("/api/v1/matches/{MATCH}/details"), format!("/en/matches/{MATCH}"));
    let mut visitor = Visitor::new(&bench);
    let first = visitor.get(&page).await;
    assert_eq!((first.status, first.header("refresh")), (StatusCode::OK, "2"));
    assert!(first.text.contains("are being counted"), "{}", first.text);
    let refused = bench.request(Method::GET, &path, "").send().await.unwrap();
    assert!(refused.status() == StatusCode::OK || refused.headers()["retry-after"] == "2");
    has_pairs(&bench, &path, 160_000).await;
    let known = visitor.get(&page).await;
    assert!(known.header("refresh").is_empty() && known.text.contains("id=\"standing\""));

    // A change: the first page gets stale figures, and an event follows the new ones.
    let mut stream = bench.request(Method::GET, "/api/v1/live", "").send().await.unwrap();
    stream.chunk().await.unwrap();
    bench.execute(format!("UPDATE shards SET state = 'quarantined' WHERE job = {MATCH} AND first >= 160")).await;
    bench.execute(format!("UPDATE totals SET shards = 10 WHERE job = {MATCH} AND state = 'validated'")).await;
    bench.clock.advance(5_000);
    assert_eq!(json(&bench, &path).await["standing"]["pairs"], 160_000);
    let mut events = String::new();
    while !events.contains(r#"["games"]"#) {
        let next = tokio::time::timeout(Duration::from_secs(30), stream.chunk()).await;
        events += &String::from_utf8_lossy(&next.expect("an event arrives").unwrap().unwrap());
    }
    assert_eq!(json(&bench, &path).await["standing"]["pairs"], 80);
}

#[tokio::test]
async fn pages_are_compressed_unless_their_length_could_reveal_a_secret() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let ann = Visitor::signed_in(&bench, "ann", Role::Volunteer).await;
    let session: Vec<String> = ann.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let session = session.join("; ");
    for (path, cookie, accepts, is_zipped) in [
        ("/en/campaigns/quick", "", "gzip, br", true),
        ("/en/campaigns/quick", "", "br, gzip;q=0", false),
        ("/en/campaigns/quick", "", "", false),
        ("/en/campaigns/quick", &session, "gzip", true),
        ("/en/sprt?elo0=3", "", "gzip", true),
        ("/en/sprt?elo0=3", &session, "gzip", false),
        ("/en/nothing-here", &session, "gzip", false),
        ("/api/v1/overview", "", "gzip", false),
    ] {
        let request = bench.client.get(format!("http://{}{path}", bench.address));
        let request = request.header(header::COOKIE, cookie).header(header::ACCEPT_ENCODING, accepts);
        let answer = request.send().await.unwrap();
        let (status, headers) = (answer.status(), answer.headers().clone());
        let bytes = answer.bytes().await.unwrap();
        let kind = headers.get("content-encoding").map(|kind| kind.to_str().unwrap().to_owned());
        assert_eq!(kind.as_deref(), is_zipped.then_some("gzip"), "{path} {accepts}");
        if is_zipped {
            assert_eq!(status, StatusCode::OK);
            assert!(headers["vary"].to_str().unwrap().contains("Accept-Encoding"));
            assert_eq!(headers["content-length"], bytes.len().to_string().as_str());
            let mut text = String::new();
            flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
            assert!(text.starts_with("<!doctype html>") && text.trim_end().ends_with("</html>"));
            assert!(bytes.len() * 2 < text.len(), "{path}: {} of {}", bytes.len(), text.len());
        }
    }
}

#[tokio::test]
async fn openings_of_a_finished_match_are_listed_with_results() {
    let bench = Bench::start().await;
    let job = live_match::begin(&bench).await;
    let ann = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&ann, "one").await;
    for nonce in ["a", "b"] {
        let lease = bench.lease(&ann, worker, nonce).await;
        let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
        assert!(bench.upload(&ann, &lease, bytes).await.status().is_success());
    }
    bench.validate().await;
    let (path, page) = (format!("/api/v1/matches/{job}/openings"), format!("/en/matches/{job}"));
    let mut visitor = Visitor::new(&bench);
    let open = json(&bench, &path).await;
    assert_eq!((&open["is_open"], &open["pairs"]), (&json!(false), &json!([])), "it is still played");
    let later = "are shown when the match is over";
    assert!(visitor.get(&page).await.text.contains(later));

    bench.execute("UPDATE shards SET audit = 'none'; UPDATE jobs SET state = 'closed'".to_owned()).await;
    let first = json(&bench, &path).await;
    let (name, pairs) = (first["shard"].as_str().unwrap(), first["pairs"].as_array().unwrap());
    assert!(!pairs.is_empty() && first["has_more"] == true, "{first}");
    for pair in pairs {
        let mut halves = 0;
        for (game, own) in [(0, "red_wins"), (1, "black_wins")] {
            let number = pair["game"].as_u64().unwrap() + game;
            let game = json(&bench, &format!("/api/v1/games/{name}/{number}")).await;
            halves += match game["outcome"].as_str().unwrap() {
                "draw" => 1,
                outcome if outcome == own => 2,
                _ => 0,
            };
            let moves = game.to_string();
            let opening: Vec<&str> = pair["moves"].as_str().unwrap().split(' ').collect();
            assert_eq!(opening.len(), 6);
            assert!(opening.iter().all(|mv| moves.contains(mv)), "{opening:?} in {moves}");
        }
        assert_eq!(pair["halves"], halves, "{pair}");
    }
    let shown = visitor.get(&page).await.text;
    assert!(shown.contains(pairs[0]["moves"].as_str().unwrap()) && !shown.contains(later));
    let link = format!("href=\"/en/games/{name}/{}\"", pairs[0]["game"]);
    assert!(shown.contains(&link), "{shown}");
    let second = visitor.get(&format!("/zh/matches/{job}/openings?page=1")).await;
    let pairs = json(&bench, &format!("{path}?page=1")).await["pairs"].clone();
    assert_eq!(second.status, StatusCode::OK);
    assert!(second.text.contains(pairs[0]["chinese"].as_str().unwrap()) && second.text.contains("?page=0"));
    assert_eq!(visitor.get("/en/matches/777/openings").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn long_lists_have_pages() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    plenty::fill(&bench).await;
    bench
        .execute(
            "INSERT INTO comparisons (job, left_shard, right_shard, first, games, state, game, created)
             SELECT job, id, id + 100, first, games, 'different', first + 3, 1 FROM shards WHERE id BETWEEN 1001 AND 1120"
                .to_owned(),
        )
        .await;
    let mut boss = Visitor::signed_in(&bench, "boss", Role::Maintainer).await;
    let mut seen = std::collections::BTreeSet::new();
    for (number, rows) in [(0, 50), (1, 50), (2, 20), (3, 0)] {
        let page = boss.get(&format!("/en/admin/audits?page={number}")).await.text;
        assert_eq!(page.matches("<span class=\"state bad\">different</span>").count(), rows);
        assert_eq!(page.contains("rel=\"next\""), rows == 50, "{number}");
        assert!(rows == 0 || (page.contains("href=\"/en/games?job=") && page.contains("href=\"/en/people/a")));
        let audits: Value =
            serde_json::from_str(&boss.get(&format!("/api/v1/audits?page={number}")).await.text).unwrap();
        seen.extend(audits["open"].as_array().unwrap().iter().map(|it| it["comparison"].as_i64().unwrap()));
    }
    assert_eq!(seen.len(), 120, "each once");
    let (first, second) = (boss.get("/en/data").await.text, boss.get("/en/data?page=1").await.text);
    let rows =
        |page: &str| page.split_once("What counts for nothing").unwrap().1.matches("href=\"/en/games?job=").count();
    assert_eq!((rows(&first), rows(&second)), (50, 50));
    assert!(first.contains("?page=1") && second.contains("?page=2") && second.contains("?page=0"));
}
