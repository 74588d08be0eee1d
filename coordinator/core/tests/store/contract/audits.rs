//! Audits: games played again by other accounts.

use std::collections::BTreeSet;

use coordinator_core::{
    clock::{HOUR, SECOND},
    model::{AccountId, Auditor, CampaignId, JobId, ShardId, WorkerId},
    ops::{
        disputes::{DrawAuditors, PassCheck},
        workers::TrustWorker,
    },
    query,
    reports::overview,
    rules::readiness::Audited,
    store::{Nets, counting},
};
use dataset::manifest::Manifest;
use protocol::api::work::ReceiptStatus;

use super::cases;
use crate::common::{
    lab::{ALL_AUDITS, Lab, NO_AUDIT, Player, SIGNATURE},
    truth,
};

cases! {
    another_account_plays_a_shard_again
    only_the_drawn_account_audits_a_shard
    no_account_audits_itself
    an_auditor_that_does_not_ask_is_replaced
    an_audit_is_audited_by_a_third_account
    one_shard_is_audited_by_one
    an_expired_audit_is_reopened
    a_rejected_audit_is_reopened
    an_audit_by_a_quarantined_account_is_reopened
    an_audit_that_counts_itself_is_audited
    an_audit_looks_like_any_other_lease
    a_known_game_shows_a_made_up_audit_at_once
    an_audit_by_a_trusted_worker_is_given_out_again_as_a_ringer
    verified_games_are_counted_once
    one_game_is_no_audit
    a_deleted_account_leaves_no_confirmations
    an_audited_shard_may_have_lost_its_games
    training_sets_wait_for_audits
    a_late_game_keeps_no_upload_out_of_training_sets
    an_account_that_trains_audits_nothing
    two_accounts_do_not_certify_each_other
    a_trusted_worker_without_an_audit_lease_is_believed
    trust_is_for_later_uploads
    relatives_audit_each_other_for_want_of_others
}

async fn audit_of(lab: &Lab, shard: i64) -> String {
    lab.value(&format!("SELECT audit FROM shards WHERE id = {shard}")).await
}

/// One account audits another's games and confirms them.
pub(super) async fn an_audit(lab: &Lab) -> [Player; 2] {
    lab.campaign("one").await;
    let (ann, eve) = (lab.player("ann").await, lab.player("eve").await);
    let lease = lab.lease(eve, "1", 10).await;
    lab.deliver(eve, &lease).await;
    lab.validate(ALL_AUDITS).await;
    let again = lab.audit(ann, "1").await.unwrap();
    lab.deliver(ann, &again).await;
    lab.validate(NO_AUDIT).await;
    lab.compare().await;
    assert_eq!(audit_of(lab, 1).await, "clean");
    let now = lab.now();
    let overview = lab.store.report(query!(|c| overview::overview(&mut c, now).await));
    let overview = overview.await.unwrap();
    assert_eq!(overview.total.games as u64, lease.games, "an audit is no further game");
    [ann, eve]
}

async fn another_account_plays_a_shard_again(lab: Lab) {
    lab.campaign("one").await;
    let (old, new) = (lab.player("old").await, lab.player("new").await);
    let lease = lab.lease(new, "1", 10).await;
    lab.deliver(new, &lease).await;
    lab.validate(ALL_AUDITS).await;
    assert_eq!(audit_of(&lab, 1).await, "wanted");
    let again = lab.audit(old, "1").await.unwrap();
    assert_eq!((again.numbers(), &again.terms), (0..10, &lease.terms));
    assert_eq!(audit_of(&lab, 1).await, "leased");
    lab.deliver(old, &again).await;
    lab.validate(NO_AUDIT).await;
    assert_eq!((lab.compare().await, lab.compare().await), (1, 0));
    assert_eq!(audit_of(&lab, 1).await, "clean");
    let clean = "SELECT clean_games FROM accounts ORDER BY id";
    assert_eq!(lab.rows::<(i64,)>(clean).await, [(0,), (10,)], "an audit verifies nothing of the auditor");
    let states = "SELECT state FROM leases ORDER BY id";
    assert_eq!(lab.rows::<(String,)>(states).await, [("done".into(),), ("done".into(),)]);
    assert_eq!(audit_of(&lab, 2).await, "none", "few audits are audited");
}

