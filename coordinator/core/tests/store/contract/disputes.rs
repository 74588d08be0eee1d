//! Disputes over different games, and their consequences.

use coordinator_core::{
    clock::HOUR,
    model::{AccountId, AccountKey, ComparisonId, JobId, Reason, ShardId},
    ops::disputes::{ClaimDisputes, ClaimUnchecked, PassCheck, RecordRuling, Ruled, SetQuarantine},
    reports::standing,
    rules::readiness::Audited,
    store::counting,
};
use protocol::api::{
    problem::Code,
    work::{Lease, Work},
};

use super::{
    campaigns::{audit_the_gate, gating, row},
    cases,
    receiving::counted,
};
use crate::{
    common::lab::{ALL_AUDITS, Lab, NO_AUDIT, Object, Player, SIGNATURE, code},
    op,
};

cases! {
    a_trusted_worker_settles_a_dispute
    a_referee_settles_a_dispute_without_trusted_workers
    a_dispute_is_claimed_by_one_referee_at_a_time
    a_check_withdraws_the_uploads_of_a_forger
    training_sets_wait_for_checks
    a_slow_referee_holds_up_uploads_for_an_hour
    a_referee_that_is_gone_holds_up_nothing
    a_gate_waits_for_its_checks
    both_sides_of_a_dispute_may_be_wrong
    the_confirmed_account_gets_the_games
    the_result_of_a_trusted_worker_is_authoritative
    a_dispute_is_compared_with_an_earlier_trusted_audit
    disputed_games_wait
    an_expired_settlement_is_reopened
    a_rejected_settlement_is_reopened
    another_engine_settles_nothing
    an_account_does_not_settle_its_own_game
    differing_trusted_workers_wait_for_a_maintainer
    only_verified_shards_of_a_quarantined_account_stay
    the_wrong_shard_is_withdrawn_despite_a_clean_audit
    quarantine_ends_leases_and_can_be_lifted
    after_quarantine_others_hold_the_games
    comparisons_come_back_with_the_shard
    a_deleted_account_stays_deleted
}

/// Quarantines an account by hand.
pub(super) async fn quarantine(lab: &Lab, player: Player) {
    set_quarantine(lab, player.account, true).await;
}

/// Lifts a quarantine.
pub(super) async fn lift(lab: &Lab, player: Player) {
    set_quarantine(lab, player.account, false).await;
}

async fn set_quarantine(lab: &Lab, account: i64, begins: bool) {
    let reason = if begins { "by hand" } else { "a mistake" }.into();
    lab.run(SetQuarantine { account: AccountId(account).into(), begins, by: None, reason }).await.unwrap();
    lab.review().await;
}

async fn states(lab: &Lab) -> Vec<String> {
    lab.rows::<(String,)>("SELECT state FROM shards ORDER BY id").await.into_iter().map(|row| row.0).collect()
}

async fn account(lab: &Lab, player: Player) -> String {
    lab.value(&format!("SELECT state FROM accounts WHERE id = {}", player.account)).await
}

struct Scene {
    job: i64,
    old: Player,
    new: Player,
    judge: Player,
}

/// An old account audits ten games of a new one; both upload, and the shards are compared.
async fn scene(lab: &Lab, old_lies: Option<u64>, new_lies: Option<u64>) -> Scene {
    let (_, job) = lab.campaign("one").await;
    let (old, new, judge) = (lab.player("old").await, lab.player("new").await, lab.judge("judge").await);
    let object = |lease: &Lease, lies: Option<u64>, salt: u64| {
        let games = lease.numbers();
        lies.map_or_else(
            || lab.played(lease, games.clone()),
            |game| lab.with_wrong_game(lease, games.clone(), game, salt),
        )
    };
    let lease = lab.lease(new, "1", 10).await;
    lab.upload(new, &lease.token, &object(&lease, new_lies, 1)).await.unwrap();
    lab.validate(ALL_AUDITS).await;
    let again = lab.audit(old, "1").await.unwrap();
    lab.upload(old, &again.token, &object(&again, old_lies, 2)).await.unwrap();
    lab.validate(NO_AUDIT).await;
    assert_eq!(lab.compare().await, 1);
    Scene { job, old, new, judge }
}

