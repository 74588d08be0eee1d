//! Measures operations and reports on a database with many workers and uploads, on `SQLite`. Run by
//! `scripts/bench-growth`; figures: docs/BENCHMARKS.md.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
#![allow(clippy::print_stdout, reason = "the table is the result")]
#![allow(clippy::unused_self, reason = "what a laboratory does reads best as its own")]

mod common;

use std::{env, sync::Arc};

use coordinator_core::{
    clock::DAY,
    games,
    model::{AccountId, CampaignId, JobId, ShardId},
    ops::{
        campaigns::AdvanceCampaign,
        disputes::{ReviewShards, SetQuarantine},
        leases::ExpireLeases,
        retention::ExpireShards,
    },
    query,
    reports::{campaign, data, overview, people},
    store::{RECOUNT, Webhooks},
};
use dataset::Digest;
use tokio::time::Instant;

use common::{
    block_on, folder,
    lab::{ALL_AUDITS, CAMPAIGN, Lab, NO_AUDIT, Player, SIGNATURE},
    reports::report,
};

/// The outcomes, reasons and figures of an upload, as long as usual ones.
const DETAILS: &str = r#"'{"black_wins":37,"draws":21,"red_wins":42}',
    '{"adjudicated_draw":9,"adjudicated_win":58,"checkmate":21,"perpetual_check":3,"repetition":9}',
    '{"scores":' || json_array(randomblob(0) IS NULL, 812, 455, 391, 367, 402, 411, 377, 354, 342, 333, 298, 244, 190, 155, 98, 61) ||
    ',"pieces":' || json_array(12, 45, 98, 167, 254, 377, 402, 444, 461, 477, 498, 502, 511, 533, 541, 560, 602, 688) || '}'"#;

/// Games of an upload.
const GAMES: i64 = 100;

fn size(name: &str, usual: i64) -> i64 {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Numbers from 1 to a number, as the table `n`.
fn numbers_to(last: i64) -> String {
    format!("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {last})")
}

/// Fills the database with workers, five to an account, and with validated uploads of a job.
async fn fill(lab: &Lab, job: i64, entry: &str, workers: i64, uploads: i64) {
    let (now, accounts) = (lab.now().0, (workers / 5).max(1));
    let columns = "shards (id, hash, job, lease, worker, account, first, games, positions, bytes, state, received, \
                   validated, audit, entry, outcomes, reasons, figures, object)";
    let seen = format!("{now} - i % 3000000");
    for query in [
        format!(
            "{} INSERT INTO accounts (id, name, role, state, created)
             SELECT 1000 + i, 'many' || i, 'volunteer', 'active', 1 FROM n",
            numbers_to(accounts)
        ),
        format!(
            "{} INSERT INTO workers (id, account, name, version, bench_signature, threads, memory_mebibytes, system,
                                     instruction_set, created, last_seen)
             SELECT 1000 + i, 1001 + i % {accounts}, 'm' || i, '0.1.0', {SIGNATURE}, 16, 16384, 'linux-x86_64', 'avx2',
                    1, {seen} FROM n",
            numbers_to(workers)
        ),
        format!(
            "{} INSERT INTO leases (id, token, job, worker, account, nonce, kind, state, first, games, duration,
                                    created, expires)
             SELECT 1000 + i, lower(hex(randomblob(16))), {job}, 1001 + i % {workers}, 1001 + i % {accounts},
                    lower(hex(randomblob(16))), 'fresh', 'done', (i - 1) * {GAMES}, {GAMES}, 300000, {now}, {now} FROM n",
            numbers_to(uploads)
        ),
        format!(
            "INSERT INTO {columns}
             SELECT id, lower(hex(randomblob(32))), job, id, worker, account, first, games, 8000, 11000, 'validated',
                    {now} - 100000000 + id, {now} - 100000000 + id,
                    CASE WHEN id % 500 = 0 THEN 'wanted' WHEN id % 20 = 0 THEN 'clean' ELSE 'none' END, {entry}, {DETAILS}, 'present'
             FROM leases WHERE id > 1000"
        ),
        "INSERT INTO segments (job, first, games, state, shard) SELECT job, first, games, 'held', id FROM shards".to_owned(),
        format!("UPDATE jobs SET frontier = {} WHERE id = {job}", uploads * GAMES),
        "INSERT INTO webhooks (id, address, secret, kinds, created) VALUES (1, 'https://hooks.test/', 's', 'dispute', 1)"
            .to_owned(),
        format!(
            "{} INSERT INTO deliveries (webhook, event, next_at, done) SELECT 1, 1, 1, 1 FROM n",
            numbers_to(uploads / 10)
        ),
        RECOUNT.to_owned(),
    ] {
        lab.execute(&query).await;
    }
}