/// The attack: an accomplice polls for the audits of its partner.
async fn only_the_drawn_account_audits_a_shard(lab: Lab) {
    lab.long_campaign().await;
    let (ann, bob, eve) = (lab.player("ann").await, lab.player("bob").await, lab.player("eve").await);
    let lease = lab.lease(eve, "1", 10).await;
    lab.deliver(eve, &lease).await;
    lab.validate(ALL_AUDITS).await;
    lab.draw_auditor(ann).await;
    for (number, other) in [bob, eve, bob].into_iter().enumerate() {
        assert!(lab.lease(other, &format!("{number}"), 10).await.terms.first_game >= 10);
    }
    assert_eq!(lab.lease(ann, "1", 10).await.numbers(), 0..10);
    assert_eq!(audit_of(&lab, 1).await, "leased");
}

async fn no_account_audits_itself(lab: Lab) {
    lab.long_campaign().await;
    let eve = lab.player("eve").await;
    let lease = lab.lease(eve, "1", 10).await;
    lab.deliver(eve, &lease).await;
    lab.validate(ALL_AUDITS).await;
    assert!(lab.audit(eve, "2").await.unwrap().terms.first_game >= 10);
    let ann = lab.player("ann").await;
    lab.draw_auditor(ann).await;
    assert_eq!(lab.lease(ann, "1", 10).await.numbers(), 0..10, "an auditor came later");
}

async fn an_auditor_that_does_not_ask_is_replaced(lab: Lab) {
    lab.long_campaign().await;
    let (ann, bob, eve) = (lab.player("ann").await, lab.player("bob").await, lab.player("eve").await);
    let lease = lab.lease(eve, "1", 10).await;
    lab.deliver(eve, &lease).await;
    lab.validate(ALL_AUDITS).await;
    lab.draw_auditor(ann).await;
    let auditor = |player: Player| Auditor { account: AccountId(player.account), proven_nodes: 0, is_trusted: false };
    let draw = || DrawAuditors { auditors: [auditor(bob)].into(), bench_signature: SIGNATURE as i64, draw: 1 };
    lab.clock.advance(600 * SECOND);
    lab.run(draw()).await.unwrap();
    assert!(lab.lease(bob, "1", 10).await.terms.first_game >= 10, "ann may still ask");
    lab.clock.advance(SECOND);
    lab.run(draw()).await.unwrap();
    assert!(lab.lease(ann, "1", 10).await.terms.first_game >= 10, "she is late");
    assert_eq!(lab.lease(bob, "2", 10).await.numbers(), 0..10);
}

/// Accounts that delivered the same games do not audit them, while there are others.
async fn an_audit_is_audited_by_a_third_account(lab: Lab) {
    let [ann, eve] = an_audit(&lab).await;
    let bob = lab.player("bob").await;
    lab.execute("UPDATE shards SET audit = 'wanted', state = 'validated' WHERE id = 2").await;
    for player in [ann, eve] {
        lab.draw_auditors(&[player, bob]).await;
        assert!(lab.lease(player, "again", 10).await.terms.first_game >= 10);
    }
    assert_eq!(lab.lease(bob, "1", 10).await.numbers(), 0..10);
}

async fn one_shard_is_audited_by_one(lab: Lab) {
    lab.campaign("one").await;
    let (ann, bob, new) = (lab.player("ann").await, lab.player("bob").await, lab.player("new").await);
    let lease = lab.lease(new, "1", 10).await;
    lab.deliver(new, &lease).await;
    lab.validate(ALL_AUDITS).await;
    let (left, right) = tokio::join!(lab.audit(ann, "1"), lab.audit(bob, "1"));
    let audits = [left, right].into_iter().flatten().filter(|lease| lease.terms.first_game == 0);
    assert_eq!(audits.count(), 1);
}