/// A trusted worker settles the dispute.
async fn settle(lab: &Lab, judge: Player, nonce: &str) -> Lease {
    let lease = lab.lease(judge, nonce, 50).await;
    assert_eq!(lease.games, 1);
    lab.deliver(judge, &lease).await;
    lab.validate(NO_AUDIT).await;
    lab.compare().await;
    lease
}

async fn a_trusted_worker_settles_a_dispute(lab: Lab) {
    let Scene { job, old, new, judge } = scene(&lab, None, Some(6)).await;
    assert_eq!(states(&lab).await, ["disputed", "disputed"]);
    assert_eq!(counted(&lab, job).await, (0, 0), "until it is known who is right, the games wait");
    assert_eq!(settle(&lab, judge, "1").await.terms.first_game, 6);
    assert_eq!(states(&lab).await, ["quarantined", "validated", "validated"]);
    assert_eq!((account(&lab, old).await, account(&lab, new).await), ("active".into(), "quarantined".into()));
    assert_eq!(counted(&lab, job).await, (10, 1_000), "the games are those of the one who was right");
    assert_eq!(lab.request(new, "2", 10, NO_AUDIT).await.map_err(code), Err(Code::Blocked));
    let why = "SELECT text FROM events WHERE kind = 'quarantine'";
    assert!(lab.value::<String>(why).await.contains("game 6 of job"));
    assert_eq!(lab.lease(old, "2", 10).await.terms.first_game, 10);
    assert_eq!(lab.rows::<(i64,)>("SELECT id FROM comparisons WHERE state = 'different'").await, []);
}

/// The disputes that a referee gets now, by their comparisons.
async fn claim(lab: &Lab) -> Vec<ComparisonId> {
    let until = lab.now().after(300_000);
    let claim = ClaimDisputes { bench_signature: SIGNATURE, limit: 9, until };
    lab.run(claim).await.unwrap().into_iter().map(|dispute| dispute.comparison).collect()
}

async fn rule(lab: &Lab, ruled: Ruled, game: u64) {
    lab.run(RecordRuling { ruled, game, certificate: "{}".into() }).await.unwrap();
    lab.review().await;
}

async fn a_referee_settles_a_dispute_without_trusted_workers(lab: Lab) {
    let Scene { job, old, new, .. } = scene(&lab, None, Some(6)).await;
    let disputes = claim(&lab).await;
    assert_eq!(disputes.len(), 1);
    // The left side is the upload that was there first.
    let ruled = Ruled::Dispute(disputes[0], [false, true]);
    rule(&lab, ruled, 6).await;
    assert_eq!(states(&lab).await, ["quarantined", "validated"]);
    assert_eq!((account(&lab, old).await, account(&lab, new).await), ("active".into(), "quarantined".into()));
    assert_eq!(counted(&lab, job).await, (10, 1_000));
    let ruling = "SELECT text FROM events WHERE kind = 'ruling'";
    assert_eq!(lab.value::<String>(ruling).await, "the referee ruled on game 6: certificate 1, at /api/v1/rulings/1");
    let why = "SELECT text FROM events WHERE kind = 'quarantine'";
    assert!(lab.value::<String>(why).await.contains("when the referee played it"));
    let key = AccountKey::Id(AccountId(new.account));
    let now = lab.now();
    let explained = op!(lab.read, [key], |c| standing::explain(&mut c, now, &key)).unwrap();
    assert!(
        explained[0].starts_with("Account new of 2001-09-09 ") && explained[0].contains("is in quarantine: game 6 of"),
        "{explained:#?}"
    );
    for sentence in
        ["in quarantine.", "came out otherwise elsewhere", "the referee ruled on game 6 of job", "left the pool"]
    {
        assert!(explained.iter().skip(1).any(|line| line.contains(sentence)), "{sentence}: {explained:#?}");
    }
    // Another referee was slower.
    rule(&lab, Ruled::Dispute(disputes[0], [true, false]), 6).await;
    assert_eq!(states(&lab).await, ["quarantined", "validated"]);
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM rulings").await, 1);
    assert_eq!(lab.value::<String>("SELECT certificate FROM rulings").await, "{}");
}

