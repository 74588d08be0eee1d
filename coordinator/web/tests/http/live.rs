//! Live matches.

use protocol::api::{
    path,
    problem::Code,
    work::{Lease, Live, Role},
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{
    bench::{Bench, play, problem, read, shard},
    live_match::{self, live},
};

async fn seen(bench: &Bench) -> Value {
    read(bench.request(Method::GET, "/api/v1/live-game", "").send().await.unwrap()).await
}

async fn watch(bench: &Bench, job: i64, token: &str, body: Value) -> reqwest::Response {
    bench.post(&format!("/api/v1/matches/{job}/live"), token, &body).await
}

#[tokio::test]
async fn a_marked_match_is_seen_through_one_lease() {
    let bench = Bench::start().await;
    let job = live_match::begin(&bench).await;
    let (boss, ann) = (bench.account("boss", Role::Maintainer).await, bench.account("ann", Role::Volunteer).await);
    let worker = bench.worker(&ann, "one").await;
    let unwatched = bench.lease(&ann, worker, "before").await;
    assert!(!unwatched.live);
    problem(watch(&bench, job, &ann, json!({})).await, Code::Forbidden).await;
    problem(watch(&bench, job + 1, &boss, json!({})).await, Code::NotFound).await;
    problem(watch(&bench, job, &boss, json!({ "pair": 0 })).await, Code::Conflict).await;
    assert_eq!(watch(&bench, job, &boss, json!({})).await.status(), StatusCode::NO_CONTENT);
    assert_eq!(seen(&bench).await, json!({ "watched": job, "board": null }));

    let lease = bench.lease(&ann, worker, "watched").await;
    assert!(
        lease.live && bench.lease(&ann, worker, "watched").await.live,
        "idempotent: the same nonce, the same lease"
    );
    assert!(!bench.lease(&ann, worker, "another").await.live, "one at a time");

    let show = async |lease: &Lease, live: &Live| bench.post(&path::live(&lease.token), &ann, live).await;
    problem(show(&unwatched, &live(&unwatched, "h2e2")).await, Code::Conflict).await;
    assert_eq!(show(&lease, &live(&lease, "h2e2")).await.status(), StatusCode::NO_CONTENT);
    let board = seen(&bench).await["board"].clone();
    assert_eq!((&board["match"], &board["moves"]["chinese"][0]), (&json!(job), &json!("炮二平五")));
    assert_eq!((&board["variation"]["wxf"][0], &board["turn"]), (&json!("H8+7"), &json!("black")));
    assert_eq!((&board["red"]["nodes"], &board["red"]["hard_nodes"]), (&json!(1_200), &json!(60)));
    let answer = show(&lease, &live(&lease, "h2e2 h9g7")).await;
    assert_eq!(answer.headers()["retry-after"], "1");
    problem(answer, Code::TooMany).await;
    bench.clock.advance(1_000);
    for wrong in ["h2e2 h2e2", "zz", "h2e2  炮", &"h2e2 ".repeat(5_000)] {
        bench.clock.advance(1_000);
        problem(show(&lease, &Live { variation: String::new(), ..live(&lease, wrong) }).await, Code::Invalid).await;
    }
    bench.clock.advance(1_000);
    problem(show(&lease, &Live { game: 99_999, ..live(&lease, "h2e2") }).await, Code::WrongGames).await;
    problem(show(&lease, &Live { variation: "a0a9".to_owned(), ..live(&lease, "h2e2") }).await, Code::Invalid).await;
    assert_eq!(seen(&bench).await["board"], board, "nothing invalid is shown");

    assert_eq!(watch(&bench, job, &boss, json!({})).await.status(), StatusCode::NO_CONTENT);
    bench.clock.advance(1_000);
    let again = show(&lease, &live(&lease, "h2e2")).await;
    assert_eq!(again.status(), StatusCode::NO_CONTENT, "marked again, it stays with its lease");

    let bob = bench.account("bob", Role::Volunteer).await;
    let foreign = bench.post(&path::live(&lease.token), &bob, &live(&lease, "h2e2")).await;
    problem(foreign, Code::NotOwner).await;
    // When the lease is over, the next one is watched.
    let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
    assert!(bench.upload(&ann, &lease, bytes).await.status().is_success());
    problem(show(&lease, &live(&lease, "h2e2")).await, Code::LeaseLost).await;
    assert!(bench.lease(&ann, worker, "next").await.live);

    let path = format!("/api/v1/matches/{job}/live");
    let ended = bench.request(Method::DELETE, &path, &boss).send().await.unwrap();
    assert_eq!(ended.status(), StatusCode::NO_CONTENT);
    assert_eq!(seen(&bench).await, json!({ "watched": null, "board": null }));
    assert!(!bench.lease(&ann, worker, "last").await.live);
}

#[tokio::test]
async fn viewers_get_events() {
    let bench = Bench::start().await;
    let job = live_match::begin(&bench).await;
    let (boss, ann) = (bench.account("boss", Role::Maintainer).await, bench.account("ann", Role::Volunteer).await);
    let worker = bench.worker(&ann, "one").await;
    let pages = bench.request(Method::GET, "/zh/live-game", "").send().await.unwrap().text().await.unwrap();
    assert!(pages.contains("目前没有正在直播的对局。"), "{pages}");
    watch(&bench, job, &boss, json!({})).await;
    let lease = bench.lease(&ann, worker, "watched").await;
    let mut streams = Vec::new();
    for path in ["/api/v1/live-game/events", "/en/live-game/events"] {
        let stream = bench.request(Method::GET, path, "").send().await.unwrap();
        assert_eq!(stream.headers()["content-type"], "text/event-stream");
        streams.push(stream);
    }
    bench.post(&path::live(&lease.token), &ann, &live(&lease, "h2e2")).await;
    for (mut stream, wanted) in streams.into_iter().zip(["\"炮二平五\"", "<svg class=\"board\""]) {
        let mut text = String::new();
        while !text.contains(wanted) {
            let next = tokio::time::timeout(std::time::Duration::from_secs(10), stream.chunk()).await;
            text += &String::from_utf8_lossy(&next.expect("an event arrives").unwrap().unwrap());
        }
        assert!(text.contains("event: board"), "{text}");
    }
    let page = bench.request(Method::GET, "/en/live-game", "").send().await.unwrap().text().await.unwrap();
    assert!(page.contains("plain evaluation") && page.contains("h9g7 h0g2") && page.contains("−0.31"));
}

/// Reads a stream until it contains a text.
async fn until(stream: &mut reqwest::Response, wanted: &str) {
    let mut text = String::new();
    while !text.contains(wanted) {
        let next = tokio::time::timeout(std::time::Duration::from_secs(30), stream.chunk()).await;
        text += &String::from_utf8_lossy(&next.expect("an event arrives").unwrap().unwrap());
    }
}

#[tokio::test]
async fn only_the_marked_match_is_seen_and_only_while_it_is_played() {
    let bench = Bench::start().await;
    let first = live_match::begin(&bench).await;
    let (boss, ann) = (bench.account("boss", Role::Maintainer).await, bench.account("ann", Role::Volunteer).await);
    let worker = bench.worker(&ann, "one").await;
    let page = async || bench.request(Method::GET, "/en/live-game", "").send().await.unwrap().text().await.unwrap();
    watch(&bench, first, &boss, json!({})).await;
    let lease = bench.lease(&ann, worker, "first").await;
    let shown = bench.post(&path::live(&lease.token), &ann, &live(&lease, "h2e2")).await;
    assert_eq!(shown.status(), StatusCode::NO_CONTENT);
    assert_eq!(seen(&bench).await["board"]["match"], first);
    let mut stream = bench.request(Method::GET, "/en/live-game/events", "").send().await.unwrap();
    until(&mut stream, "<svg class=\"board\"").await;

    // Another match is marked: the first one is no longer shown.
    let second = live_match::begin(&bench).await;
    watch(&bench, second, &boss, json!({})).await;
    assert_eq!(seen(&bench).await, json!({ "watched": second, "board": null }));
    let waits = format!("Match {second} is chosen");
    assert!(page().await.contains(&waits));
    until(&mut stream, &waits).await;

    // A silent worker is not shown as thinking.
    bench.execute(format!("UPDATE jobs SET state = 'closed' WHERE id = {first}")).await;
    let lease = bench.lease(&ann, worker, "second").await;
    let shown = bench.post(&path::live(&lease.token), &ann, &live(&lease, "h2e2")).await;
    assert_eq!(shown.status(), StatusCode::NO_CONTENT);
    let now = page().await;
    assert!(now.contains("thinks") && !now.contains("was last heard"), "{now}");
    bench.clock.advance(5 * 60_000);
    let later = page().await;
    assert!(!later.contains("thinks") && later.contains("The worker was last heard 5 min ago"), "{later}");

    // The match is over: viewers get an event without polling.
    bench.execute(format!("UPDATE jobs SET state = 'closed' WHERE id = {second}")).await;
    until(&mut stream, "No game is shown live").await;
    assert_eq!(seen(&bench).await, json!({ "watched": null, "board": null }));
}
