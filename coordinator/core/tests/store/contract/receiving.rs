//! Receiving uploads.

use coordinator_core::{
    clock::HOUR,
    model::{AccountId, LeaseToken},
    ops::uploads::expectation,
};
use protocol::api::{problem::Code, work::ReceiptStatus};

use super::cases;
use crate::{
    common::lab::{Lab, NO_AUDIT, code},
    op,
};

cases! {
    a_whole_lease
    the_beginning_and_then_the_rest
    a_repeated_upload_is_a_duplicate
    a_late_upload_is_accepted
    a_late_upload_displaces_no_other
    games_that_overlap_are_compared_and_counted_once
    games_outside_the_lease_are_rejected
    the_terms_of_an_upload_are_known
}

async fn a_whole_lease(lab: Lab) {
    let (_, job) = lab.campaign("one").await;
    let ann = lab.player("ann").await;
    let lease = lab.lease(ann, "1", 10).await;
    lab.deliver(ann, &lease).await;
    assert_eq!(lab.value::<String>("SELECT state FROM leases").await, "done");
    assert_eq!(counted(&lab, job).await, (0, 0), "before validation nothing counts");
    lab.validate(NO_AUDIT).await;
    assert_eq!(counted(&lab, job).await, (10, 1_000));
}

/// Counted games and positions.
pub(super) async fn counted(lab: &Lab, job: i64) -> (i64, i64) {
    let tally = lab.tally(job).await;
    (tally.games, tally.positions)
}

async fn the_beginning_and_then_the_rest(lab: Lab) {
    let (_, job) = lab.campaign("one").await;
    let ann = lab.player("ann").await;
    let lease = lab.lease(ann, "1", 10).await;
    lab.upload(ann, &lease.token, &lab.played(&lease, 0..4)).await.unwrap();
    assert_eq!(lab.value::<String>("SELECT state FROM leases").await, "active");
    lab.validate(NO_AUDIT).await;
    assert_eq!(counted(&lab, job).await, (4, 400));
    lab.upload(ann, &lease.token, &lab.played(&lease, 4..10)).await.unwrap();
    assert_eq!(lab.value::<String>("SELECT state FROM leases").await, "done");
    lab.validate(NO_AUDIT).await;
    assert_eq!(counted(&lab, job).await, (10, 1_000));
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM comparisons").await, 0);
}

async fn a_repeated_upload_is_a_duplicate(lab: Lab) {
    lab.campaign("one").await;
    let ann = lab.player("ann").await;
    let lease = lab.lease(ann, "1", 10).await;
    let object = lab.deliver(ann, &lease).await;
    assert_eq!(lab.upload(ann, &lease.token, &object).await, Ok(ReceiptStatus::Duplicate));
    let (left, right) = tokio::join!(lab.upload(ann, &lease.token, &object), lab.upload(ann, &lease.token, &object));
    assert_eq!((left, right), (Ok(ReceiptStatus::Duplicate), Ok(ReceiptStatus::Duplicate)));
    let other = lab.lease(ann, "2", 10).await;
    let object = lab.played(&other, other.numbers());
    let (left, right) = tokio::join!(lab.upload(ann, &other.token, &object), lab.upload(ann, &other.token, &object));
    assert_ne!(left.unwrap(), right.unwrap(), "one of them was first");
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM shards").await, 2);
}

async fn a_late_upload_is_accepted(lab: Lab) {
    let (_, job) = lab.campaign("one").await;
    let ann = lab.player("ann").await;
    let lease = lab.lease(ann, "1", 10).await;
    lab.clock.advance(HOUR);
    assert_eq!(lab.expire().await, 1);
    lab.deliver(ann, &lease).await;
    lab.validate(NO_AUDIT).await;
    assert_eq!(counted(&lab, job).await, (10, 1_000));
    assert_eq!(lab.lease(ann, "2", 10).await.numbers(), 10..20, "nothing of it is played again");
}