async fn a_dispute_is_claimed_by_one_referee_at_a_time(lab: Lab) {
    scene(&lab, None, Some(6)).await;
    let other = ClaimDisputes { bench_signature: 1, limit: 9, until: lab.now().after(300_000) };
    assert!(lab.run(other).await.unwrap().is_empty(), "another engine");
    assert_eq!(claim(&lab).await.len(), 1);
    assert_eq!(claim(&lab).await, []);
    // The first one was killed.
    lab.clock.advance(300_001);
    assert_eq!(claim(&lab).await.len(), 1);
}

async fn a_check_withdraws_the_uploads_of_a_forger(lab: Lab) {
    let (_, job) = lab.campaign("one").await;
    let (new, old) = (lab.player("new").await, lab.player("old").await);
    for (nonce, player) in [("1", new), ("2", old), ("3", new)] {
        let lease = lab.lease(player, nonce, 10).await;
        lab.deliver(player, &lease).await;
        lab.validate(NO_AUDIT).await;
    }
    let unchecked = async || unchecked(&lab).await.map(|shard| shard.0);
    assert_eq!((unchecked().await, unchecked().await), (Some(3), Some(1)), "of one account the newest first");
    lab.run(PassCheck { shard: ShardId(2), game: 15 }).await.unwrap();
    rule(&lab, Ruled::Check(ShardId(3)), 25).await;
    assert_eq!(states(&lab).await, ["quarantined", "validated", "quarantined"]);
    assert_eq!(counted(&lab, job).await, (10, 1_000));
    lab.clock.advance(300_001);
    assert_eq!(unchecked().await, None, "what was checked, or is out, is not checked again");
    rule(&lab, Ruled::Check(ShardId(1)), 3).await;
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM rulings").await, 1, "the shard was out already");
}

/// The upload that a referee is to check now.
async fn unchecked(lab: &Lab) -> Option<ShardId> {
    let until = lab.now().after(300_000);
    let claim = ClaimUnchecked { draw: 0, bench_signature: SIGNATURE, limit: 1, until };
    lab.run(claim).await.unwrap().first().map(|upload| upload.shard)
}

/// A campaign with the games of its first training in two uploads, which wait for a referee.
async fn unchecked_campaign(lab: &Lab) -> i64 {
    let player = lab.player("player").await;
    let (id, _) = lab.campaign("one").await;
    claim(lab).await;
    lab.play(player, 2).await;
    lab.drive(id).await;
    assert_eq!(row(lab, id).await.phase.name(), "collecting");
    id
}

async fn trained_games(lab: &Lab, id: i64) -> i64 {
    lab.drive(id).await;
    assert_eq!(row(lab, id).await.phase.name(), "training");
    lab.value("SELECT games FROM manifests").await
}

async fn training_sets_wait_for_checks(lab: Lab) {
    let id = unchecked_campaign(&lab).await;
    let shard = unchecked(&lab).await.unwrap();
    lab.run(PassCheck { shard, game: 0 }).await.unwrap();
    lab.drive(id).await;
    let waits = row(&lab, id).await;
    assert_eq!(waits.phase.name(), "collecting", "the games of one upload are too few");
    assert_eq!(waits.reason, Some(Reason::GamesOpen { games: 16 }));
    let shard = unchecked(&lab).await.unwrap();
    lab.run(PassCheck { shard, game: 0 }).await.unwrap();
    assert_eq!(trained_games(&lab, id).await, 32);
}

async fn a_slow_referee_holds_up_uploads_for_an_hour(lab: Lab) {
    let id = unchecked_campaign(&lab).await;
    lab.clock.advance(HOUR - 10_000);
    claim(&lab).await;
    lab.drive(id).await;
    assert_eq!(row(&lab, id).await.phase.name(), "collecting");
    lab.clock.advance(10_000);
    assert_eq!(trained_games(&lab, id).await, 32);
}

