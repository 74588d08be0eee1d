//! Limits of the work lent to an account, and the price of faults.

use coordinator_core::{
    clock::{DAY, HOUR, SECOND},
    model::{AccountId, AccountKey, ShardId},
    ops::{leases::ExtendLeases, retention::ExpireRejected, settings::FollowClock, validation::RejectShard},
    reports,
    rules::granting::Policy,
};
use protocol::{
    api::{
        problem::Code,
        work::{ReceiptStatus, Work},
    },
    campaign::Gate,
};

use super::{cases, leases::a_match};
use crate::{
    common::lab::{ALL_AUDITS, Lab, NO_AUDIT, Object, Player},
    op,
};

cases! {
    an_audit_is_lent_as_well
    leases_that_lapse_together_are_one_fault
    downtime_of_the_coordinator_is_no_fault
    legal_games_prove_nothing_before_an_audit
    a_void_audit_proves_nothing
    a_late_pair_comes_before_new_ones
    games_uploaded_twice_are_missing_once
    bytes_that_the_coordinator_lost_are_no_fault
    a_wait_ends_a_day_after_the_clock_was_mended
    a_stranger_holds_seconds_of_a_core
    accepted_games_let_an_account_borrow_as_much_again
    a_trusted_worker_needs_no_proof
    an_account_that_holds_games_waits_longer_each_time
    games_of_a_late_lease_are_granted_a_second_time
    a_late_lease_that_drips_is_played_by_others
    games_held_in_vain_are_missed_although_others_played_them
    each_game_of_a_lease_is_received_once
    a_lease_with_rejected_uploads_takes_no_more
    a_pair_that_was_rejected_is_left_to_other_accounts
    an_account_that_fills_the_backlog_gets_no_selfplay
    a_dropped_audit_is_a_fault
    files_of_rejected_games_expire
}

/// Nodes that a stranger borrows, and that a fault costs at least.
const STRANGER_NODES: i64 = 4_000_000;

/// Games of so many nodes.
const STRANGER_GAMES: i64 = 60;

/// Requests games; the reason if there are none.
async fn ask(lab: &Lab, player: Player, nonce: &str) -> Result<i64, (u32, String)> {
    match lab.request(player, nonce, 300, NO_AUDIT).await.unwrap() {
        Work::Games(lease) => Ok(lease.games as i64),
        Work::Wait { seconds, reason } => Err((seconds, reason)),
    }
}

async fn standing(lab: &Lab, player: Player) -> (i64, i64) {
    let query = format!("SELECT proven_nodes, faults FROM accounts WHERE id = {}", player.account);
    lab.rows::<(i64, i64)>(&query).await[0]
}

/// A shard of a lease that does not replay.
fn rubbish(lab: &Lab, lease: &protocol::api::work::Lease) -> Object {
    Object { is_valid: false, ..lab.played(lease, lease.numbers()) }
}

async fn a_stranger_holds_seconds_of_a_core(lab: Lab) {
    lab.long_campaign().await;
    let (eve, ann) = (lab.stranger("eve").await, lab.player("ann").await);
    assert_eq!(ask(&lab, eve, "1").await, Ok(STRANGER_GAMES));
    for round in 2..64 {
        let other = lab.machine(eve.account, &format!("m{round}")).await;
        let (seconds, reason) = ask(&lab, other, "1").await.unwrap_err();
        assert!(seconds == 2 && reason.starts_with("a new account gets more games"), "{seconds} {reason}");
    }
    assert_eq!(lab.lease(ann, "1", 300).await.numbers(), 60..360);
}

async fn accepted_games_let_an_account_borrow_as_much_again(lab: Lab) {
    lab.long_campaign().await;
    let eve = lab.stranger("eve").await;
    for (nonce, games) in [("1", 60), ("2", 120), ("3", 240)] {
        let lease = lab.lease(eve, nonce, 300).await;
        assert_eq!(lease.games, games);
        lab.deliver(eve, &lease).await;
        assert!(ask(&lab, eve, "early").await.is_err_and(|(_, reason)| reason.contains("validated")), "{nonce}");
        lab.validate(NO_AUDIT).await;
    }
    assert_eq!(standing(&lab, eve).await, (420 * 66_600, 0));
    // An audit of another account's games proves work too, and the same games prove nothing twice.
    lab.execute("UPDATE shards SET audit = 'wanted' WHERE id = 1").await;
    let ann = lab.stranger("ann").await;
    let audit = lab.audit(ann, "1").await.unwrap();
    lab.deliver(ann, &audit).await;
    lab.validate(NO_AUDIT).await;
    assert_eq!(standing(&lab, ann).await, (60 * 66_600, 0));
}

