//! How long pages take with a thousand workers and a hundred thousand shards in the database. Measured on demand, and
//! never asserted: `cargo nextest run -p chuhe-coordinator --run-ignored only -E 'test(first_byte)' --no-capture`.

use std::time::Duration;

use protocol::api::work::Role;
use reqwest::{StatusCode, header};
use tokio::time::Instant;

use crate::{
    bench::{Bench, CAMPAIGN},
    paging::Visitor,
    plenty,
};

const ROUNDS: usize = 30;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it measures, and is asked for by name"]
async fn first_byte_of_each_page_when_there_is_much() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let visitor = Visitor::signed_in(&bench, "boss", Role::Admin).await;
    plenty::fill(&bench).await;
    let cookie: Vec<String> = visitor.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
    println!("{:<24} {:>10} {:>10} {:>10} {:>10}", "page", "first ms", "median ms", "worst ms", "bytes");
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
        "/admin/settings",
        "/sprt",
    ];
    // Where sentences are looked up.
    let chinese = ["", "/matches/5000", "/data", "/workers", "/admin/events"];
    let all = english.map(|path| ("en", path)).into_iter().chain(chinese.map(|path| ("zh", path)));
    for (language, path) in all {
        let mut times = Vec::new();
        let mut bytes = 0;
        for _ in 0..ROUNDS {
            let request = bench.client.get(format!("http://{}/{language}{path}", bench.address));
            let begun = Instant::now();
            let answer = request.header(header::COOKIE, cookie.join("; ")).send().await.unwrap();
            times.push(begun.elapsed());
            assert_eq!(answer.status(), StatusCode::OK, "{path}");
            bytes = answer.bytes().await.unwrap().len();
        }
        let cold = times[0];
        times.sort();
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let (median, worst) = (milliseconds(times[ROUNDS / 2]), milliseconds(times[ROUNDS - 1]));
        let cold = milliseconds(cold);
        println!("{:<24} {cold:>10.1} {median:>10.1} {worst:>10.1} {bytes:>10}", format!("/{language}{path}"));
    }
}