/// The median of five runs, in milliseconds.
macro_rules! measured {
    ($what:literal, $run:expr) => {{
        let mut times = Vec::new();
        for _ in 0..5 {
            let begun = Instant::now();
            $run;
            times.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        println!("| {} | {:.2} ms |", $what, times[2]);
    }};
}

/// The size of the database without its free pages and its training sets.
async fn used_bytes(lab: &Lab) -> i64 {
    lab.execute("DELETE FROM manifest_parts").await;
    let used = "SELECT (page_count - freelist_count) * page_size
                FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()";
    lab.value(used).await
}

/// Loses a pair of a match, so that others are preferred for it.
async fn lose_a_pair(lab: &Lab, player: Player) {
    let gate = protocol::campaign::Campaign::from_text(CAMPAIGN).unwrap();
    let header = gate.match_header(SIGNATURE, Some(Digest::of(b"candidate")), None, 7);
    lab.create_match("match", header, gate.gate).await;
    lab.clock.advance(700_000);
    let lease = lab.lease(player, "lost", 2).await;
    lab.release(player, &lease.token, lease.terms.first_game).await.unwrap();
}

#[test]
#[ignore = "measures for a minute: scripts/bench-growth"]
fn growth() {
    let (workers, uploads) = (size("CHUHE_WORKERS", 10_000), size("CHUHE_UPLOADS", 100_000));
    let folder = folder();
    let path = folder.path().join("chuhe.db");
    block_on(async {
        let mut lab = Lab::open(&format!("sqlite:{}", path.display())).await;
        let (id, job) = lab.long_campaign().await;
        let (player, judge) = (lab.player("player").await, lab.judge("judge").await);
        let lease = lab.lease(player, "first", 10).await;
        lab.deliver(player, &lease).await;
        lab.validate(NO_AUDIT).await;
        let text: String = lab.value("SELECT entry FROM shards").await;
        lab.execute("DELETE FROM segments; DELETE FROM shards; DELETE FROM leases; DELETE FROM totals").await;
        fill(&lab, job, &format!("'{}'", text.replace('\'', "''")), workers, uploads).await;
        // More games are wanted than there are.
        lab.execute("UPDATE campaigns SET wanted_positions = 1000000000000; UPDATE jobs SET game_limit = NULL").await;
        let size = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
        let bytes: i64 = lab.value(size).await;
        println!("\n{workers} workers, {uploads} uploads, {} bytes an upload\n", bytes / uploads);
        println!("| in the writer | median |\n|---|---|");
        lab.fixed_policy = Some(lab.policy().await);
        let mut nonce = 0;
        let mut next = || {
            nonce += 1;
            format!("n{nonce}")
        };
        measured!("lease, fresh", lab.lease(player, &next(), 1).await);
        measured!("lease, audit", assert!(lab.audit(judge, &next()).await.is_some()));
        measured!("upload and its validation", {
            let lease = lab.lease(player, &next(), 1).await;
            lab.deliver(player, &lease).await;
            lab.validate(ALL_AUDITS).await;
        });
        measured!("tick: expired leases and audits", lab.run(ExpireLeases).await.unwrap());
        measured!("tick: a campaign", lab.advance(id, SIGNATURE).await.unwrap());
        lose_a_pair(&lab, player).await;
        lab.fixed_policy = Some(lab.policy().await);
        measured!("lease of a lost pair, left to others", lab.lease(player, &next(), 2).await);
        lab.execute("UPDATE jobs SET state = 'paused'").await;
        measured!("no games", assert!(lab.request(player, &next(), 1, NO_AUDIT).await.is_ok()));
        println!("\n| for a page, or between operations | median |\n|---|---|");
        let now = lab.now();
        measured!("due deliveries", {
            let due = lab.store.read(query!(|c| Webhooks::on(c).is_any_due(now).await));
            due.await.unwrap()
        });
        lab.fixed_policy = None;
        measured!("active workers", assert!(lab.policy().await.fleet.workers > 0));
        measured!("all games", report!(lab, |c| games::shards(c, false, None, None)));
        measured!("games of a job", report!(lab, |c| games::shards(c, false, Some(JobId(job)), None)));
        measured!("campaign", report!(lab, |c| campaign::progress(c, &CampaignId(id).into())));
        measured!("home page", report!(lab, |c| overview::overview(c, now)));
        measured!("data", report!(lab, |c| data::data(c, now, 0)));
        measured!("machines", report!(lab, |c| people::machines(c, None, 0)));
        measured!("ranking", report!(lab, |c| people::ranking(c, 0, 50)));
        // The quarantine of an account with a tenth of all uploads.
        let many = AccountId(player.account);
        lab.execute(&format!("UPDATE shards SET account = {many} WHERE id % 10 = 0")).await;
        println!("\n| in the writer, a step at a time | median |\n|---|---|");
        let mut begins = false;
        measured!("quarantine, marked", {
            begins = !begins;
            lab.run(SetQuarantine { account: many.into(), begins, by: None, reason: "by hand".into() }).await.unwrap();
        });
        measured!("quarantine, a step of 100 uploads", assert!(lab.run(ReviewShards::default()).await.unwrap()));
        lab.execute("DELETE FROM reviews").await;
        // The freeze of a training set: read first, then written in parts.
        lab.execute("UPDATE campaigns SET wanted_positions = 1; UPDATE jobs SET state = 'open'").await;
        let begun = Instant::now();
        let advance = AdvanceCampaign::prepare(&lab.store, CampaignId(id), SIGNATURE, 0, lab.now()).await.unwrap();
        println!("| training set, read and stored in parts | {:.0} ms |", begun.elapsed().as_secs_f64() * 1e3);
        let parts: i64 = lab.value("SELECT COUNT(*) FROM manifest_parts").await;
        println!("| its parts, one operation each | {parts} |");
        let begun = Instant::now();
        assert!(lab.run(advance).await.unwrap());
        println!("| training set, recorded | {:.0} ms |", begun.elapsed().as_secs_f64() * 1e3);
        let sets: i64 = lab.value("SELECT games FROM manifests").await;
        assert!(sets > 0);
        // The retention of a closed job, whose games no net needs.
        lab.execute("UPDATE jobs SET state = 'closed'; UPDATE campaigns SET state = 'stopped'; UPDATE shards SET audit = 'clean'").await;
        println!("\n| the database | bytes an upload |\n|---|---|");
        println!("| as uploaded | {} |", used_bytes(&lab).await / uploads);
        let (before, mut after) = (lab.now().after(DAY), Some(ShardId(0)));
        while let Some(from) = after {
            let expiry = ExpireShards { before, pinned: Arc::default(), after: from };
            after = lab.run(expiry).await.unwrap().1;
        }
        println!("| after `--keep-days` | {} |", used_bytes(&lab).await / uploads);
        lab.store.close().await;
    });
}