async fn a_trusted_worker_needs_no_proof(lab: Lab) {
    lab.long_campaign().await;
    let judge = lab.judge("judge").await;
    lab.execute("UPDATE accounts SET proven_nodes = 0, waits_until = 9000000000000").await;
    assert_eq!(ask(&lab, judge, "1").await, Ok(300));
}

/// The attack: one account takes all games of a job, holds them until they expire, and takes them
/// again.
async fn an_account_that_holds_games_waits_longer_each_time(lab: Lab) {
    let (_, job) = lab.long_campaign().await;
    lab.execute(&format!("UPDATE jobs SET game_limit = 1000 WHERE id = {job}")).await;
    let (eve, ann) = (lab.stranger("eve").await, lab.player("ann").await);
    let mut waits = Vec::new();
    for round in 0..6 {
        let nonce = round.to_string();
        waits.push(ask(&lab, eve, &nonce).await.map_err(|(seconds, _)| seconds));
        assert_eq!(ask(&lab, ann, &nonce).await, Ok(300), "round {round}");
        lab.execute(
            "UPDATE segments SET state = 'open', lease = NULL WHERE lease IN (SELECT id FROM leases WHERE worker = 2)",
        )
        .await;
        lab.execute("DELETE FROM leases WHERE worker = 2").await;
        lab.clock.advance(901 * SECOND);
        lab.expire().await;
    }
    let games = Ok(STRANGER_GAMES);
    assert_eq!(waits, [games, games, games, Err(61), games, Err(121)], "two faults are free");
    assert_eq!(standing(&lab, eve).await, (0, 4));
    for (faults, seconds) in [(8, 1_920), (10, 7_680), (15, 86_400)] {
        lab.execute(&format!(
            "UPDATE accounts SET faults = {}, waits_until = 0 WHERE id = {}",
            faults - 1,
            eve.account
        ))
        .await;
        assert_eq!(ask(&lab, eve, &format!("f{faults}")).await, Ok(STRANGER_GAMES));
        lab.clock.advance(901 * SECOND);
        lab.expire().await;
        let (wait, reason) = ask(&lab, eve, "again").await.unwrap_err();
        assert_eq!(wait, seconds + 1, "{reason}");
    }
}

async fn games_of_a_late_lease_are_granted_a_second_time(lab: Lab) {
    let (_, job) = lab.long_campaign().await;
    lab.execute(&format!("UPDATE jobs SET game_limit = 100 WHERE id = {job}")).await;
    let (eve, ann) = (lab.player("eve").await, lab.player("ann").await);
    let late = lab.lease(eve, "1", 300).await;
    assert_eq!(late.numbers(), 0..100);
    lab.clock.advance(300 * SECOND);
    assert!(ask(&lab, ann, "1").await.is_err(), "it is not late yet");
    lab.clock.advance(SECOND);
    let other = lab.machine(eve.account, "other").await;
    for own in [eve, other] {
        assert!(ask(&lab, own, "2").await.is_err(), "its account has the games already");
    }
    let second = lab.lease(ann, "1", 60).await;
    assert_eq!(second.numbers(), 0..60);
    let third = lab.lease(ann, "2", 60).await;
    assert_eq!(third.numbers(), 60..100);
    assert!(ask(&lab, ann, "3").await.is_err(), "nothing is late any more");
    // The first result counts, and the second one is compared with it.
    lab.deliver(ann, &second).await;
    lab.validate(NO_AUDIT).await;
    assert_eq!(lab.tally(job).await.games, 60);
    lab.deliver(eve, &late).await;
    lab.validate(NO_AUDIT).await;
    assert_eq!((lab.tally(job).await.games, lab.compare().await), (100, 1));
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM leases WHERE state = 'done'").await, 2);
    lab.deliver(ann, &third).await;
    lab.validate(NO_AUDIT).await;
    assert_eq!((lab.tally(job).await.games, lab.compare().await), (100, 1));
    let held = "SELECT shard, games FROM segments ORDER BY first";
    assert_eq!(lab.rows::<(i64, i64)>(held).await, [(1, 60), (2, 40)]);
}

