//! A coordinator with a thousand workers, a hundred thousand shards, and one match of all workers.

use std::fmt::Write as _;

use coordinator_core::gate::Verdict;
use protocol::campaign::{Campaign, Gate};

use crate::bench::{Bench, CAMPAIGN, NOW};

const WORKERS: i64 = 1_000;
const SHARDS: i64 = 100_000;

/// The match of all workers.
pub(crate) const MATCH: i64 = 5_000;

/// Number of promoted nets.
pub(crate) const NETS: i64 = 300;

/// Number of the match's shards.
const OF_MATCH: i64 = 20_000;

fn numbers_to(last: i64) -> String {
    format!("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {last})")
}

/// A hundred accounts with ten machines each, and their uploads of a hundred days to a hundred
/// jobs.
pub(crate) async fn fill(bench: &Bench) {
    let now = NOW.0;
    let figures = serde_json::json!({ "scores": vec![123_456; 42], "pieces": vec![157_125; 33], "unscored": 0, "repeated": 99_999 });
    let mut text = format!(
        "INSERT INTO accounts (id, name, role, state, created) {} SELECT 1000 + i, 'a' || i, 'volunteer', 'active', 1 FROM n;",
        numbers_to(100)
    );
    let _ = write!(
        text,
        "INSERT INTO workers (id, account, name, version, bench_signature, threads, memory_mebibytes, system, instruction_set,
         nodes_per_second, created, last_seen) {} SELECT i, 1001 + i % 100, 'm' || i, '0.1.0', 1, 8, 16000, 'linux', 'avx2',
         600000, 1, {now} - i * 997 FROM n;",
        numbers_to(WORKERS)
    );
    let _ = write!(
        text,
        "INSERT INTO jobs (id, campaign, generation, kind, state, header, bench_signature, priority, frontier, nodes_per_game,
         created, closed) {} SELECT 1000 + i, 1, 200 + i, 'selfplay', 'closed', header, bench_signature, 50, 100000, 1, 1, 2
         FROM n, (SELECT header, bench_signature FROM jobs WHERE id = 1);",
        numbers_to(100)
    );
    let _ = write!(
        text,
        "INSERT INTO leases (id, token, job, worker, account, nonce, kind, state, first, games, duration, created, expires)
         {} SELECT 1000 + i, 'l' || i, 1001 + i % 100, 1 + i % {WORKERS}, 1001 + i % 100, 'n' || i, 'fresh', 'done',
         (i / 100) * 64, 64, 1, 1, 1 FROM n;",
        numbers_to(SHARDS - OF_MATCH)
    );
    let _ = write!(
        text,
        "INSERT INTO shards (id, hash, job, lease, worker, account, first, games, positions, bytes, state, received, validated,
         audit, object) SELECT id, token, job, id, worker, account, first, 64, 5300, 60000,
         CASE WHEN id % 500 = 0 THEN 'rejected' WHEN id % 700 = 0 THEN 'quarantined' ELSE 'validated' END,
         {now} - (id - 1000) * 86400, {now} - (id - 1000) * 86400, CASE WHEN id % 50 = 0 THEN 'clean' ELSE 'none' END, 'present'
         FROM leases WHERE id > 1000;
         {}
         {}
         INSERT INTO segments (job, first, games, state, lease, shard) SELECT job, first, games, 'held', NULL, id FROM shards WHERE id > 1000 AND state = 'validated';
         INSERT INTO totals SELECT job, validated / 86400000, state, COUNT(*), SUM(games), SUM(positions), SUM(bytes)
         FROM shards GROUP BY 1, 2, 3;
         {}
         INSERT INTO contributions SELECT account, validated / 86400000, SUM(games), SUM(positions) FROM shards GROUP BY 1, 2;
         INSERT INTO figures SELECT id, '{figures}' FROM jobs;
         UPDATE campaigns SET generation = 301;",
        the_match(),
        nets(),
        labels()
    );
    for number in 0..3_000 {
        let _ = write!(
            text,
            "INSERT INTO events (at, kind, subject, text) VALUES ({now}, 'rejected', '{}:x', 'games 7 to 70 of job 9: game 12 ply 33: the move is not legal');",
            if number % 10 == 0 { "campaign" } else { "worker" }
        );
    }
    bench.execute(text).await;
    bench.execute(coordinator_core::store::RECOUNT.to_owned()).await;
    bench.execute("ANALYZE".to_owned()).await;
}

