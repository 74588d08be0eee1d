//! How long pages take with a thousand workers and a hundred thousand shards in the database. Measured on demand, and
//! never asserted: `cargo nextest run -p chuhe-coordinator --run-ignored only -E 'test(first_byte)' --no-capture`.

use std::{fmt::Write as _, time::Duration};

use coordinator::store::Store as _;
use protocol::api::work::Role;
use reqwest::{StatusCode, header};
use tokio::time::Instant;

use crate::{
    bench::{Bench, CAMPAIGN, NOW},
    paging::Visitor,
};

const WORKERS: i64 = 1_000;
const SHARDS: i64 = 100_000;
const ROUNDS: usize = 30;

async fn write(bench: &Bench, text: String) {
    let done = bench.service.store.write(move |mut c| {
        let text = text.clone();
        Box::pin(async move { Ok(sqlx::raw_sql(sqlx::AssertSqlSafe(text)).execute(c.raw()).await.map(drop)?) })
    });
    done.await.unwrap();
}

/// A hundred accounts with ten machines each, and their uploads of the last hundred days to a hundred jobs.
async fn fill(bench: &Bench) {
    let now = NOW.0;
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < LAST)";
    let counted = |last: i64| numbers.replace("LAST", &last.to_string());
    let figures = serde_json::json!({ "scores": vec![123_456; 42], "pieces": vec![157_125; 33], "unscored": 0, "repeated": 99_999 });
    let mut text = format!(
        "INSERT INTO accounts (id, name, role, state, created) {} SELECT 1000 + i, 'a' || i, 'volunteer', 'active', 1 FROM n;",
        counted(100)
    );
    let _ = write!(
        text,
        "INSERT INTO workers (id, account, name, version, bench_signature, threads, memory_mebibytes, system, instruction_set,
         nodes_per_second, created, last_seen) {} SELECT i, 1001 + i % 100, 'm' || i, '0.1.0', 1, 8, 16000, 'linux', 'avx2',
         600000, 1, {now} - i * 997 FROM n;",
        counted(WORKERS)
    );
    let _ = write!(
        text,
        "INSERT INTO jobs (id, campaign, generation, kind, state, header, bench_signature, priority, frontier, nodes_per_game,
         created, closed) {} SELECT 1000 + i, 1, i, 'selfplay', 'closed', header, bench_signature, 50, 100000, 1, 1, 2
         FROM n, (SELECT header, bench_signature FROM jobs WHERE id = 1);",
        counted(100)
    );
    let _ = write!(
        text,
        "INSERT INTO leases (id, token, job, worker, account, nonce, kind, state, first, games, duration, created, expires)
         {} SELECT 1000 + i, 'l' || i, 1001 + i % 100, 1 + i % {WORKERS}, 1001 + i % 100, 'n' || i, 'fresh', 'done',
         (i / 100) * 64, 64, 1, 1, 1 FROM n;",
        counted(SHARDS)
    );
    let _ = write!(
        text,
        "INSERT INTO shards (id, hash, job, lease, worker, account, first, games, positions, bytes, state, received, validated,
         audit, object) SELECT id, token, job, id, worker, account, first, 64, 5300, 60000,
         CASE WHEN id % 500 = 0 THEN 'rejected' WHEN id % 700 = 0 THEN 'quarantined' ELSE 'validated' END,
         {now} - (id - 1000) * 86400, {now} - (id - 1000) * 86400, CASE WHEN id % 50 = 0 THEN 'clean' ELSE 'none' END, 'present'
         FROM leases WHERE id > 1000;
         INSERT INTO segments SELECT job, first, games, 'held', NULL, id FROM shards WHERE id > 1000 AND state = 'validated';
         INSERT INTO totals SELECT job, validated / 86400000, state, COUNT(*), SUM(games), SUM(positions), SUM(bytes)
         FROM shards GROUP BY 1, 2, 3;
         INSERT INTO labels SELECT id, 'reason', 'checkmate', 40000 FROM jobs;
         INSERT INTO labels SELECT id, 'outcome', 'draws', 20000 FROM jobs;
         INSERT INTO contributions SELECT account, validated / 86400000, SUM(games), SUM(positions) FROM shards GROUP BY 1, 2;
         INSERT INTO figures SELECT id, '{figures}' FROM jobs;
         UPDATE campaigns SET generation = 101;"
    );
    for number in 0..3_000 {
        let _ = write!(
            text,
            "INSERT INTO events (at, kind, subject, text) VALUES ({now}, 'rejected', '{}:x', 'games 7 to 70 of job 9: game 12 ply 33: the move is not legal');",
            if number % 10 == 0 { "campaign" } else { "worker" }
        );
    }
    write(bench, text).await;
    write(bench, "ANALYZE".to_owned()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it measures, and is asked for by name"]
async fn first_byte_of_each_page_when_there_is_much() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let visitor = Visitor::signed_in(&bench, "boss", Role::Admin).await;
    fill(&bench).await;
    let cookie: Vec<String> = visitor.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
    println!("{:<24} {:>10} {:>10} {:>10}", "page", "median ms", "worst ms", "bytes");
    let english = [
        "",
        "/campaigns",
        "/campaigns/quick",
        "/matches",
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
    let chinese = ["", "/data", "/workers", "/admin/events"];
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
        times.sort();
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let (median, worst) = (milliseconds(times[ROUNDS / 2]), milliseconds(times[ROUNDS - 1]));
        println!("{:<24} {median:>10.1} {worst:>10.1} {bytes:>10}", format!("/{language}{path}"));
    }
}