async fn an_expired_audit_is_reopened(lab: Lab) {
    lab.campaign("one").await;
    let (ann, bob, new) = (lab.player("ann").await, lab.player("bob").await, lab.player("new").await);
    let lease = lab.lease(new, "1", 10).await;
    lab.deliver(new, &lease).await;
    lab.validate(ALL_AUDITS).await;
    let first = lab.audit(ann, "1").await.unwrap();
    lab.clock.advance(HOUR);
    lab.expire().await;
    assert_eq!(audit_of(&lab, 1).await, "wanted");
    let second = lab.audit(bob, "1").await.unwrap();
    assert_eq!(second.numbers(), 0..10);
    lab.release(bob, &second.token, 0).await.unwrap();
    lab.expire().await;
    assert_eq!(audit_of(&lab, 1).await, "wanted");
    // A late upload is accepted.
    assert_eq!(lab.upload(ann, &first.token, &lab.played(&first, 0..10)).await, Ok(ReceiptStatus::Received));
    lab.validate(ALL_AUDITS).await;
    assert_eq!(lab.compare().await, 1);
    assert_eq!(audit_of(&lab, 1).await, "clean");
}

async fn a_rejected_audit_is_reopened(lab: Lab) {
    lab.campaign("one").await;
    let (ann, new) = (lab.player("ann").await, lab.player("new").await);
    let lease = lab.lease(new, "1", 10).await;
    lab.deliver(new, &lease).await;
    lab.validate(ALL_AUDITS).await;
    let again = lab.audit(ann, "1").await.unwrap();
    lab.deliver(ann, &again).await;
    lab.judge_shard(2, None, NO_AUDIT).await;
    assert_eq!(lab.compare().await, 0);
    lab.expire().await;
    assert_eq!(audit_of(&lab, 1).await, "wanted");
}

async fn an_audit_by_a_quarantined_account_is_reopened(lab: Lab) {
    lab.campaign("one").await;
    let (ann, new) = (lab.player("ann").await, lab.player("new").await);
    let lease = lab.lease(new, "1", 10).await;
    lab.deliver(new, &lease).await;
    lab.validate(ALL_AUDITS).await;
    let again = lab.audit(ann, "1").await.unwrap();
    super::disputes::quarantine(&lab, ann).await;
    lab.expire().await;
    assert_eq!(audit_of(&lab, 1).await, "wanted");
    // A quarantined upload waits for the end of the quarantine.
    lab.deliver(ann, &again).await;
    lab.validate(ALL_AUDITS).await;
    assert_eq!(lab.compare().await, 0);
    super::disputes::lift(&lab, ann).await;
    lab.validate(NO_AUDIT).await;
    assert_eq!(lab.compare().await, 1);
    assert_eq!(audit_of(&lab, 1).await, "clean");
}

async fn an_audit_that_counts_itself_is_audited(lab: Lab) {
    lab.campaign("one").await;
    let (ann, bob, eve) = (lab.player("ann").await, lab.player("bob").await, lab.player("eve").await);
    let lease = lab.lease(eve, "1", 10).await;
    lab.deliver(eve, &lease).await;
    lab.validate(ALL_AUDITS).await;
    let again = lab.audit(bob, "1").await.unwrap();
    lab.deliver(bob, &again).await;
    lab.validate(NO_AUDIT).await;
    assert_eq!(audit_of(&lab, 2).await, "none");
    super::disputes::quarantine(&lab, eve).await;
    let holder = "SELECT shard FROM segments WHERE state = 'held'";
    assert_eq!((lab.value::<i64>(holder).await, audit_of(&lab, 2).await.as_str()), (2, "wanted"));
    let third = lab.audit(ann, "1").await.unwrap();
    assert_eq!(third.numbers(), again.numbers());
    lab.deliver(ann, &third).await;
    lab.validate(NO_AUDIT).await;
    assert_eq!(lab.compare().await, 1);
    assert_eq!(audit_of(&lab, 2).await, "clean");
    assert_eq!(lab.value::<i64>(&format!("SELECT clean_games FROM accounts WHERE id = {}", bob.account)).await, 10);
}

async fn an_audit_looks_like_any_other_lease(lab: Lab) {
    lab.long_campaign().await;
    let (ann, new) = (lab.player("ann").await, lab.player("new").await);
    let lease = lab.lease(new, "1", 200).await;
    lab.deliver(new, &lease).await;
    lab.validate(ALL_AUDITS).await;
    // The usual size, from anywhere in the shard.
    let draw = 2 | 77 << 16;
    let protocol::api::work::Work::Games(again) = lab.request(ann, "1", 20, draw).await.unwrap() else {
        panic!("none")
    };
    assert_eq!(again.numbers(), 77..97);
    assert_eq!((again.seconds, again.live), (900, false));
}

