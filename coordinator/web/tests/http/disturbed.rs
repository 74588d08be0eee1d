//! A full disk of the database, and a clock that is set back.

use coordinator_core::{clock::DAY, store::Store as _};
use protocol::api::{problem::Code, work::Role};
use reqwest::{Method, StatusCode};

use crate::bench::{Bench, CAMPAIGN, play, problem, shard};

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
