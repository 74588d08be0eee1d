//! Timed matches: trusted workers alone play them, and their results decide nothing.

use coordinator_core::{
    matches,
    model::{CampaignCommand as Command, JobId},
    ops::matches::BeginTimedMatch,
    timed::{self, Plan},
};
use dataset::{Clock, Digest, Time};
use protocol::api::{problem::Code, work::Work};
use serde_json::json;

use super::{
    campaigns::{command, gating, row, state_of},
    cases,
};
use crate::{
    common::{
        lab::{ALL_AUDITS, Lab, NO_AUDIT, SIGNATURE, code},
        truth,
    },
    op,
};

cases! {
    only_trusted_workers_play_under_a_clock
    the_first_timed_upload_is_believed
    a_timed_match_is_counted_and_decides_nothing
    a_worker_without_trust_uploads_no_timed_games
    invalid_plans_are_rejected
}

/// A plan of this many pairs, whose games take a thread a second.
fn plan(pairs: u32) -> Plan {
    let clock = Clock { time: Time::Move { milliseconds: 10 }, grace_milliseconds: 0 };
    serde_json::from_value(json!({ "clock": clock, "pairs": pairs })).unwrap()
}

async fn begin(lab: &Lab, plan: Plan) -> Result<i64, Code> {
    let begun = lab.run(BeginTimedMatch { plan, bench_signature: SIGNATURE, by: None }).await;
    let begun = begun.map(|job| job.0).map_err(code);
    // Workers start with a job a few milliseconds apart.
    lab.clock.advance(1_000);
    begun
}

async fn only_trusted_workers_play_under_a_clock(lab: Lab) {
    let (new, judge) = (lab.player("new").await, lab.judge("judge").await);
    let job = begin(&lab, plan(10)).await.unwrap();
    match lab.request(new, "1", 4, NO_AUDIT).await.unwrap() {
        Work::Wait { reason, .. } => assert_eq!(reason, "there is nothing to play at the moment"),
        Work::Games(lease) => panic!("a stranger plays under a clock: {lease:?}"),
    }
    let lease = lab.lease(judge, "1", 4).await;
    assert_eq!((lease.terms.clock, lease.numbers()), (Some(plan(10).clock), 0..4));
    assert_eq!(lease.terms.settings.hard_nodes, 0);
    // An untrusted worker gets other games, if there are any, whatever the priorities.
    let (_, selfplay) = lab.campaign("one").await;
    assert_eq!(lab.lease(new, "2", 4).await.terms.clock, None);
    let of_new = format!("SELECT COUNT(*) FROM leases WHERE worker = {} AND job <> {selfplay}", new.worker);
    assert_eq!(lab.value::<i64>(&of_new).await, 0);
    // Released timed games are not granted to it either.
    lab.release(judge, &lease.token, 0).await.unwrap();
    assert_eq!(lab.lease(new, "3", 4).await.terms.clock, None);
    assert_eq!(lab.value::<i64>(&format!("SELECT COUNT(*) FROM leases WHERE job = {job}")).await, 1);
}

/// The same timed games differ between two honest workers; neither is wrong.
async fn the_first_timed_upload_is_believed(lab: Lab) {
    let (one, other) = (lab.judge("one").await, lab.judge("other").await);
    let job = begin(&lab, plan(2)).await.unwrap();
    let late = lab.lease(one, "1", 4).await;
    lab.clock.advance(24 * 3_600_000);
    lab.expire().await;
    let lease = lab.lease(other, "1", 4).await;
    assert_eq!(lease.numbers(), late.numbers());
    lab.deliver(other, &lease).await;
    let others = lab.with_wrong_game(&late, late.numbers(), 0, 1);
    assert_ne!(others.games, lab.played(&late, late.numbers()).games);
    lab.upload(one, &late.token, &others).await.unwrap();
    lab.validate(ALL_AUDITS).await;
    assert_eq!(lab.compare().await, 0);
    assert_eq!(lab.rows::<(i64,)>("SELECT id FROM comparisons").await, []);
    let all = lab.rows::<(String, String)>("SELECT state, audit FROM shards").await;
    assert_eq!(all, vec![("validated".to_owned(), "none".to_owned()); 2]);
    let holders = "SELECT shards.account FROM segments JOIN shards ON shards.id = segments.shard";
    assert_eq!(lab.rows::<(i64,)>(holders).await, [(other.account,)]);
    // Nor are they sampled for an audit when the worker is no longer trusted.
    lab.execute("UPDATE shards SET state = 'received', validated = NULL, claimed_until = 0").await;
    lab.execute("UPDATE workers SET trusted = 0").await;
    lab.validate(ALL_AUDITS).await;
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM shards WHERE audit <> 'none'").await, 0);
    // Not even if an audit is marked as wanted.
    lab.execute(&format!("UPDATE shards SET audit = 'wanted' WHERE job = {job}")).await;
    let auditor = lab.judge("auditor").await;
    assert_eq!(lab.audit(auditor, "1").await, None);
}

