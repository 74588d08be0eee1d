//! Query plans on `SQLite`: of all statements in a scenario with each frequent operation and
//! report.
//!
//! Some tables grow with workers, uploads or games. No statement of the single writer reads one
//! from its begin to its end, nor sorts its rows. Reports read no such table of uploads.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
#![allow(clippy::print_stdout, reason = "skipped tests say so")]
#![allow(clippy::unused_self, reason = "what a laboratory does reads best as its own")]

mod common;

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use coordinator_core::{
    clock::DAY,
    model::{AccountId, ShardId},
    ops::{
        disputes::{ClaimDisputes, ClaimUnchecked, PassCheck, RecordRuling, ReviewShards, Ruled, SetQuarantine},
        retention::ExpireShards,
        webhooks::{AddWebhook, ClaimDeliveries, RecordAttempt},
    },
};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use common::{
    block_on, folder,
    lab::{ALL_AUDITS, Lab, NO_AUDIT, SIGNATURE},
    reports::read_all,
};

/// Tables that grow with workers, uploads or games.
const GROWING: [&str; 11] = [
    "accounts",
    "tokens",
    "sessions",
    "workers",
    "failures",
    "contributions",
    "leases",
    "segments",
    "shards",
    "comparisons",
    "events",
];

/// Tables of uploads, which reports do not read from begin to end either.
const UPLOADS: [&str; 4] = ["leases", "segments", "shards", "comparisons"];

/// Statements of the writer that may sort: what they sort is bounded by something else.
const MAY_SORT: [(&str, &str); 10] = [
    ("WHERE lease = $1 AND state = 'leased' ORDER BY first", "the segments of one lease"),
    ("WHERE shard = $1 AND state = 'held' ORDER BY first", "the segments of one shard"),
    ("AND first > $2 - $5 AND first < $3", "the shards of a few games"),
    ("AND theirs.first > $3 - $4", "the shards of one game"),
    ("FROM near JOIN comparisons", "comparisons of the shards of one case"),
    ("FROM sides JOIN shards", "shards of one case"),
    ("SELECT id FROM jobs WHERE id IN", "the jobs of one account, at its quarantine"),
    ("AS newest) AS turns", "the newest four thousand unchecked shards, once for each check"),
    ("AS held", "the shards of one gate"),
    ("AS latest) AS recent", "two thousand workers, if an account lost games"),
];

/// The statements so far, and whether the writer is in a transaction.
static SEEN: Mutex<Seen> = Mutex::new(Seen { writer: BTreeSet::new(), reader: BTreeSet::new(), is_writing: false });

struct Seen {
    writer: BTreeSet<String>,
    reader: BTreeSet<String>,
    is_writing: bool,
}

/// Collects the statements that the driver logs.
struct Collector;

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "sqlx::query"
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn event(&self, event: &Event<'_>) {
        let mut statement = Statement::default();
        event.record(&mut statement);
        let text = if statement.full.is_empty() { statement.summary } else { statement.full };
        let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
        match text.as_str() {
            "BEGIN IMMEDIATE" => seen.is_writing = true,
            "COMMIT" => seen.is_writing = false,
            _ if seen.is_writing => drop(seen.writer.insert(text)),
            _ => drop(seen.reader.insert(text)),
        }
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

#[derive(Default)]
struct Statement {
    summary: String,
    full: String,
}

impl Visit for Statement {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.record_str(field, format!("{value:?}").trim_matches('"'));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "summary" => value.trim().clone_into(&mut self.summary),
            "db.statement" => value.trim().clone_into(&mut self.full),
            _ => {}
        }
    }
}