async fn a_referee_that_is_gone_holds_up_nothing(lab: Lab) {
    let id = unchecked_campaign(&lab).await;
    lab.clock.advance(HOUR / 6);
    assert_eq!(trained_games(&lab, id).await, 32);
}

async fn a_gate_waits_for_its_checks(lab: Lab) {
    let (old, new) = (lab.player("old").await, lab.player("new").await);
    let (id, gate) = gating(&lab, new, 0).await;
    claim(&lab).await;
    lab.play(new, 8).await;
    lab.drive(id).await;
    audit_the_gate(&lab, old, id).await;
    let audited = Audited::of(&op!(lab.read, [], |c| counting::gate_shards(&mut c, JobId(gate), 1_000)).unwrap());
    assert!(audited.clean * 10 >= audited.games && audited.waiting == 0, "{audited:?}");
    let waits = row(&lab, id).await;
    assert_eq!((waits.generation, waits.phase.name()), (0, "gating"), "no game of it is checked");
    while let Some(shard) = unchecked(&lab).await {
        lab.run(PassCheck { shard, game: 0 }).await.unwrap();
    }
    lab.drive(id).await;
    assert_eq!(row(&lab, id).await.generation, 1);
}

async fn both_sides_of_a_dispute_may_be_wrong(lab: Lab) {
    let Scene { job, old, new, judge } = scene(&lab, Some(6), Some(6)).await;
    settle(&lab, judge, "1").await;
    assert_eq!(states(&lab).await, ["quarantined", "quarantined", "validated"]);
    assert_eq!((account(&lab, old).await, account(&lab, new).await), ("quarantined".into(), "quarantined".into()));
    assert_eq!(counted(&lab, job).await, (1, 100));
    assert_eq!(lab.rows::<(i64,)>("SELECT id FROM comparisons WHERE state = 'different'").await, []);
    assert_eq!(lab.lease(judge, "2", 50).await.numbers(), 0..6);
    assert_eq!(lab.lease(judge, "3", 50).await.numbers(), 7..10);
}

async fn the_confirmed_account_gets_the_games(lab: Lab) {
    // The auditor is wrong: the audited shard stands.
    let Scene { job, old, new, judge } = scene(&lab, Some(3), None).await;
    settle(&lab, judge, "1").await;
    assert_eq!(states(&lab).await, ["validated", "quarantined", "validated"]);
    assert_eq!((account(&lab, old).await, account(&lab, new).await), ("quarantined".into(), "active".into()));
    assert_eq!(counted(&lab, job).await, (10, 1_000));
    lab.expire().await;
    assert_eq!(lab.value::<String>("SELECT audit FROM shards WHERE id = 1").await, "clean");
}

async fn the_result_of_a_trusted_worker_is_authoritative(lab: Lab) {
    let (_, job) = lab.campaign("one").await;
    let (new, judge) = (lab.player("new").await, lab.judge("judge").await);
    let lease = lab.lease(new, "1", 10).await;
    lab.upload(new, &lease.token, &lab.with_wrong_game(&lease, 0..10, 2, 1)).await.unwrap();
    lab.validate(ALL_AUDITS).await;
    let again = lab.audit(judge, "1").await.unwrap();
    lab.deliver(judge, &again).await;
    lab.validate(NO_AUDIT).await;
    lab.compare().await;
    assert_eq!(states(&lab).await, ["quarantined", "validated"]);
    assert_eq!(counted(&lab, job).await, (10, 1_000));
}