async fn a_late_upload_displaces_no_other(lab: Lab) {
    let (_, job) = lab.campaign("one").await;
    let (ann, bob) = (lab.player("ann").await, lab.player("bob").await);
    let lease = lab.lease(ann, "1", 10).await;
    lab.clock.advance(HOUR);
    lab.expire().await;
    let again = lab.lease(bob, "1", 10).await;
    assert_eq!(again.numbers(), 0..10);
    lab.upload(bob, &again.token, &lab.played(&again, 0..6)).await.unwrap();
    // Ann was faster with the rest, which Bob still plays.
    lab.deliver(ann, &lease).await;
    lab.validate(NO_AUDIT).await;
    assert_eq!(counted(&lab, job).await, (10, 1_000));
    let held =
        "SELECT segments.games, shards.account FROM segments JOIN shards ON shards.id = shard ORDER BY segments.first";
    assert_eq!(lab.rows::<(i64, i64)>(held).await, [(6, bob.account), (4, ann.account)]);
    lab.upload(bob, &again.token, &lab.played(&again, 6..10)).await.unwrap();
    lab.validate(NO_AUDIT).await;
    assert_eq!(lab.compare().await, 2);
    assert_eq!(lab.rows::<(String,)>("SELECT state FROM comparisons").await, [("equal".into(),), ("equal".into(),)]);
    assert_eq!(counted(&lab, job).await, (10, 1_000));
    let clean = "SELECT clean_games FROM accounts ORDER BY id";
    assert_eq!(lab.rows::<(i64,)>(clean).await, [(0,), (0,)], "it was not requested as an audit");
    assert_eq!(lab.value::<String>("SELECT state FROM leases WHERE account = 2").await, "done");
}

async fn games_that_overlap_are_compared_and_counted_once(lab: Lab) {
    let (_, job) = lab.campaign("one").await;
    let ann = lab.player("ann").await;
    let lease = lab.lease(ann, "1", 10).await;
    // The response to the first upload was lost, and the machine has played on since.
    lab.upload(ann, &lease.token, &lab.played(&lease, 0..4)).await.unwrap();
    lab.upload(ann, &lease.token, &lab.played(&lease, 0..7)).await.unwrap();
    lab.upload(ann, &lease.token, &lab.played(&lease, 2..10)).await.unwrap();
    lab.validate(NO_AUDIT).await;
    assert_eq!(counted(&lab, job).await, (10, 1_000));
    assert_eq!(lab.compare().await, 3);
    assert_eq!(lab.value::<i64>("SELECT clean_games FROM accounts").await, 0, "no account audits itself");
    assert_eq!(lab.rows::<(i64, i64)>("SELECT games, positions FROM contributions").await, [(10, 1_000)]);
}

async fn games_outside_the_lease_are_rejected(lab: Lab) {
    lab.campaign("one").await;
    let ann = lab.player("ann").await;
    let lease = lab.lease(ann, "1", 10).await;
    let next = lab.lease(ann, "2", 10).await;
    for bad in [8..12, 10..20, 0..0] {
        let object = lab.played(&lease, bad);
        assert_eq!(lab.upload(ann, &lease.token, &object).await, Err(Code::WrongGames));
    }
    assert_eq!(lab.upload(ann, "none", &lab.played(&next, 10..20)).await, Err(Code::NotFound));
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM shards").await, 0);
}

async fn the_terms_of_an_upload_are_known(lab: Lab) {
    lab.campaign("one").await;
    let (ann, bob) = (lab.player("ann").await, lab.player("bob").await);
    lab.lease(bob, "0", 10).await;
    let lease = lab.lease(ann, "1", 10).await;
    let expect = async |player: crate::common::lab::Player, first: u64| {
        let (account, token) = (AccountId(player.account), LeaseToken(lease.token.clone()));
        op!(lab.read, [token], |c| expectation(c.reborrow(), account, None, &token, first)).map_err(code)
    };
    let expected = expect(ann, 13).await.unwrap();
    assert_eq!((expected.games, expected.unit, expected.header.seed), (13..20, 1, lease.terms.seed));
    assert_eq!(expect(ann, 20).await.unwrap_err(), Code::WrongGames);
    assert_eq!(expect(ann, 9).await.unwrap_err(), Code::WrongGames);
    assert_eq!(expect(bob, 10).await.unwrap_err(), Code::NotOwner);
}
