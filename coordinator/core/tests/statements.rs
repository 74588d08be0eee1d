//! Statements and commits of the frequent operations, counted in the log of the database driver.
//! The figures are limits: a change that needs more must say why. Each operation includes four
//! statements of its transaction. Validation and comparison are two operations: a claim, a result.
//! One statement of a verdict, and of each shard that holds more or fewer games, keeps the counters
//! of jobs. A verdict and an expiry each change the standing of an account in two statements. An
//! expiry reads the uploads of each lease.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
#![allow(clippy::print_stdout, reason = "the table is the result")]
#![allow(clippy::unused_self, reason = "what a laboratory does reads best as its own")]

mod common;

use std::sync::atomic::{AtomicU64, Ordering};

use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use common::{
    block_on, folder,
    lab::{ALL_AUDITS, Lab, NO_AUDIT},
};

static STATEMENTS: AtomicU64 = AtomicU64::new(0);
static COMMITS: AtomicU64 = AtomicU64::new(0);

/// Counts the statements that the driver logs.
struct Counter;

impl Subscriber for Counter {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "sqlx::query"
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Summary);
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

struct Summary;

impl Visit for Summary {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let summary = format!("{value:?}");
        // A connection that the pool opens meanwhile has settings first.
        if field.name() != "summary" || summary.contains("PRAGMA") {
            return;
        }
        STATEMENTS.fetch_add(1, Ordering::SeqCst);
        if summary.contains("COMMIT") {
            COMMITS.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Runs something; returns its result, and compares its statements and commits with the limits.
async fn counted<T>(what: &str, limits: (u64, u64), run: impl Future<Output = T>) -> T {
    let before = (STATEMENTS.load(Ordering::SeqCst), COMMITS.load(Ordering::SeqCst));
    let result = run.await;
    let statements = STATEMENTS.load(Ordering::SeqCst) - before.0;
    let commits = COMMITS.load(Ordering::SeqCst) - before.1;
    println!("{what:<24} {statements:>4} statements {commits:>3} commits");
    assert!(statements > 0, "{what}: nothing was logged");
    assert!(statements <= limits.0 && commits <= limits.1, "{what}: {statements} and {commits}, not {limits:?}");
    result
}

#[test]
fn frequent_operations_need_few_statements() {
    tracing::subscriber::set_global_default(Counter).unwrap();
    let folder = folder();
    let address = format!("sqlite:{}", folder.path().join("chuhe.db").display());
    block_on(async {
        let mut lab = Lab::open(&address).await;
        lab.long_campaign().await;
        let (old, new, judge) = (lab.player("old").await, lab.player("new").await, lab.judge("judge").await);
        // The scheduler counts the workers now and then.
        lab.fixed_policy = Some(lab.policy().await);
        let lease = counted("lease, fresh", (16, 1), lab.lease(new, "1", 10)).await;
        counted("lease, same nonce", (9, 1), lab.lease(new, "1", 10)).await;
        counted("renewal", (7, 1), lab.renew(new, &lease.token, 1)).await.unwrap();
        counted("upload, whole lease", (19, 1), lab.deliver(new, &lease)).await;
        counted("validation", (25, 2), lab.validate(ALL_AUDITS)).await;
        lab.draw_auditor(old).await;
        let again = counted("lease, audit", (15, 1), lab.lease(old, "1", 1_000)).await;
        counted("upload, audit", (18, 1), lab.deliver(old, &again)).await;
        lab.validate(NO_AUDIT).await;
        counted("comparison, equal", (20, 2), lab.compare()).await;
        let lease = lab.lease(new, "2", 10).await;
        counted("upload, part", (19, 1), lab.upload(new, &lease.token, &lab.played(&lease, 10..14))).await.unwrap();
        lab.validate(NO_AUDIT).await;
        counted("release", (11, 1), lab.release(new, &lease.token, 16)).await.unwrap();
        counted("lease, again", (17, 1), lab.lease(old, "2", 4)).await;
        lab.clock.advance(3_600_000);
        counted("expiry of two", (23, 1), lab.expire()).await;
        // Two accounts differ in a game, and a trusted worker settles it.
        let lease = lab.lease(new, "3", 2).await;
        let games = lease.numbers();
        lab.upload(new, &lease.token, &lab.with_wrong_game(&lease, games.clone(), games.start, 1)).await.unwrap();
        lab.validate(ALL_AUDITS).await;
        let again = lab.audit(old, "3").await.unwrap();
        assert_eq!(again.numbers(), games);
        lab.deliver(old, &again).await;
        lab.validate(NO_AUDIT).await;
        counted("comparison, different", (33, 2), lab.compare()).await;
        let settling = counted("lease, settling", (13, 1), lab.lease(judge, "4", 10)).await;
        lab.deliver(judge, &settling).await;
        lab.validate(NO_AUDIT).await;
        // The review of the quarantined account is an operation of its own, of a bounded size.
        counted("comparisons, settled", (98, 4), lab.compare()).await;
        assert_eq!(lab.value::<String>("SELECT state FROM accounts WHERE name = 'new'").await, "quarantined");
        lab.store.close().await;
    });
}