async fn a_late_lease_that_drips_is_played_by_others(lab: Lab) {
    let (_, job) = lab.long_campaign().await;
    lab.execute(&format!("UPDATE jobs SET game_limit = 100 WHERE id = {job}")).await;
    let (eve, ann) = (lab.player("eve").await, lab.player("ann").await);
    let lease = lab.lease(eve, "1", 300).await;
    lab.clock.advance(290 * SECOND);
    lab.upload(eve, &lease.token, &lab.played(&lease, 0..30)).await.unwrap();
    assert!(ask(&lab, ann, "1").await.is_err(), "it is not late yet");
    lab.clock.advance(11 * SECOND);
    assert_eq!(lab.lease(ann, "1", 300).await.numbers(), 30..100);
}

async fn games_held_in_vain_are_missed_although_others_played_them(lab: Lab) {
    let (_, job) = lab.long_campaign().await;
    lab.execute(&format!("UPDATE jobs SET game_limit = 100 WHERE id = {job}")).await;
    let (eve, ann) = (lab.player("eve").await, lab.player("ann").await);
    let late = lab.lease(eve, "1", 300).await;
    lab.upload(eve, &late.token, &lab.played(&late, 0..20)).await.unwrap();
    lab.clock.advance(302 * SECOND);
    let second = lab.lease(ann, "1", 300).await;
    lab.deliver(ann, &second).await;
    let before = standing(&lab, eve).await;
    lab.clock.advance(HOUR);
    assert_eq!(lab.expire().await, 1);
    let after = standing(&lab, eve).await;
    assert_eq!((before.0 - after.0, after.1), (80 * 66_600, 0));
}

async fn each_game_of_a_lease_is_received_once(lab: Lab) {
    lab.long_campaign().await;
    let eve = lab.player("eve").await;
    let lease = lab.lease(eve, "1", 10).await;
    let part = lab.played(&lease, 0..4);
    lab.upload(eve, &lease.token, &part).await.unwrap();
    assert_eq!(lab.upload(eve, &lease.token, &part).await, Ok(ReceiptStatus::Duplicate));
    for games in [0..4, 1..3] {
        let other = lab.with_wrong_game(&lease, games.clone(), games.start, 7);
        assert_eq!(lab.upload(eve, &lease.token, &other).await, Err(Code::Conflict));
    }
    assert_eq!(lab.upload(eve, &lease.token, &lab.played(&lease, 2..10)).await, Ok(ReceiptStatus::Received));
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM shards").await, 2);
}

async fn a_lease_with_rejected_uploads_takes_no_more(lab: Lab) {
    lab.long_campaign().await;
    let eve = lab.stranger("eve").await;
    let lease = lab.lease(eve, "1", 10).await;
    for upload in 0..4 {
        let part = Object { is_valid: false, ..lab.with_wrong_game(&lease, 0..4, 0, upload) };
        let received = lab.upload(eve, &lease.token, &part).await;
        assert_eq!(received, if upload < 3 { Ok(ReceiptStatus::Received) } else { Err(Code::LeaseLost) });
        lab.validate(NO_AUDIT).await;
    }
    assert_eq!(standing(&lab, eve).await, (0, 3));
    let (seconds, reason) = ask(&lab, eve, "2").await.unwrap_err();
    assert!(seconds == 61 && reason.contains("too often"), "{seconds} {reason}");
}

async fn a_pair_that_was_rejected_is_left_to_other_accounts(lab: Lab) {
    a_match(&lab, "match", Gate { most_pairs: 100, ..Gate::default() }).await;
    let (eve, ann) = (lab.player("eve").await, lab.player("ann").await);
    let first = lab.lease(eve, "1", 2).await;
    lab.upload(eve, &first.token, &rubbish(&lab, &first)).await.unwrap();
    lab.validate(NO_AUDIT).await;
    assert_eq!(lab.lease(eve, "2", 2).await.terms.first_game, 2);
    assert_eq!(lab.lease(ann, "1", 2).await.numbers(), 0..2);
}

async fn an_account_that_fills_the_backlog_gets_no_selfplay(lab: Lab) {
    lab.long_campaign().await;
    let (eve, ann) = (lab.player("eve").await, lab.player("ann").await);
    for nonce in ["1", "2", "3"] {
        let lease = lab.lease(eve, nonce, 2).await;
        lab.deliver(eve, &lease).await;
    }
    let policy = Policy { max_waiting: Some(2), ..lab.policy().await };
    let request = |player, nonce: &'static str| lab.request_under(&policy, player, nonce, 2, NO_AUDIT);
    let Work::Wait { reason, .. } = request(eve, "4").await.unwrap() else { panic!("she gets games") };
    assert!(reason.starts_with("3 uploads of the account wait"), "{reason}");
    assert!(matches!(request(ann, "1").await, Ok(Work::Games(_))));
    lab.validate(NO_AUDIT).await;
    assert!(matches!(request(eve, "4").await, Ok(Work::Games(_))));
}