/// Another result of a game that a referee has played needs no dispute.
async fn a_known_game_shows_a_made_up_audit_at_once(lab: Lab) {
    lab.campaign("one").await;
    let (ann, eve, new) = (lab.player("ann").await, lab.player("eve").await, lab.player("new").await);
    let lease = lab.lease(new, "1", 10).await;
    lab.deliver(new, &lease).await;
    lab.validate(ALL_AUDITS).await;
    lab.run(PassCheck { shard: ShardId(1), game: 7 }).await.unwrap();
    let again = lab.audit(eve, "1").await.unwrap();
    let mut made_up = lab.played(&again, 0..10);
    made_up.games = (0..10).map(|game| truth::wrong_game(&again.terms, game, 1)).collect();
    lab.upload(eve, &again.token, &made_up).await.unwrap();
    lab.validate(NO_AUDIT).await;
    lab.compare().await;
    let states = lab.rows::<(String,)>("SELECT state FROM shards ORDER BY id").await;
    assert_eq!(states, [("validated".to_owned(),), ("quarantined".to_owned(),)]);
    let found = lab.rows::<(String, i64)>("SELECT state, game FROM comparisons").await;
    assert_eq!(found, [("settled".to_owned(), 7)]);
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM events WHERE kind = 'dispute'").await, 0);
    let out = format!("SELECT state FROM accounts WHERE id = {}", eve.account);
    assert_eq!(lab.value::<String>(&out).await, "quarantined");
    // The audit is still to be made, and of another game nothing is known.
    lab.expire().await;
    assert_eq!(audit_of(&lab, 1).await, "wanted");
    let again = lab.audit(ann, "1").await.unwrap();
    lab.upload(ann, &again.token, &lab.with_wrong_game(&again, 0..10, 3, 1)).await.unwrap();
    lab.validate(NO_AUDIT).await;
    lab.compare().await;
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM shards WHERE state = 'disputed'").await, 2);
}

async fn an_audit_by_a_trusted_worker_is_given_out_again_as_a_ringer(lab: Lab) {
    lab.campaign("one").await;
    let (new, judge, eve) = (lab.player("new").await, lab.judge("judge").await, lab.player("eve").await);
    let lease = lab.lease(new, "1", 10).await;
    lab.deliver(new, &lease).await;
    lab.validate(ALL_AUDITS).await;
    let audit = lab.audit(judge, "1").await.unwrap();
    lab.deliver(judge, &audit).await;
    lab.validate(ALL_AUDITS).await;
    lab.compare().await;
    assert_eq!((audit_of(&lab, 1).await, audit_of(&lab, 2).await), ("clean".to_owned(), "wanted".to_owned()));
    let other = lab.judge("other").await;
    let auditor =
        |player: Player, is_trusted| Auditor { account: AccountId(player.account), proven_nodes: 0, is_trusted };
    for draw in 0..30 {
        lab.execute("UPDATE shards SET auditor_until = 0").await;
        let auditors = [auditor(other, true), auditor(eve, false)].into();
        lab.run(DrawAuditors { auditors, bench_signature: SIGNATURE as i64, draw: draw << 58 }).await.unwrap();
        assert_eq!(lab.value::<i64>("SELECT auditor FROM shards WHERE id = 2").await, eve.account);
    }
    let ringer = lab.lease(eve, "1", 10).await;
    assert_eq!((ringer.numbers(), &ringer.terms), (0..10, &lease.terms));
    lab.upload(eve, &ringer.token, &lab.with_wrong_game(&ringer, 0..10, 3, 1)).await.unwrap();
    lab.validate(NO_AUDIT).await;
    lab.compare().await;
    let states = lab.rows::<(String,)>("SELECT state FROM shards ORDER BY id").await;
    assert_eq!(states.into_iter().map(|state| state.0).collect::<Vec<_>>(), ["validated", "validated", "quarantined"]);
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM events WHERE kind = 'dispute'").await, 0);
    lab.expire().await;
    assert_eq!(audit_of(&lab, 2).await, "wanted", "another account is drawn");
}