async fn a_dispute_is_compared_with_an_earlier_trusted_audit(lab: Lab) {
    let (_, job) = lab.campaign("one").await;
    let (old, new, judge) = (lab.player("old").await, lab.player("new").await, lab.judge("judge").await);
    let late = lab.lease(old, "1", 10).await;
    lab.clock.advance(24 * HOUR);
    lab.expire().await;
    let lease = lab.lease(new, "1", 10).await;
    lab.upload(new, &lease.token, &lab.with_wrong_game(&lease, 0..10, 2, 1)).await.unwrap();
    lab.validate(ALL_AUDITS).await;
    // The audit of the wrong shard was leased before the dispute: the only trusted worker cannot be
    // asked to play these games again.
    let again = lab.audit(judge, "1").await.unwrap();
    lab.deliver(old, &late).await;
    lab.validate(NO_AUDIT).await;
    assert_eq!(lab.compare().await, 1);
    assert_eq!(states(&lab).await, ["disputed", "disputed"]);
    lab.deliver(judge, &again).await;
    lab.validate(NO_AUDIT).await;
    while lab.compare().await > 0 {}
    assert_eq!(states(&lab).await, ["quarantined", "validated", "validated"]);
    assert_eq!(counted(&lab, job).await, (10, 1_000));
    assert_eq!(lab.rows::<(i64,)>("SELECT id FROM comparisons WHERE state = 'different'").await, []);
}

async fn disputed_games_wait(lab: Lab) {
    let Scene { job, old, .. } = scene(&lab, None, Some(6)).await;
    assert_eq!(counted(&lab, job).await, (0, 0));
    assert_eq!(lab.lease(old, "2", 5).await.numbers(), 10..15, "they are not played again either");
    let disputes = "SELECT COUNT(*) FROM events WHERE kind = 'dispute'";
    assert_eq!(lab.value::<i64>(disputes).await, 1);
}

async fn an_expired_settlement_is_reopened(lab: Lab) {
    let Scene { job, judge, .. } = scene(&lab, None, Some(6)).await;
    let second = lab.judge("second").await;
    let late = lab.lease(judge, "1", 50).await;
    assert_eq!(late.numbers(), 6..7);
    assert_ne!(lab.lease(second, "1", 50).await.numbers(), 6..7, "one is enough");
    lab.clock.advance(HOUR);
    lab.expire().await;
    let lease = lab.lease(second, "2", 50).await;
    assert_eq!(lease.numbers(), 6..7);
    lab.release(second, &lease.token, 6).await.unwrap();
    lab.expire().await;
    // The late settlement is accepted: it plays games that others hold.
    lab.deliver(judge, &late).await;
    lab.validate(NO_AUDIT).await;
    lab.compare().await;
    let again = settle(&lab, second, "3").await;
    assert_eq!(again.numbers(), 6..7);
    assert_eq!(counted(&lab, job).await.0, 10);
}

async fn a_rejected_settlement_is_reopened(lab: Lab) {
    let Scene { judge, .. } = scene(&lab, None, Some(6)).await;
    let lease = lab.lease(judge, "1", 50).await;
    let bad = Object { is_valid: false, ..lab.played(&lease, 6..7) };
    lab.upload(judge, &lease.token, &bad).await.unwrap();
    lab.validate(NO_AUDIT).await;
    lab.expire().await;
    assert_eq!(lab.lease(judge, "2", 50).await.numbers(), 6..7);
}

async fn another_engine_settles_nothing(lab: Lab) {
    let Scene { judge, .. } = scene(&lab, None, Some(6)).await;
    lab.execute(&format!("UPDATE workers SET bench_signature = 1 WHERE id = {}", judge.worker)).await;
    assert!(matches!(lab.request(judge, "1", 10, NO_AUDIT).await, Ok(Work::Wait { .. })));
}

async fn an_account_does_not_settle_its_own_game(lab: Lab) {
    let Scene { new, .. } = scene(&lab, None, Some(6)).await;
    let machine = lab.machine(new.account, "trusted").await;
    lab.execute(&format!("UPDATE workers SET trusted = 1 WHERE id = {}", machine.worker)).await;
    assert_ne!(lab.lease(machine, "1", 10).await.terms.first_game, 6);
}