/// The tables that a statement reads from begin to end, without an index of a few rows.
fn scanned(plan: &[String]) -> Vec<&str> {
    // An index with a condition holds the rows that are looked for.
    const PARTIAL: [&str; 11] = [
        "shards_received",
        "shards_waiting",
        "shards_set_aside",
        "shards_audited",
        "shards_auditor",
        "shards_undrawn",
        "shards_unchecked",
        "segments_open",
        "leases_due",
        "comparisons_waiting",
        "comparisons_different",
    ];
    let scans = plan.iter().filter_map(|step| step.strip_prefix("SCAN "));
    let is_partial = |step: &&str| PARTIAL.iter().any(|index| step.contains(index));
    scans.filter(|step| !is_partial(step)).map(|step| step.split(' ').next().unwrap_or_default()).collect()
}

async fn plan(lab: &Lab, statement: &str) -> Vec<String> {
    let rows: Vec<(i64, i64, i64, String)> = lab.rows(&format!("EXPLAIN QUERY PLAN {statement}")).await;
    rows.into_iter().map(|row| row.3).collect()
}

async fn check(lab: &Lab) {
    let (writer, reader) = {
        let seen = SEEN.lock().unwrap();
        (seen.writer.clone(), seen.reader.clone())
    };
    let is_query = |statement: &&String| {
        ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].iter().any(|verb| statement.starts_with(verb))
    };
    assert!(writer.len() > 80 && reader.len() > 60, "{} and {} statements", writer.len(), reader.len());
    let mut wrong = Vec::new();
    // An insert of given values reads nothing: the plan names tables with foreign keys, which are
    // read after a violation only.
    let inserts = |statement: &&String| statement.starts_with("INSERT") && statement.contains("VALUES (");
    for statement in writer.iter().filter(is_query).filter(|statement| !inserts(statement)) {
        let plan = plan(lab, statement).await;
        let is_growing = plan.iter().any(|step| {
            let mut words = step.split(' ').skip_while(|word| *word != "SEARCH").skip(1);
            words.next().is_some_and(|table| GROWING.contains(&table) || table == "theirs")
        });
        let sorts = is_growing && plan.iter().any(|step| step.starts_with("USE TEMP B-TREE FOR ORDER BY"));
        let may_sort = MAY_SORT.iter().any(|(part, _)| statement.contains(part));
        if scanned(&plan).iter().any(|table| GROWING.contains(table)) || (sorts && !may_sort) {
            wrong.push(format!("in the writer: {statement}\n{plan:#?}"));
        }
    }
    for statement in reader.iter().filter(is_query) {
        let plan = plan(lab, statement).await;
        // All comparisons by state: a page for people, and one in twenty uploads has a comparison.
        let is_counted = statement.starts_with("SELECT state AS label, COUNT(*) AS count FROM comparisons");
        if !is_counted && scanned(&plan).iter().any(|table| UPLOADS.contains(table)) {
            wrong.push(format!("in a report: {statement}\n{plan:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{} statements grow:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_statement_grows_with_workers_uploads_or_games() {
    tracing::subscriber::set_global_default(Collector).unwrap();
    let folder = folder();
    let address = format!("sqlite:{}", folder.path().join("chuhe.db").display());
    block_on(async {
        let lab = Lab::open(&address).await;
        SEEN.lock().unwrap().writer.clear();
        let secret = "secret".to_owned();
        let webhook =
            AddWebhook { address: "https://hooks.test/".to_owned(), kinds: vec!["dispute".to_owned()], secret };
        lab.run(webhook).await.unwrap();
        let (old, new, judge) = (lab.player("old").await, lab.player("new").await, lab.judge("judge").await);
        let (id, _) = lab.campaign("loop").await;
        // A lease that ends in each way.
        let lease = lab.lease(new, "1", 10).await;
        lab.renew(new, &lease.token, 1).await.unwrap();
        lab.deliver(new, &lease).await;
        lab.validate(ALL_AUDITS).await;
        let again = lab.audit(old, "1").await.unwrap();
        lab.deliver(old, &again).await;
        lab.validate(NO_AUDIT).await;
        lab.compare().await;
        let lease = lab.lease(new, "2", 10).await;
        lab.release(new, &lease.token, lease.terms.first_game + 2).await.unwrap();
        lab.clock.advance(3_600_000);
        lab.expire().await;
        // A rejected upload.
        let lease = lab.lease(new, "3", 4).await;
        let mut broken = lab.played(&lease, lease.numbers());
        broken.is_valid = false;
        lab.upload(new, &lease.token, &broken).await.unwrap();
        lab.validate(NO_AUDIT).await;
        // A dispute, settled.
        let lease = lab.lease(new, "4", 2).await;
        let games = lease.numbers();
        lab.upload(new, &lease.token, &lab.with_wrong_game(&lease, games.clone(), games.start, 1)).await.unwrap();
        lab.validate(ALL_AUDITS).await;
        let again = lab.audit(old, "4").await.unwrap();
        lab.deliver(old, &again).await;
        lab.validate(NO_AUDIT).await;
        lab.compare().await;
        let (bench_signature, limit, until) = (SIGNATURE, 1, lab.now());
        assert_eq!(lab.run(ClaimDisputes { bench_signature, limit, until }).await.unwrap().len(), 1);
        assert_eq!(lab.run(ClaimUnchecked { draw: 0, bench_signature, limit, until }).await.unwrap().len(), 1);
        lab.run(PassCheck { shard: ShardId(1), game: 0 }).await.unwrap();
        let due = lab.run(ClaimDeliveries { limit: 10 }).await.unwrap();
        let delivery = due.first().expect("a webhook waits for the dispute").delivery;
        lab.run(RecordAttempt { delivery, is_delivered: true }).await.unwrap();
        // An old delivery goes when a later one succeeds.
        lab.execute(
            "INSERT INTO deliveries (webhook, event, next_at, done) SELECT webhook, event, 1, 1 FROM deliveries",
        )
        .await;
        lab.execute(&format!("UPDATE deliveries SET done = 0 WHERE id = {delivery}")).await;
        lab.run(RecordAttempt { delivery, is_delivered: true }).await.unwrap();
        assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM deliveries").await, 1);
        read_all(&lab, id, new.account).await;
        let settling = lab.lease(judge, "5", 10).await;
        lab.deliver(judge, &settling).await;
        lab.validate(NO_AUDIT).await;
        while lab.compare().await > 0 {}
        // The referee is gone, so nothing waits for its checks.
        lab.clock.advance(601_000);
        // A generation: games, training, gate.
        for _ in 0..40 {
            lab.play(judge, 10).await;
            lab.drive(id).await;
            let phase: String = lab.value(&format!("SELECT phase FROM campaigns WHERE id = {id}")).await;
            if phase == "training" {
                lab.train(judge, dataset::Digest::of(b"candidate")).await;
                lab.drive(id).await;
                break;
            }
        }
        for _ in 0..40 {
            lab.play(judge, 10).await;
            lab.play(old, 2).await;
            lab.drive(id).await;
        }
        let generation: i64 = lab.value(&format!("SELECT generation FROM campaigns WHERE id = {id}")).await;
        let candidates: i64 = lab.value(&format!("SELECT candidates FROM campaigns WHERE id = {id}")).await;
        assert!(generation + candidates > 0, "a gate was decided");
        lab.conclude().await;
        for begins in [true, false] {
            let (account, reason) = (AccountId(judge.account).into(), "by hand".into());
            lab.run(SetQuarantine { account, begins, by: None, reason }).await.unwrap();
            while lab.run(ReviewShards { limit: 3 }).await.unwrap() {}
            lab.recheck().await;
        }
        let ruled = Ruled::Check(ShardId(lab.value("SELECT MAX(id) FROM shards WHERE state = 'validated'").await));
        lab.run(RecordRuling { ruled, game: 1, certificate: "{}".into() }).await.unwrap();
        lab.clock.advance(40 * DAY);
        let (before, pinned) = (lab.now().after(-30 * DAY), std::sync::Arc::default());
        lab.run(ExpireShards { before, pinned, after: ShardId(0) }).await.unwrap();
        read_all(&lab, id, new.account).await;
        check(&lab).await;
        lab.store.close().await;
    });
}