async fn verified_games_are_counted_once(lab: Lab) {
    let (_, job) = lab.campaign("one").await;
    let (ann, new) = (lab.player("ann").await, lab.player("new").await);
    let lease = lab.lease(new, "1", 10).await;
    lab.deliver(new, &lease).await;
    lab.validate(ALL_AUDITS).await;
    // A further audit plays unverified games.
    for (nonce, games, clean) in [("1", 0..4, 4), ("2", 4..8, 8), ("3", 6..10, 10)] {
        lab.execute("UPDATE shards SET audit = 'wanted' WHERE id = 1").await;
        let protocol::api::work::Work::Games(again) = lab.request(ann, nonce, 4, ALL_AUDITS).await.unwrap() else {
            panic!("none")
        };
        assert_eq!(again.numbers(), games);
        lab.deliver(ann, &again).await;
        lab.validate(NO_AUDIT).await;
        lab.compare().await;
        assert_eq!(lab.value::<i64>("SELECT clean_games FROM accounts ORDER BY id DESC LIMIT 1").await, clean);
    }
    let audited = Audited::of(&crate::op!(lab.read, [], |c| counting::gate_shards(&mut c, JobId(job), 100)).unwrap());
    assert_eq!((audited.games, audited.clean, audited.waiting, audited.open), (10, 10, 0, 0), "each game once");
    // A shard that holds two pieces is one shard.
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM segments").await, 1, "an audit splits no segment");
    lab.execute("UPDATE segments SET games = 5 WHERE first = 0").await;
    lab.execute(&format!("INSERT INTO segments (job, first, games, state, shard) VALUES ({job}, 5, 5, 'held', 1)"))
        .await;
    lab.execute("UPDATE shards SET audited_games = 4 WHERE id = 1").await;
    let audited = Audited::of(&crate::op!(lab.read, [], |c| counting::gate_shards(&mut c, JobId(job), 100)).unwrap());
    assert_eq!((audited.games, audited.clean), (10, 4));
}

/// An audit with one game of many does not count as one.
async fn one_game_is_no_audit(lab: Lab) {
    lab.long_campaign().await;
    let (ann, eve) = (lab.player("ann").await, lab.player("eve").await);
    let lease = lab.lease(eve, "1", 100).await;
    let games = lease.games;
    lab.deliver(eve, &lease).await;
    lab.validate(ALL_AUDITS).await;
    let again = lab.audit(ann, "1").await.unwrap();
    lab.upload(ann, &again.token, &lab.played(&again, again.terms.first_game..again.terms.first_game + 1))
        .await
        .unwrap();
    lab.validate(NO_AUDIT).await;
    lab.compare().await;
    let clean = "SELECT clean_games FROM accounts ORDER BY id DESC LIMIT 1";
    assert_eq!(lab.value::<i64>(clean).await, 1, "of {games}");
    lab.clock.advance(HOUR);
    lab.expire().await;
    assert_eq!(audit_of(&lab, 1).await, "wanted");
}

/// A distrusted account confirms no others, even after its deletion. Deleting a quarantined account
/// does not hide the events about it.
async fn a_deleted_account_leaves_no_confirmations(lab: Lab) {
    let [ann, eve] = an_audit(&lab).await;
    lab.delete(ann).await;
    super::disputes::quarantine(&lab, ann).await;
    assert_eq!(audit_of(&lab, 1).await, "wanted");
    let said = format!("SELECT COUNT(*) FROM events WHERE subject = 'account:{}' AND kind = 'quarantine'", eve.account);
    super::disputes::quarantine(&lab, eve).await;
    lab.delete(eve).await;
    assert_eq!(lab.value::<i64>(&format!("{said} AND text LIKE '%left the pool%'")).await, 1);
}

async fn an_audited_shard_may_have_lost_its_games(lab: Lab) {
    lab.campaign("one").await;
    let (ann, new) = (lab.player("ann").await, lab.player("new").await);
    let lease = lab.lease(new, "1", 10).await;
    lab.clock.advance(HOUR);
    lab.expire().await;
    let other = lab.player("other").await;
    let theirs = lab.lease(other, "1", 10).await;
    lab.deliver(other, &theirs).await;
    lab.deliver(new, &lease).await;
    lab.validate(ALL_AUDITS).await;
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM segments WHERE shard = 2").await, 0);
    for nonce in ["1", "2"] {
        let again = lab.audit(ann, nonce).await.unwrap();
        assert_eq!(again.numbers(), 0..10);
        lab.deliver(ann, &again).await;
        lab.validate(NO_AUDIT).await;
        assert!(lab.compare().await >= 1);
    }
    assert_eq!(audit_of(&lab, 1).await, "clean");
    assert_eq!(audit_of(&lab, 2).await, "clean");
}