async fn differing_trusted_workers_wait_for_a_maintainer(lab: Lab) {
    let (_, job) = lab.campaign("one").await;
    let judges = [lab.judge("one").await, lab.judge("two").await, lab.judge("three").await];
    let first = lab.lease(judges[0], "1", 10).await;
    lab.clock.advance(HOUR);
    lab.expire().await;
    let second = lab.lease(judges[1], "1", 10).await;
    lab.deliver(judges[0], &first).await;
    lab.upload(judges[1], &second.token, &lab.with_wrong_game(&second, 0..10, 4, 1)).await.unwrap();
    lab.validate(NO_AUDIT).await;
    lab.compare().await;
    assert_eq!(states(&lab).await, ["disputed", "disputed"]);
    // A third trusted worker agrees with the first. Only a maintainer can quarantine the second.
    settle(&lab, judges[2], "1").await;
    assert_eq!(states(&lab).await, ["disputed", "disputed", "disputed"]);
    for _ in 0..2 {
        lab.expire().await;
        let lease = lab.lease(judges[2], "2", 10).await;
        assert_ne!(lease.terms.first_game, 4, "and it is not asked again and again");
    }
    quarantine(&lab, judges[1]).await;
    assert_eq!(states(&lab).await, ["validated", "quarantined", "validated"]);
    assert_eq!(counted(&lab, job).await, (10, 1_000));
}

async fn only_verified_shards_of_a_quarantined_account_stay(lab: Lab) {
    let (_, job) = lab.campaign("one").await;
    let (new, judge) = (lab.player("new").await, lab.judge("judge").await);
    for (nonce, lies) in [("1", false), ("2", false), ("3", true), ("4", false)] {
        let lease = lab.lease(new, nonce, 10).await;
        let first = lease.terms.first_game;
        let games = lease.numbers();
        let object = if lies { lab.with_wrong_game(&lease, games, first, 1) } else { lab.played(&lease, games) };
        lab.upload(new, &lease.token, &object).await.unwrap();
        lab.validate(NO_AUDIT).await;
    }
    for shard in [2, 3] {
        lab.execute(&format!("UPDATE shards SET audit = 'wanted' WHERE id = {shard}")).await;
        let again = lab.audit(judge, &shard.to_string()).await.unwrap();
        lab.deliver(judge, &again).await;
        lab.validate(NO_AUDIT).await;
        lab.compare().await;
    }
    // Of 40 games, the 10 that were played again stay, and 10 are the trusted worker's.
    let found = ["quarantined", "validated", "quarantined", "quarantined", "validated", "validated"];
    assert_eq!(states(&lab).await, found);
    assert_eq!(counted(&lab, job).await, (20, 2_000));
    assert_eq!(lab.lease(judge, "5", 50).await.numbers(), 0..10);
    assert_eq!(lab.lease(judge, "6", 50).await.numbers(), 30..40);
}

async fn the_wrong_shard_is_withdrawn_despite_a_clean_audit(lab: Lab) {
    let (_, job) = lab.campaign("one").await;
    let (old, new, judge) = (lab.player("old").await, lab.player("new").await, lab.judge("judge").await);
    let lease = lab.lease(new, "1", 10).await;
    lab.upload(new, &lease.token, &lab.with_wrong_game(&lease, 0..10, 8, 1)).await.unwrap();
    lab.validate(ALL_AUDITS).await;
    // The first audit covers the beginning, where no game is wrong.
    let Work::Games(part) = lab.request(old, "1", 4, ALL_AUDITS).await.unwrap() else { panic!("no audit") };
    lab.deliver(old, &part).await;
    lab.validate(NO_AUDIT).await;
    lab.compare().await;
    assert_eq!(lab.value::<String>("SELECT audit FROM shards WHERE id = 1").await, "clean");
    lab.execute("UPDATE shards SET audit = 'wanted' WHERE id = 1").await;
    let whole = lab.audit(judge, "1").await.unwrap();
    assert_eq!(whole.numbers(), 0..10);
    lab.deliver(judge, &whole).await;
    lab.validate(NO_AUDIT).await;
    lab.compare().await;
    assert_eq!(states(&lab).await, ["quarantined", "validated", "validated"]);
    assert_eq!(counted(&lab, job).await, (10, 1_000));
}

