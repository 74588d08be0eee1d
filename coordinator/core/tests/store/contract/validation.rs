//! Validation of uploads.

use coordinator_core::{
    model::{AccountId, ValidationReport, WorkerId},
    ops::{
        leases::{AcquireLease, Caller},
        validation::ClaimShards,
    },
    rules::granting::Policy,
    store::{Accounts, Shards, Totals},
};
use protocol::api::{problem::Code, work::Ask};

use super::{cases, receiving::counted};
use crate::{
    common::lab::{Lab, NO_AUDIT, Object, lease_request},
    op,
};

cases! {
    a_shard_is_claimed_once
    an_expired_claim_is_open_to_others
    a_verdict_is_final
    rejected_games_are_played_again
    rejected_games_pass_to_other_uploads
    notices_repeat_until_acknowledged
    a_game_is_credited_once_to_each_account
    the_cost_of_a_game_is_estimated
    a_verdict_that_is_given_twice_in_quarantine_counts_once
    figures_cover_counted_games
}

async fn take(lab: &Lab, most: i64) -> Vec<i64> {
    let taken = lab.run(ClaimShards { limit: most, until: lab.now().after(60_000) }).await.unwrap();
    taken.into_iter().map(|task| task.shard.0).collect()
}

async fn a_shard_is_claimed_once(lab: Lab) {
    lab.campaign("one").await;
    let ann = lab.player("ann").await;
    for nonce in ["1", "2", "3", "4"] {
        let lease = lab.lease(ann, nonce, 10).await;
        lab.deliver(ann, &lease).await;
    }
    assert_eq!(op!(lab.read, [], |c| Shards::on(c.reborrow()).backlog()).unwrap(), 4);
    let (left, right) = tokio::join!(take(&lab, 2), take(&lab, 2));
    let mut all = [left, right, take(&lab, 4).await].concat();
    all.sort_unstable();
    assert_eq!(all, [1, 2, 3, 4]);
}

async fn an_expired_claim_is_open_to_others(lab: Lab) {
    lab.campaign("one").await;
    let ann = lab.player("ann").await;
    let lease = lab.lease(ann, "1", 10).await;
    lab.deliver(ann, &lease).await;
    assert_eq!(take(&lab, 9).await, [1]);
    lab.clock.advance(60_000);
    assert!(take(&lab, 9).await.is_empty());
    lab.clock.advance(1);
    assert_eq!(take(&lab, 9).await, [1]);
}

async fn a_verdict_is_final(lab: Lab) {
    let (_, job) = lab.campaign("one").await;
    let ann = lab.player("ann").await;
    let lease = lab.lease(ann, "1", 10).await;
    let object = lab.deliver(ann, &lease).await;
    let report = lab.replay(&object.hash(), &lease.terms);
    lab.judge_shard(1, report.clone(), NO_AUDIT).await;
    lab.judge_shard(1, None, NO_AUDIT).await;
    lab.judge_shard(1, report.clone(), NO_AUDIT).await;
    assert_eq!(counted(&lab, job).await, (10, 1_000));
    let lease = lab.lease(ann, "2", 10).await;
    lab.deliver(ann, &lease).await;
    lab.judge_shard(2, None, NO_AUDIT).await;
    lab.judge_shard(2, report, NO_AUDIT).await;
    assert_eq!(counted(&lab, job).await, (10, 1_000));
}

async fn rejected_games_are_played_again(lab: Lab) {
    let (_, job) = lab.campaign("one").await;
    let ann = lab.player("ann").await;
    let lease = lab.lease(ann, "1", 10).await;
    let object = Object { is_valid: false, ..lab.played(&lease, 0..10) };
    lab.upload(ann, &lease.token, &object).await.unwrap();
    lab.validate(NO_AUDIT).await;
    assert_eq!(counted(&lab, job).await, (0, 0));
    assert_eq!(lab.lease(ann, "2", 10).await.numbers(), 0..10);
    assert_eq!(lab.value::<String>("SELECT code FROM shards").await, Code::IllegalMove.name());
}

async fn rejected_games_pass_to_other_uploads(lab: Lab) {
    let (_, job) = lab.campaign("one").await;
    let (ann, bob, cid) = (lab.player("ann").await, lab.player("bob").await, lab.player("cid").await);
    let mut leases = Vec::new();
    for player in [ann, bob, cid] {
        leases.push((player, lab.lease(player, "1", 10).await));
        lab.clock.advance(1_000_000);
        lab.expire().await;
    }
    let bad = Object { is_valid: false, ..lab.played(&leases[0].1, 0..10) };
    lab.upload(ann, &leases[0].1.token, &bad).await.unwrap();
    lab.upload(bob, &leases[1].1.token, &lab.played(&leases[1].1, 0..6)).await.unwrap();
    lab.upload(cid, &leases[2].1.token, &lab.played(&leases[2].1, 4..9)).await.unwrap();
    lab.validate(NO_AUDIT).await;
    assert_eq!(counted(&lab, job).await, (9, 900));
    assert_eq!(lab.compare().await, 0, "with a shard that is none, nothing is compared");
    assert_eq!(lab.lease(ann, "2", 10).await.numbers(), 9..10);
}