/// The same games from two accounts; the second leased them after the first released them.
async fn twice(lab: &Lab, first: Player, second: Player) {
    let lease = lab.lease(first, "1", 10).await;
    lab.release(first, &lease.token, 0).await.unwrap();
    let again = lab.lease(second, "1", 10).await;
    assert_eq!(again.numbers(), lease.numbers());
    lab.deliver(second, &again).await;
    lab.deliver(first, &lease).await;
    lab.validate(ALL_AUDITS).await;
    assert_eq!(lab.compare().await, 1);
}

const FOUND: &str = "SELECT audited_games, audit FROM shards ORDER BY id";

async fn two_accounts_do_not_certify_each_other(lab: Lab) {
    lab.campaign("one").await;
    let (ann, eve, eva) = (lab.player("ann").await, lab.player("eve").await, lab.player("eva").await);
    twice(&lab, eve, eva).await;
    let wanted = [(0, "wanted".to_owned()), (0, "wanted".to_owned())];
    assert_eq!(lab.rows::<(i64, String)>(FOUND).await, wanted);
    let clean = "SELECT CAST(SUM(clean_games) AS BIGINT) FROM accounts WHERE name LIKE 'ev%'";
    assert_eq!(lab.value::<i64>(clean).await, 0);
    // The same after a recomputation, when an auditor of theirs is quarantined.
    let again = lab.audit(ann, "1").await.unwrap();
    lab.deliver(ann, &again).await;
    lab.validate(NO_AUDIT).await;
    lab.compare().await;
    assert_eq!(lab.value::<i64>(clean).await, 10);
    super::disputes::quarantine(&lab, ann).await;
    assert_eq!(lab.rows::<(i64, String)>(FOUND).await[..2], wanted);
    assert_eq!(lab.value::<i64>(clean).await, 0);
}

async fn a_trusted_worker_without_an_audit_lease_is_believed(lab: Lab) {
    lab.campaign("one").await;
    let (new, judge) = (lab.player("new").await, lab.judge("judge").await);
    twice(&lab, new, judge).await;
    let found = lab.rows::<(i64, String)>(FOUND).await;
    assert_eq!(found[1], (10, "clean".to_owned()), "{found:?}");
}

async fn training_sets_wait_for_audits(lab: Lab) {
    let player = lab.player("player").await;
    let (id, _) = lab.campaign("one").await;
    let lease = lab.lease(player, "1", 16).await;
    lab.deliver(player, &lease).await;
    lab.validate(ALL_AUDITS).await;
    lab.play(player, 1).await;
    assert_eq!(set(&lab, id).await, [(16, 16)], "the audit of the first upload is open");
    lab.draw_auditors(&[player]).await;
    assert_eq!(set(&lab, id).await, [(0, 16), (16, 16)], "no account may audit it now");
}

/// The uploads in the training set of a campaign: their first games, and how many they have.
async fn set(lab: &Lab, campaign: i64) -> Vec<(i64, u64)> {
    let (campaign, now) = (CampaignId(campaign), lab.now());
    let set = lab.store.read(query!(|c| Nets::on(c).training_set(campaign, 0..=0, now).await));
    let set = set.await.unwrap().unwrap();
    let mut shards = Vec::new();
    for entry in Manifest::from_text(&set.text).unwrap().shards {
        let first: i64 = lab.value(&format!("SELECT first FROM shards WHERE hash = '{}'", entry.sha256)).await;
        shards.push((first, entry.games));
    }
    assert_eq!(set.games, shards.iter().map(|(_, games)| games).sum::<u64>());
    shards
}

async fn a_late_game_keeps_no_upload_out_of_training_sets(lab: Lab) {
    let (id, job) = lab.campaign("one").await;
    let (eve, ann) = (lab.player("eve").await, lab.player("ann").await);
    let lapsed = lab.lease(eve, "1", 16).await;
    lab.clock.advance(24 * HOUR);
    lab.expire().await;
    let lease = lab.lease(ann, "1", 16).await;
    assert_eq!(lease.numbers(), lapsed.numbers());
    assert_eq!(lab.upload(eve, &lapsed.token, &lab.played(&lapsed, 5..6)).await, Ok(ReceiptStatus::Received));
    lab.validate(NO_AUDIT).await;
    assert_eq!(set(&lab, id).await, [(5, 1)]);
    lab.deliver(ann, &lease).await;
    lab.validate(NO_AUDIT).await;
    let now = lab.now();
    let none = lab.store.read(query!(|c| Nets::on(c).training_set(CampaignId(id), 0..=0, now).await)).await.unwrap();
    assert!(none.is_none(), "the two are compared first");
    lab.compare().await;
    assert_eq!(lab.tally(job).await.games, 16);
    assert_eq!(set(&lab, id).await, [(0, 16)]);
}