async fn a_timed_match_is_counted_and_decides_nothing(lab: Lab) {
    let judge = lab.judge("judge").await;
    let (id, gate) = gating(&lab, judge, 0).await;
    let candidate: String = lab.value(&format!("SELECT net FROM jobs WHERE id = {gate}")).await;
    let candidate: Digest = candidate.parse().unwrap();
    command(&lab, id, Command::Pause).await.unwrap();
    // A match that the candidate wins clearly.
    let seed = (0..1_000).find(|&seed| truth::strength(seed) == 0).unwrap();
    let job = begin(&lab, Plan { a: Some(candidate), seed, ..plan(200) }).await.unwrap();
    lab.play(judge, 40).await;
    let standing = op!(lab.read, [], |c| matches::standing(&mut c, JobId(job))).unwrap();
    let said = serde_json::to_value(&standing).unwrap();
    assert_eq!((standing.pairs, standing.verdict.pairs), (200, 200), "all pairs are in the counts");
    assert!(standing.verdict.llr > standing.verdict.bounds.1, "a test would have decided: {said}");
    assert_eq!(said["verdict"]["decision"], "continue");
    assert_eq!((&said["timed"]["unprovable"], &said["timed"]["time_losses"]), (&json!(true), &json!([0, 200])));
    let elo = said["timed"]["elo"]["elo_low"].as_f64().unwrap();
    assert!(elo > 0.0, "{said}");

    assert_eq!(lab.conclude().await, 1);
    assert_eq!(lab.value::<String>(&format!("SELECT state FROM jobs WHERE id = {job}")).await, "closed");
    let decision: String = lab.value(&format!("SELECT decision FROM jobs WHERE id = {job}")).await;
    assert!(decision.contains("\"continue\""), "{decision}");
    command(&lab, id, Command::Resume).await.unwrap();
    lab.drive(id).await;
    let after = row(&lab, id).await;
    assert_eq!((after.phase.name(), after.champion, after.generation), ("gating", None, 0));
    assert_eq!(state_of(&lab, candidate).await, "candidate");
    assert_eq!(lab.rows::<(i64,)>("SELECT id FROM promotions").await, []);
    // Nor does it count for ratings, or for a training set.
    let rated = "SELECT COUNT(*) FROM jobs WHERE kind IN ('rating', 'match') AND id = ";
    assert_eq!(lab.value::<i64>(&format!("{rated}{job}")).await, 0);
    command(&lab, id, Command::Reject).await.unwrap();
    lab.play(judge, 4).await;
    command(&lab, id, Command::Train).await.unwrap();
    let shards: Vec<(String,)> = lab.rows(&format!("SELECT hash FROM shards WHERE job = {job}")).await;
    for (manifest,) in lab.rows::<(String,)>("SELECT text FROM manifests").await {
        assert!(!shards.is_empty() && shards.iter().all(|(shard,)| !manifest.contains(shard)));
    }
}

async fn a_worker_without_trust_uploads_no_timed_games(lab: Lab) {
    let (judge, second) = (lab.judge("judge").await, lab.judge("second").await);
    begin(&lab, plan(2)).await.unwrap();
    let lease = lab.lease(judge, "1", 4).await;
    lab.execute(&format!("UPDATE workers SET trusted = 0 WHERE id = {}", judge.worker)).await;
    let object = lab.played(&lease, lease.numbers());
    assert_eq!(lab.upload(judge, &lease.token, &object).await, Err(Code::Forbidden));
    lab.clock.advance(24 * 3_600_000);
    lab.expire().await;
    assert_eq!(lab.lease(second, "1", 4).await.numbers(), lease.numbers());
}

async fn invalid_plans_are_rejected(lab: Lab) {
    let timed = |time| Plan { clock: Clock { time, grace_milliseconds: 0 }, ..plan(1) };
    let invalid = [
        timed(Time::Move { milliseconds: 0 }),
        timed(Time::Game { base_milliseconds: 0, increment_milliseconds: 10 }),
        timed(Time::Move { milliseconds: u32::MAX }),
        plan(0),
        plan(100_001),
        Plan { hash_mebibytes: 0, ..plan(1) },
        Plan { ply_cap: 0, ..plan(1) },
    ];
    for bad in invalid {
        assert_eq!(begin(&lab, bad).await, Err(Code::Invalid), "{bad:?}");
    }
    let hash = Some(Digest::of(b"no such net"));
    assert_eq!(begin(&lab, Plan { a: hash, ..plan(1) }).await, Err(Code::NotFound));
    assert_eq!(begin(&lab, Plan { b: hash, ..plan(1) }).await, Err(Code::NotFound));
    let openings = dataset::OpeningPolicy { book: hash, ..timed::defaults::openings() };
    assert_eq!(begin(&lab, Plan { openings, ..plan(1) }).await, Err(Code::NotFound));
    assert_eq!(lab.rows::<(i64,)>("SELECT id FROM jobs").await, []);
}