async fn notices_repeat_until_acknowledged(lab: Lab) {
    lab.campaign("one").await;
    let ann = lab.player("ann").await;
    let lease = lab.lease(ann, "1", 10).await;
    let object = Object { is_valid: false, ..lab.played(&lease, 0..10) };
    lab.upload(ann, &lease.token, &object).await.unwrap();
    let reported = async || op!(lab.write, [], |c| Shards::on(c.reborrow()).notices(WorkerId(ann.worker))).unwrap();
    assert!(reported().await.is_empty());
    lab.validate(NO_AUDIT).await;
    let notices = reported().await;
    assert_eq!(notices.len(), 1);
    assert_eq!((notices[0].shard, notices[0].code.as_deref()), (Some(object.hash()), Some("illegal_move")));
    assert_eq!(reported().await, notices, "the answer may have been lost");
    let bob = lab.player("bob").await;
    for (player, nonce, left) in [(bob, "2", 1), (ann, "3", 0)] {
        let heard = vec![object.hash()];
        let ask = Ask { acknowledged: heard, ..lease_request(player.worker, nonce, 10) };
        let caller = Caller { account: AccountId(player.account), token: None, draw: NO_AUDIT | 1 };
        lab.run(AcquireLease { caller, ask, policy: Policy::default() }).await.unwrap();
        assert_eq!(reported().await.len(), left, "it is ann who has to hear it, and does");
    }
}

async fn a_game_is_credited_once_to_each_account(lab: Lab) {
    lab.campaign("one").await;
    let ann = lab.player("ann").await;
    let lease = lab.lease(ann, "1", 20).await;
    for games in [0..4, 8..10, 2..9, 0..20] {
        lab.upload(ann, &lease.token, &lab.played(&lease, games)).await.unwrap();
    }
    lab.validate(NO_AUDIT).await;
    let account = AccountId(ann.account);
    let total = op!(lab.read, [], |c| Accounts::on(c).contribution(account, 0)).unwrap();
    assert_eq!((total.games, total.positions), (20, 2_000));
    assert_eq!(op!(lab.read, [], |c| Accounts::on(c).rank(account)).unwrap(), Some(1));
    // An audit is credited to the auditor too.
    lab.execute("UPDATE shards SET audit = 'wanted' WHERE id = 1").await;
    let bob = lab.player("bob").await;
    let audit = lab.audit(bob, "2").await.unwrap();
    lab.deliver(bob, &audit).await;
    lab.validate(NO_AUDIT).await;
    let of_auditor = AccountId(bob.account);
    assert_eq!(op!(lab.read, [], |c| Accounts::on(c).contribution(of_auditor, 0)).unwrap().games, 4);
    assert_eq!(op!(lab.read, [], |c| Accounts::on(c).contribution(account, 0)).unwrap().games, 20);
}

async fn the_cost_of_a_game_is_estimated(lab: Lab) {
    let (_, job) = lab.campaign("one").await;
    let ann = lab.player("ann").await;
    lab.execute("UPDATE accounts SET proven_nodes = 0").await;
    for (shard, cost) in [(1, 66_600), (2, 66_600 - 33_300 * 10 / 110)] {
        let lease = lab.lease(ann, &shard.to_string(), 10).await;
        let object = lab.deliver(ann, &lease).await;
        let report = lab.replay(&object.hash(), &lease.terms).unwrap();
        lab.judge_shard(shard, Some(ValidationReport { positions: 500, ..report }), NO_AUDIT).await;
        let found: i64 = lab.value(&format!("SELECT nodes_per_game FROM jobs WHERE id = {job}")).await;
        assert_eq!(found, cost, "a stranger's games do not measure it");
    }
}

async fn a_verdict_that_is_given_twice_in_quarantine_counts_once(lab: Lab) {
    lab.campaign("one").await;
    let new = lab.player("new").await;
    let lease = lab.lease(new, "1", 10).await;
    let object = lab.deliver(new, &lease).await;
    super::disputes::quarantine(&lab, new).await;
    for _ in 0..2 {
        lab.judge_shard(1, lab.replay(&object.hash(), &lease.terms), NO_AUDIT).await;
    }
    let credited = "SELECT CAST(SUM(games) AS BIGINT) FROM contributions";
    assert_eq!(lab.value::<i64>(credited).await, 10);
    lab.judge_shard(1, None, NO_AUDIT).await;
    let state = lab.value::<String>("SELECT state FROM shards").await;
    assert_eq!(state, "quarantined", "the first verdict stands");
}

async fn figures_cover_counted_games(lab: Lab) {
    let (_, job) = lab.campaign("one").await;
    let (ann, bob) = (lab.player("ann").await, lab.player("bob").await);
    let figures = async || {
        let all = op!(lab.read, [], |c| Totals::on(c.reborrow()).selfplay_figures()).unwrap();
        (all.positions(), all.scores.iter().sum::<i64>(), all.repeated)
    };
    assert_eq!(figures().await, (0, 0, 0));
    for (player, nonce) in [(ann, "1"), (bob, "2")] {
        let lease = lab.lease(player, nonce, 10).await;
        lab.deliver(player, &lease).await;
    }
    assert_eq!(figures().await, (0, 0, 0), "what waits is not counted");
    lab.validate(NO_AUDIT).await;
    assert_eq!(figures().await, (20, 20, 0));
    super::disputes::quarantine(&lab, ann).await;
    assert_eq!(figures().await, (10, 10, 0));
    super::disputes::lift(&lab, ann).await;
    assert_eq!(figures().await, (20, 20, 0));
    let kept: String = lab.value(&format!("SELECT figures FROM figures WHERE job = {job}")).await;
    assert!(kept.len() < 1_000, "{kept}");
}
