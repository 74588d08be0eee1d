//! A full disk of the database, and a clock that is set back.

use coordinator_core::clock::DAY;
use futures_util::future::join_all;
use protocol::api::{path, problem::Code, work::Role};
use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::{
    bench::{Bench, CAMPAIGN, play, problem, shard},
    paging::Visitor,
};

async fn ready(bench: &Bench) -> (StatusCode, String) {
    let ready = bench.request(Method::GET, "/readyz", "").send().await.unwrap();
    (ready.status(), ready.text().await.unwrap())
}

#[tokio::test]
async fn a_full_disk_is_not_ready() {
    let bench = Bench::start().await;
    bench.step().await;
    assert_eq!(ready(&bench).await.0, StatusCode::OK);
    // SQLite takes this limit for the end of the disk.
    bench.execute("PRAGMA max_page_count = 1".to_owned()).await;
    let large = bench.service.store.write(|mut c| {
        Box::pin(async move {
            let query = "INSERT INTO settings (name, value) VALUES ('large', hex(zeroblob(1000000)))";
            Ok(sqlx::query(query).execute(c.raw()).await.map(drop)?)
        })
    });
    let failure = large.await.unwrap_err();
    assert!(failure.is_disk_full(), "{failure}");
    let (status, text) = ready(&bench).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(text.contains("the disk of the database is full"), "{text}");
    bench.execute("PRAGMA max_page_count = 1000000".to_owned()).await;
    bench.step().await;
    assert_eq!(ready(&bench).await.0, StatusCode::OK);
}

/// It is retried later, and reads are answered meanwhile.
#[tokio::test]
async fn a_write_on_a_full_disk_names_its_cause() {
    let bench = Bench::start().await;
    let token = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&token, "one").await;
    let mut boss = Visitor::signed_in(&bench, "boss", Role::Maintainer).await;
    let form = boss.form("/en/me").await;
    let report = json!({ "worker": worker, "kind": "other", "version": "1", "detail": "x".repeat(3_900) });
    let send = || bench.post(path::FAILURES, &token, &report);
    // The limit is the connection's, which ends with a transaction that fails.
    let fill = || bench.execute("PRAGMA max_page_count = 1".to_owned());
    assert_eq!(send().await.status(), StatusCode::NO_CONTENT);
    let mut refused = 0;
    for _ in 0..50 {
        fill().await;
        // Requests that share a transaction share its error.
        for answer in join_all([send(), send(), send()]).await {
            if answer.status() == StatusCode::NO_CONTENT {
                continue;
            }
            assert!(answer.headers().contains_key("retry-after"));
            let said = problem(answer, Code::DiskFull).await;
            assert_eq!(said.detail, "the coordinator's disk is full: ask again later");
            refused += 1;
        }
    }
    assert!(refused >= 25, "{refused}");
    let message = "x".repeat(20_000);
    let fields = [("form", form.as_str()), ("action", "block"), ("message", &message)];
    for (language, says) in [("en", "disk is full: ask again later"), ("zh", "协调器磁盘已满")] {
        fill().await;
        let shown = boss.post(&format!("/{language}/admin/workers/{worker}"), &fields).await;
        assert_eq!(shown.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(shown.text.contains(says), "{}", shown.text);
    }
    // Authentication records the use of a token now and then, and does without.
    let grow = "CREATE TRIGGER grow BEFORE UPDATE OF last_used ON tokens BEGIN
                INSERT INTO settings (name, value) VALUES ('large', hex(zeroblob(1000000))); END";
    bench.execute(grow.to_owned()).await;
    bench.clock.advance(DAY);
    fill().await;
    let read = bench.request(Method::GET, path::ME, &token).send().await.unwrap();
    assert_eq!(read.status(), StatusCode::OK);
    bench.execute("DROP TRIGGER grow; PRAGMA max_page_count = 1000000".to_owned()).await;
    assert_eq!(bench.number("SELECT COUNT(*) FROM settings WHERE name = 'large'").await, 0, "it had no room");
    assert_eq!(send().await.status(), StatusCode::NO_CONTENT, "there is room again");
}

#[tokio::test]
async fn a_clock_that_is_set_back_stalls_nothing() {
    let bench = Bench::start().await;
    let token = bench.account("anna", Role::Volunteer).await;
    let (one, two) = (bench.worker(&token, "one").await, bench.worker(&token, "two").await);
    bench.campaign(CAMPAIGN).await;
    // Workers start with a new net a few milliseconds apart.
    bench.clock.advance(1_000);
    let lost = bench.lease(&token, one, "lost").await;
    let lease = bench.lease(&token, two, "kept").await;
    let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
    assert_eq!(bench.upload(&token, &lease, bytes).await.status(), StatusCode::CREATED);
    bench.execute(format!("UPDATE shards SET claimed_until = {}", bench.clock.now().after(60_000).0)).await;
    bench.clock.advance(-DAY);
    bench.step().await;
    bench.validate().await;
    assert_eq!(bench.number("SELECT COUNT(*) FROM shards WHERE state = 'validated'").await, 1, "a claim holds no day");
    bench.clock.advance(i64::from(lost.seconds) * 1_000 + 1);
    bench.step().await;
    assert_eq!(bench.number("SELECT COUNT(*) FROM leases WHERE state = 'expired'").await, 1, "nor does a lease");
    assert_eq!(bench.number("SELECT COUNT(*) FROM segments WHERE state = 'leased'").await, 0);
}

#[tokio::test]
async fn a_selfplay_job_is_no_match() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let job = bench.number("SELECT id FROM jobs").await;
    for path in [format!("/api/v1/matches/{job}"), format!("/api/v1/matches/{job}/details")] {
        problem(bench.request(Method::GET, &path, "").send().await.unwrap(), Code::NotFound).await;
    }
}
