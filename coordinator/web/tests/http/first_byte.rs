//! Time to first byte of pages with a thousand workers and a hundred thousand shards in the
//! database. Measured on demand, and not asserted (except that pages stay small):
//! `cargo nextest run -p chuhe-coordinator --run-ignored only -E 'test(first_byte)' --no-capture`.

use std::time::Duration;

use protocol::api::work::Role;
use reqwest::{StatusCode, header};
use tokio::time::Instant;

use crate::{
    bench::{Bench, CAMPAIGN},
    paging::Visitor,
    plenty, rulebook,
};

const ROUNDS: usize = 30;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a benchmark, run by name"]
async fn first_byte_of_each_page_with_much_data() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let visitor = Visitor::signed_in(&bench, "boss", Role::Admin).await;
    plenty::fill(&bench).await;
    let shard = rulebook::keep(&bench, "closed").await;
    let things = [
        format!("/nets/{:064x}", plenty::NETS),
        format!("/games/{shard}"),
        format!("/games/{shard}/0"),
        format!("/judge?fen={}&moves={}", rulebook::CHASE.0.replace(' ', "+"), rulebook::CHASE.1.replace(' ', "+")),
    ];
    let cookie: Vec<String> = visitor.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
    println!("{:<28} {:>10} {:>10} {:>10} {:>10}", "page", "first ms", "median ms", "worst ms", "bytes");
    let english = [
        "",
        "/campaigns",
        "/campaigns/quick",
        "/matches",
        "/matches/5000",
        "/nets",
        "/data",
        "/workers",
        "/people",
        "/people/a7",
        "/me",
        "/admin",
        "/admin/events",
        "/admin/audits",
        "/admin/trust",
        "/admin/settings",
        "/sprt",
        "/matches/5000/openings",
        "/games",
        "/live-game",
        "/judge",
    ];
    // Pages with translated messages.
    let chinese = ["", "/matches/5000", "/data", "/workers", "/admin/events", "/judge"];
    let english = english.into_iter().chain(things.iter().map(String::as_str)).map(|path| ("en", path));
    let all = english.chain(chinese.map(|path| ("zh", path)));
    for (language, path) in all {
        let mut times = Vec::new();
        let mut bytes = 0;
        for _ in 0..ROUNDS {
            let request = bench.client.get(format!("http://{}/{language}{path}", bench.address));
            let started = Instant::now();
            let answer = request.header(header::COOKIE, cookie.join("; ")).send().await.unwrap();
            times.push(started.elapsed());
            assert_eq!(answer.status(), StatusCode::OK, "{path}");
            bytes = answer.bytes().await.unwrap().len();
            assert!(bytes < 100_000, "{path} has {bytes} bytes");
        }
        let cold = times[0];
        times.sort();
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let (median, worst) = (milliseconds(times[ROUNDS / 2]), milliseconds(times[ROUNDS - 1]));
        let cold = milliseconds(cold);
        let path: String = path.chars().take(24).collect();
        println!("{:<28} {cold:>10.1} {median:>10.1} {worst:>10.1} {bytes:>10}", format!("/{language}{path}"));
    }
}