/// Labels of all jobs: every outcome and reason.
fn labels() -> String {
    let reasons = dataset::Reason::all().map(|reason| ("reason", reason.name()));
    let outcomes = ["red_wins", "black_wins", "draws"].map(|outcome| ("outcome", outcome));
    let label = |(kind, label)| format!("INSERT INTO labels SELECT id, '{kind}', '{label}', 4000 + id FROM jobs;");
    reasons.chain(outcomes).map(label).collect()
}

/// A net for each generation, each promoted by its own match; every tenth was rolled back.
fn nets() -> String {
    let verdict = Verdict {
        pairs: 1_000,
        counts: stats::Pentanomial::new([30, 180, 400, 210, 180]),
        llr: 2.947_213,
        bounds: (-2.944_439, 2.944_439),
        decision: stats::Decision::AcceptH1,
    };
    let verdict = serde_json::to_string(&verdict).unwrap();
    let now = NOW.0;
    format!(
        "INSERT INTO nets (hash, name, state, campaign, generation, bytes, architecture, created, promoted)
         {counted} SELECT printf('%064x', i), 'yangtze-' || i, 'promoted', 1, i, 4718592, '256 × 2 → 16 → 32 → 1, 8 stacks',
         {now} - i * 3600000, {now} - i * 3600000 FROM n;
         INSERT INTO jobs (id, campaign, generation, kind, state, header, bench_signature, gate, decision, priority, frontier,
         nodes_per_game, created, closed) {counted} SELECT 2000 + i, 1, i, 'match', 'closed', header, bench_signature, '{gate}',
         '{verdict}', 50, 2000, 1, 1, 2 FROM n, (SELECT header, bench_signature FROM jobs WHERE id = 1);
         INSERT INTO promotions (campaign, net, kind, job, at) {counted} SELECT 1, printf('%064x', i - i % 10 / 9),
         CASE i % 10 WHEN 9 THEN 'rollback' ELSE 'gate' END, 2000 + i, {now} - ({NETS} - i) * 3600000 FROM n;",
        counted = numbers_to(NETS),
        gate = serde_json::to_string(&Campaign::from_text(CAMPAIGN).unwrap().gate).unwrap(),
    )
}

/// A long undecided match.
fn the_match() -> String {
    let now = NOW.0;
    let campaign = Campaign::from_text(CAMPAIGN).unwrap();
    let gate = Gate { elo0: -1.0, elo1: 1.0, batch_pairs: 160, most_pairs: 1_000_000, ..campaign.gate };
    let header = gate.header(campaign.rules, protocol::BENCH_SIGNATURE, None, None, 5);
    let (gate, header) = (serde_json::to_string(&gate).unwrap(), serde_json::to_string(&header).unwrap());
    format!(
        "INSERT INTO jobs (id, campaign, generation, kind, state, header, bench_signature, gate, priority, frontier,
         nodes_per_game, created) VALUES ({MATCH}, 1, 1, 'match', 'open', '{header}', 1, '{gate}', 50, {OF_MATCH} * 16, 1, 1);
         INSERT INTO leases (id, token, job, worker, account, nonce, kind, state, first, games, duration, created, expires)
         {} SELECT 500000 + i, 'm' || i, {MATCH}, 1 + i % {WORKERS}, 1001 + i % 100, 'n' || i, 'fresh', 'done',
         (i - 1) * 16, 16, 1, 1, 1 FROM n;
         INSERT INTO shards (id, hash, job, lease, worker, account, first, games, positions, bytes, state, received, validated,
         audit, pairs, object) SELECT id, printf('%064x', id), job, id, worker, account, first, 16, 1300, 9000, 'validated', {now}, {now},
         'none', CASE id % 4 WHEN 0 THEN x'0102020302020104' WHEN 1 THEN x'0302020102020300' ELSE x'0203020102010302' END,
         'present' FROM leases WHERE id > 500000;",
        numbers_to(OF_MATCH)
    )
}