async fn a_dropped_audit_is_a_fault(lab: Lab) {
    lab.long_campaign().await;
    let (eve, ann) = (lab.player("eve").await, lab.stranger("ann").await);
    let lease = lab.lease(eve, "1", 10).await;
    lab.deliver(eve, &lease).await;
    lab.validate(NO_AUDIT).await;
    for faults in 1..4 {
        lab.execute("UPDATE shards SET audit = 'wanted' WHERE id = 1").await;
        let audit = lab.audit(ann, &faults.to_string()).await.unwrap();
        assert_eq!(audit.numbers(), 0..10);
        lab.release(ann, &audit.token, 0).await.unwrap();
        assert_eq!(standing(&lab, ann).await, (0, faults));
    }
    assert!(ask(&lab, ann, "4").await.is_err_and(|(seconds, _)| seconds == 61));
    // So are games that are given back, even at once.
    let fresh = lab.lease(eve, "2", 10).await;
    let (before, _) = standing(&lab, eve).await;
    lab.release(eve, &fresh.token, fresh.terms.first_game).await.unwrap();
    assert!(standing(&lab, eve).await.0 < before);
    let (key, now) = (AccountKey::Id(AccountId(eve.account)), lab.now());
    let explained = op!(lab.read, [key], |c| reports::standing::explain(&mut c, now, &key)).unwrap();
    assert!(explained.iter().any(|line| line.contains("it gave a lease back: games ")), "{explained:#?}");
}

async fn files_of_rejected_games_expire(lab: Lab) {
    lab.long_campaign().await;
    let eve = lab.player("eve").await;
    for nonce in ["1", "2"] {
        let lease = lab.lease(eve, nonce, 2).await;
        lab.upload(eve, &lease.token, &rubbish(&lab, &lease)).await.unwrap();
        lab.validate(NO_AUDIT).await;
        lab.clock.advance(DAY);
    }
    let before = lab.now().after(-DAY);
    assert!(!lab.run(ExpireRejected { before }).await.unwrap());
    let objects = "SELECT object FROM shards ORDER BY id";
    assert_eq!(lab.rows::<(String,)>(objects).await, [("expired".to_owned(),), ("present".to_owned(),)]);
}

async fn leases_that_lapse_together_are_one_fault(lab: Lab) {
    lab.long_campaign().await;
    let eve = lab.stranger("eve").await;
    for nonce in ["1", "2", "3", "4"] {
        lab.lease(eve, nonce, 10).await;
    }
    lab.clock.advance(901 * SECOND);
    assert_eq!(lab.expire().await, 4);
    assert_eq!(standing(&lab, eve).await, (0, 1));
}

async fn downtime_of_the_coordinator_is_no_fault(lab: Lab) {
    lab.long_campaign().await;
    let eve = lab.stranger("eve").await;
    let lease = lab.lease(eve, "1", 10).await;
    lab.clock.advance(DAY);
    lab.run(ExtendLeases).await.unwrap();
    assert_eq!(lab.expire().await, 0);
    lab.clock.advance(899 * SECOND);
    lab.deliver(eve, &lease).await;
    lab.clock.advance(DAY);
    assert_eq!(lab.expire().await, 0);
    assert_eq!(standing(&lab, eve).await, (0, 0));
}

/// Plays games of an account, and their audit by another one.
async fn audited(lab: &Lab, player: Player, auditor: Player, nonce: &str) -> i64 {
    let lease = lab.lease(player, nonce, 300).await;
    lab.deliver(player, &lease).await;
    lab.validate(ALL_AUDITS).await;
    let audit = lab.audit(auditor, nonce).await.unwrap();
    assert_eq!(audit.numbers(), lease.numbers());
    lab.deliver(auditor, &audit).await;
    lab.validate(NO_AUDIT).await;
    assert_eq!(lab.compare().await, 1);
    lease.games as i64
}

/// The attack: random legal games, which cost nothing, are to prove work.
async fn legal_games_prove_nothing_before_an_audit(lab: Lab) {
    lab.long_campaign().await;
    let (eve, ann) = (lab.stranger("eve").await, lab.player("ann").await);
    for nonce in ["1", "2", "3"] {
        let lease = lab.lease(eve, nonce, 300).await;
        assert_eq!(lease.games as i64, STRANGER_GAMES);
        let forged = lab.with_wrong_game(&lease, lease.numbers(), lease.terms.first_game, 7);
        assert_eq!(lab.upload(eve, &lease.token, &forged).await, Ok(ReceiptStatus::Received));
        lab.validate(NO_AUDIT).await;
    }
    assert_eq!(standing(&lab, eve).await, (0, 0));
    assert_eq!(audited(&lab, eve, ann, "4").await, STRANGER_GAMES);
    assert_eq!(standing(&lab, eve).await, (5 * STRANGER_GAMES * 66_600, 0));
    assert_eq!(lab.lease(eve, "5", 300).await.games, 300);
}