/// It sees games before their audit.
async fn an_account_that_trains_audits_nothing(lab: Lab) {
    let (ann, tess) = (lab.player("ann").await, lab.player("tess").await);
    let auditors = async || {
        let fleet = lab.policy().await.fleet;
        fleet.auditors.iter().map(|auditor| auditor.account.0).collect::<Vec<_>>()
    };
    assert_eq!(auditors().await, [ann.account, tess.account]);
    lab.execute("UPDATE accounts SET role = 'trainer' WHERE name = 'tess'").await;
    assert_eq!(auditors().await, [ann.account]);
    lab.execute(&format!("UPDATE workers SET trusted = 1 WHERE id = {}", tess.worker)).await;
    assert_eq!(auditors().await, [ann.account, tess.account]);
}

async fn trust_is_for_later_uploads(lab: Lab) {
    lab.campaign("one").await;
    let (new, late) = (lab.player("new").await, lab.player("late").await);
    let trust = async || {
        let trust = TrustWorker { worker: WorkerId(late.worker), is_trusted: true, by: None };
        lab.run(trust).await.unwrap();
    };
    let lease = lab.lease(new, "1", 10).await;
    lab.release(new, &lease.token, 0).await.unwrap();
    let again = lab.lease(late, "1", 10).await;
    lab.deliver(late, &again).await;
    trust().await;
    lab.deliver(new, &lease).await;
    lab.validate(ALL_AUDITS).await;
    assert_eq!(lab.compare().await, 1);
    let open = (0, "wanted".to_owned());
    assert_eq!(lab.rows::<(i64, String)>(FOUND).await, [open.clone(), open]);
    trust().await;
    let after = format!("SELECT trusted_after FROM workers WHERE id = {}", late.worker);
    assert_eq!(lab.value::<i64>(&after).await, 1, "it is trusted since the first time");
}

async fn relatives_audit_each_other_for_want_of_others(lab: Lab) {
    lab.campaign("one").await;
    let (new, mate, other) = (lab.player("new").await, lab.player("mate").await, lab.player("other").await);
    let lease = lab.lease(new, "1", 10).await;
    lab.deliver(new, &lease).await;
    lab.validate(ALL_AUDITS).await;
    let auditor = |player: &Player| Auditor { account: AccountId(player.account), proven_nodes: 0, is_trusted: false };
    let drawn = async |players: &[Player]| {
        let mut found = BTreeSet::new();
        for draw in 0..30 {
            lab.execute("UPDATE shards SET auditor_until = 0").await;
            let auditors = players.iter().map(auditor).collect();
            let draw = draw << 58;
            lab.run(DrawAuditors { auditors, bench_signature: SIGNATURE as i64, draw }).await.unwrap();
            found.insert(lab.value::<i64>("SELECT auditor FROM shards").await);
        }
        found
    };
    let set = |players: &[Player]| players.iter().map(|player| player.account).collect::<BTreeSet<i64>>();
    assert_eq!(drawn(&[mate, other]).await, set(&[mate, other]), "they are strangers yet");
    let house = format!("UPDATE workers SET network = 'house' WHERE account IN ({}, {})", new.account, mate.account);
    lab.execute(&house).await;
    assert_eq!(drawn(&[mate, other]).await, set(&[other]), "one house");
    assert_eq!(drawn(&[mate]).await, set(&[mate]));
    lab.execute("UPDATE workers SET network = NULL").await;
    let invited = format!(
        "INSERT INTO invitations (hash, role, created_by, created, expires, used_by)
         VALUES ('h', 'volunteer', {}, 1, 1, {})",
        mate.account, new.account
    );
    lab.execute(&invited).await;
    assert_eq!(drawn(&[mate, other]).await, set(&[other]), "one invited the other");
}