async fn quarantine_ends_leases_and_can_be_lifted(lab: Lab) {
    let (_, job) = lab.campaign("one").await;
    let (ann, bob) = (lab.player("ann").await, lab.player("bob").await);
    let done = lab.lease(ann, "1", 10).await;
    lab.deliver(ann, &done).await;
    let begun = lab.lease(ann, "2", 10).await;
    lab.validate(NO_AUDIT).await;
    quarantine(&lab, ann).await;
    quarantine(&lab, ann).await;
    assert_eq!(counted(&lab, job).await, (0, 0));
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM segments WHERE state <> 'open'").await, 0);
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM events WHERE kind = 'quarantine'").await, 1);
    // Later uploads are kept and do not count.
    lab.deliver(ann, &begun).await;
    lab.validate(NO_AUDIT).await;
    assert_eq!(counted(&lab, job).await, (0, 0));
    assert_eq!(lab.lease(bob, "1", 20).await.numbers(), 0..20);
    lift(&lab, ann).await;
    assert_eq!(account(&lab, ann).await, "active");
    lab.validate(NO_AUDIT).await;
    assert_eq!(counted(&lab, job).await, (20, 2_000));
    assert_eq!(states(&lab).await, ["validated", "validated"]);
    assert_eq!(lab.lease(ann, "3", 10).await.numbers(), 20..30);
    lab.clock.advance(HOUR);
    lab.expire().await;
    assert_eq!(lab.lease(bob, "2", 20).await.numbers(), 20..30);
}

async fn after_quarantine_others_hold_the_games(lab: Lab) {
    let (_, job) = lab.campaign("one").await;
    let (ann, bob) = (lab.player("ann").await, lab.player("bob").await);
    let lease = lab.lease(ann, "1", 10).await;
    lab.deliver(ann, &lease).await;
    lab.validate(NO_AUDIT).await;
    quarantine(&lab, ann).await;
    let again = lab.lease(bob, "1", 6).await;
    lab.upload(bob, &again.token, &lab.with_wrong_game(&again, 0..6, 5, 1)).await.unwrap();
    lab.validate(NO_AUDIT).await;
    lift(&lab, ann).await;
    assert_eq!(counted(&lab, job).await, (10, 1_000), "each game once");
    assert_eq!(lab.compare().await, 1, "what both have is compared");
    assert_eq!(states(&lab).await, ["disputed", "disputed"]);
}

async fn comparisons_come_back_with_the_shard(lab: Lab) {
    lab.campaign("one").await;
    let (old, new) = (lab.player("old").await, lab.player("new").await);
    let lease = lab.lease(new, "1", 10).await;
    lab.upload(new, &lease.token, &lab.with_wrong_game(&lease, 0..10, 5, 1)).await.unwrap();
    lab.validate(ALL_AUDITS).await;
    let again = lab.audit(old, "1").await.unwrap();
    lab.deliver(old, &again).await;
    lab.validate(NO_AUDIT).await;
    quarantine(&lab, new).await;
    assert_eq!(lab.compare().await, 0);
    lift(&lab, new).await;
    assert!(lab.compare().await > 0, "a quarantine does not avoid an audit");
    assert_eq!(states(&lab).await, ["disputed", "disputed"]);
}

async fn a_deleted_account_stays_deleted(lab: Lab) {
    let (_, job) = lab.campaign("one").await;
    let ann = lab.player("ann").await;
    let lease = lab.lease(ann, "1", 10).await;
    lab.deliver(ann, &lease).await;
    lab.validate(NO_AUDIT).await;
    lab.delete(ann).await;
    assert_eq!(counted(&lab, job).await, (10, 1_000), "the games stay");
    quarantine(&lab, ann).await;
    assert_eq!((account(&lab, ann).await, counted(&lab, job).await.0), ("deleted".into(), 0));
    lift(&lab, ann).await;
    assert_eq!((account(&lab, ann).await, counted(&lab, job).await.0), ("deleted".into(), 10));
}