async fn a_void_audit_proves_nothing(lab: Lab) {
    lab.long_campaign().await;
    let (eve, ann) = (lab.stranger("eve").await, lab.player("ann").await);
    let games = audited(&lab, eve, ann, "1").await;
    assert_eq!(standing(&lab, eve).await, (5 * games * 66_600, 0));
    super::disputes::quarantine(&lab, ann).await;
    assert_eq!(standing(&lab, eve).await, (0, 0));
}

async fn a_late_pair_comes_before_new_ones(lab: Lab) {
    a_match(&lab, "match", Gate { most_pairs: 100, ..Gate::default() }).await;
    let (eve, ann) = (lab.player("eve").await, lab.player("ann").await);
    assert_eq!(lab.lease(eve, "1", 2).await.numbers(), 0..2);
    assert_eq!(lab.lease(ann, "1", 2).await.numbers(), 2..4);
    lab.clock.advance(301 * SECOND);
    assert_eq!(lab.lease(eve, "2", 2).await.numbers(), 2..4, "her own are left to others");
    assert_eq!(lab.lease(ann, "2", 2).await.numbers(), 0..2);
}

async fn games_uploaded_twice_are_missing_once(lab: Lab) {
    lab.long_campaign().await;
    let eve = lab.player("eve").await;
    let lease = lab.lease(eve, "1", 100).await;
    for end in [10, 20, 50] {
        lab.upload(eve, &lease.token, &lab.played(&lease, 0..end)).await.unwrap();
    }
    let before = standing(&lab, eve).await.0;
    lab.clock.advance(HOUR);
    lab.expire().await;
    let price = before - standing(&lab, eve).await.0;
    assert_eq!(price, STRANGER_NODES.max(50 * 66_600), "of 80 uploaded games, 50 are different");
}

async fn bytes_that_the_coordinator_lost_are_no_fault(lab: Lab) {
    lab.long_campaign().await;
    let eve = lab.stranger("eve").await;
    let lease = lab.lease(eve, "1", 10).await;
    lab.deliver(eve, &lease).await;
    let (shard, detail) = (ShardId(1), "the stored bytes are gone".into());
    lab.run(RejectShard { shard, code: Code::Corrupt, detail, is_fault: false }).await.unwrap();
    assert_eq!(lab.value::<String>("SELECT state FROM shards").await, "rejected");
    assert_eq!(standing(&lab, eve).await, (0, 0));
}

async fn a_wait_ends_a_day_after_the_clock_was_mended(lab: Lab) {
    lab.long_campaign().await;
    let (eve, ann) = (lab.stranger("eve").await, lab.stranger("ann").await);
    let now = lab.now();
    lab.execute(&format!("UPDATE accounts SET waits_until = {} WHERE name = 'eve'", now.after(300 * DAY).0)).await;
    lab.execute(&format!("UPDATE accounts SET waits_until = {} WHERE name = 'ann'", now.after(HOUR).0)).await;
    lab.run(FollowClock).await.unwrap();
    lab.clock.advance(HOUR);
    assert!(ask(&lab, ann, "1").await.is_ok(), "it was not ahead");
    assert!(ask(&lab, eve, "1").await.is_err());
    lab.clock.advance(DAY);
    assert!(ask(&lab, eve, "2").await.is_ok());
}

async fn an_audit_is_lent_as_well(lab: Lab) {
    lab.long_campaign().await;
    let (ann, eve) = (lab.stranger("ann").await, lab.player("eve").await);
    let lease = lab.lease(eve, "1", 10).await;
    lab.deliver(eve, &lease).await;
    lab.validate(NO_AUDIT).await;
    lab.execute("UPDATE shards SET audit = 'wanted' WHERE id = 1").await;
    let fresh = lab.lease(ann, "1", 300).await;
    assert_eq!(fresh.games as i64, STRANGER_GAMES);
    assert!(lab.audit(ann, "2").await.is_none(), "she has borrowed all that she may");
    lab.deliver(ann, &fresh).await;
    lab.validate(NO_AUDIT).await;
    assert_eq!(lab.audit(ann, "3").await.unwrap().numbers(), lease.numbers());
}
