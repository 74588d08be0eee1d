//! Leases: grants, renewal, release and expiry.

use coordinator_core::{
    clock::{HOUR, SECOND},
    model::AccountId,
    ops::leases::{AcquireLease, Caller},
    rules::granting::Policy,
};
use dataset::Header;
use protocol::{
    api::{
        problem::Code,
        work::{Ask, ReceiptStatus, Work},
    },
    campaign::{Campaign, Gate},
};

use super::cases;
use crate::common::lab::{CAMPAIGN, Lab, NO_AUDIT, SIGNATURE, code};

cases! {
    fresh_games_follow_each_other
    the_same_nonce_finds_the_same_lease
    two_coordinators_grant_one_lease_per_nonce
    the_nonce_of_an_ended_lease_grants_a_new_one
    pairs_are_never_split
    expired_games_are_granted_again
    games_released_by_a_fast_machine_are_split_for_slow_ones
    a_renewal_needs_progress
    games_are_released
    games_finished_before_a_release_are_awaited
    the_lease_of_another_account_is_not_accessible
    a_blocked_worker_gets_nothing
    a_new_worker_gets_little
    without_games_workers_wait
    a_new_net_is_begun_at_different_times
    games_that_no_lease_delivers_are_reported
    a_lease_ends_however_often_it_is_renewed
    a_worker_cannot_hoard_leases
    an_account_cannot_hoard_leases_with_many_machines
    a_lost_pair_is_left_to_other_accounts
}

/// A match whose start is not spread.
pub(super) async fn a_match(lab: &Lab, kind: &'static str, gate: Gate) -> i64 {
    let campaign = Campaign { gate, ..Campaign::from_text(CAMPAIGN).unwrap() };
    let header: Header = campaign.match_header(SIGNATURE, None, None, 5);
    let job = lab.create_match(kind, header, gate).await;
    lab.clock.advance(SECOND);
    job
}

async fn fresh_games_follow_each_other(lab: Lab) {
    let (_, job) = lab.campaign("one").await;
    let (ann, bob) = (lab.player("ann").await, lab.player("bob").await);
    let first = lab.lease(ann, "1", 10).await;
    let second = lab.lease(bob, "1", 5).await;
    assert_eq!((first.numbers(), second.numbers()), (0..10, 10..15));
    assert_eq!(first.terms.bench_signature, SIGNATURE);
    assert_eq!(first.seconds, 900, "the least that a lease lasts");
    assert_eq!(lab.value::<i64>(&format!("SELECT frontier FROM jobs WHERE id = {job}")).await, 15);
}

async fn the_same_nonce_finds_the_same_lease(lab: Lab) {
    lab.campaign("one").await;
    let ann = lab.player("ann").await;
    let first = lab.lease(ann, "1", 10).await;
    lab.clock.advance(60 * SECOND);
    let again = lab.lease(ann, "1", 20).await;
    assert_eq!((again.token, again.games, again.seconds), (first.token, 10, 840));
    assert_eq!(lab.lease(ann, "2", 10).await.numbers(), 10..20);
}

async fn two_coordinators_grant_one_lease_per_nonce(lab: Lab) {
    lab.campaign("one").await;
    let ann = lab.player("ann").await;
    let (left, right) = tokio::join!(lab.lease(ann, "1", 10), lab.lease(ann, "1", 10));
    assert_eq!(left.token, right.token);
}

async fn the_nonce_of_an_ended_lease_grants_a_new_one(lab: Lab) {
    lab.campaign("one").await;
    let ann = lab.player("ann").await;
    let first = lab.lease(ann, "1", 10).await;
    lab.deliver(ann, &first).await;
    assert_eq!(lab.lease(ann, "1", 10).await.numbers(), 10..20);
    lab.clock.advance(HOUR);
    assert_eq!(lab.expire().await, 1);
    let again = lab.lease(ann, "1", 10).await;
    assert_eq!(again.numbers(), 10..20);
    assert_ne!(again.token, first.token);
}

async fn pairs_are_never_split(lab: Lab) {
    let job = a_match(&lab, "match", Gate { nodes: 666, ..Gate::default() }).await;
    let ann = lab.player("ann").await;
    let lease = lab.lease(ann, "1", 7).await;
    assert_eq!(lease.numbers(), 0..6);
    for bad in [0..3, 1..3, 1..6] {
        let object = lab.played(&lease, bad);
        assert_eq!(lab.upload(ann, &lease.token, &object).await, Err(Code::WrongGames));
    }
    assert_eq!(lab.release(ann, &lease.token, 3).await, Err(Code::WrongGames));
    lab.upload(ann, &lease.token, &lab.played(&lease, 0..2)).await.unwrap();
    lab.release(ann, &lease.token, 4).await.unwrap();
    // One game is too few: the minimum is a pair.
    assert_eq!(lab.lease(ann, "2", 1).await.numbers(), 4..6);
    let odd = "SELECT COUNT(*) FROM segments WHERE first % 2 <> 0 OR games % 2 <> 0";
    assert_eq!(lab.value::<i64>(odd).await, 0);
    lab.execute(&format!("UPDATE jobs SET game_limit = 8 WHERE id = {job}")).await;
    assert_eq!(lab.lease(ann, "3", 10).await.numbers(), 6..8);
    assert!(matches!(lab.request(ann, "4", 10, NO_AUDIT).await, Ok(Work::Wait { .. })), "the match has no more");
}

async fn expired_games_are_granted_again(lab: Lab) {
    lab.campaign("one").await;
    let (ann, bob) = (lab.player("ann").await, lab.player("bob").await);
    let lease = lab.lease(ann, "1", 10).await;
    lab.upload(ann, &lease.token, &lab.played(&lease, 0..4)).await.unwrap();
    lab.clock.advance(901 * SECOND);
    assert_eq!((lab.expire().await, lab.expire().await), (1, 0));
    let again = lab.lease(bob, "1", 10).await;
    assert_eq!((again.numbers(), &again.terms.seed), (4..10, &lease.terms.seed));
    assert_eq!(lab.renew(ann, &lease.token, 5).await, Err(Code::LeaseLost));
    assert_eq!(lab.release(ann, &lease.token, 5).await, Ok(()), "it is over anyway");
    assert_eq!(lab.lease(bob, "2", 10).await.numbers(), 10..20);
}

async fn games_released_by_a_fast_machine_are_split_for_slow_ones(lab: Lab) {
    lab.long_campaign().await;
    let (ann, bob) = (lab.player("ann").await, lab.player("bob").await);
    let (one, two) = (lab.lease(ann, "1", 200).await, lab.lease(ann, "2", 3).await);
    lab.release(ann, &one.token, 0).await.unwrap();
    lab.release(ann, &two.token, 200).await.unwrap();
    assert_eq!(lab.lease(bob, "1", 5).await.numbers(), 0..5);
    assert_eq!(lab.lease(bob, "2", 300).await.numbers(), 5..203, "pieces that lie together are one lease");
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM segments").await, 2);
}

async fn a_renewal_needs_progress(lab: Lab) {
    lab.campaign("one").await;
    let ann = lab.player("ann").await;
    let lease = lab.lease(ann, "1", 10).await;
    assert_eq!(lab.renew(ann, &lease.token, 0).await, Err(Code::NoProgress));
    assert_eq!(lab.renew(ann, &lease.token, 11).await, Err(Code::Invalid));
    lab.clock.advance(800 * SECOND);
    assert_eq!(lab.renew(ann, &lease.token, 3).await, Ok(900));
    assert_eq!(lab.renew(ann, &lease.token, 3).await, Err(Code::NoProgress));
    lab.clock.advance(800 * SECOND);
    assert_eq!(lab.expire().await, 0);
    // Uploads are progress as well.
    lab.upload(ann, &lease.token, &lab.played(&lease, 0..5)).await.unwrap();
    lab.clock.advance(800 * SECOND);
    assert_eq!(lab.expire().await, 0);
    assert_eq!(lab.renew(ann, &lease.token, 5).await, Err(Code::NoProgress));
    lab.clock.advance(200 * SECOND);
    assert_eq!(lab.expire().await, 1);
    assert_eq!(lab.renew(ann, "no such lease", 3).await, Err(Code::NotFound));
}

async fn games_are_released(lab: Lab) {
    lab.campaign("one").await;
    let (ann, bob) = (lab.player("ann").await, lab.player("bob").await);
    let lease = lab.lease(ann, "1", 10).await;
    assert_eq!(lab.release(ann, &lease.token, 11).await, Err(Code::WrongGames));
    lab.upload(ann, &lease.token, &lab.played(&lease, 0..4)).await.unwrap();
    lab.release(ann, &lease.token, 4).await.unwrap();
    assert_eq!(lab.value::<String>("SELECT state FROM leases").await, "returned");
    assert_eq!(lab.lease(bob, "1", 6).await.numbers(), 4..10);
    assert_eq!(lab.renew(ann, &lease.token, 5).await, Err(Code::LeaseLost));
}

async fn games_finished_before_a_release_are_awaited(lab: Lab) {
    lab.campaign("one").await;
    let (ann, bob) = (lab.player("ann").await, lab.player("bob").await);
    for (nonce, comes) in [("1", true), ("2", false)] {
        let lease = lab.lease(ann, nonce, 10).await;
        let first = lease.terms.first_game;
        lab.release(ann, &lease.token, first + 4).await.unwrap();
        assert_eq!(lab.lease(bob, nonce, 6).await.numbers(), first + 4..first + 10);
        if comes {
            lab.upload(ann, &lease.token, &lab.played(&lease, first..first + 4)).await.unwrap();
        }
    }
    lab.clock.advance(HOUR);
    lab.expire().await;
    assert_eq!(lab.lease(bob, "3", 4).await.numbers(), 4..8, "what Ann delivered is not played again");
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM segments WHERE state = 'leased'").await, 1);
}

async fn the_lease_of_another_account_is_not_accessible(lab: Lab) {
    lab.campaign("one").await;
    let (ann, bob) = (lab.player("ann").await, lab.player("bob").await);
    let lease = lab.lease(ann, "1", 10).await;
    assert_eq!(lab.renew(bob, &lease.token, 3).await, Err(Code::NotOwner));
    assert_eq!(lab.release(bob, &lease.token, 0).await, Err(Code::NotOwner));
    let object = lab.played(&lease, 0..10);
    assert_eq!(lab.upload(bob, &lease.token, &object).await, Err(Code::NotOwner));
    let mixed = crate::common::lab::Player { account: bob.account, worker: ann.worker };
    assert_eq!(lab.request(mixed, "2", 10, NO_AUDIT).await.map_err(code), Err(Code::NotFound));
    // Another worker of the same account may upload the games.
    let second = lab.machine(ann.account, "second").await;
    assert_eq!(lab.upload(second, &lease.token, &object).await, Ok(ReceiptStatus::Received));
}

async fn a_blocked_worker_gets_nothing(lab: Lab) {
    lab.campaign("one").await;
    let ann = lab.player("ann").await;
    lab.execute("UPDATE workers SET blocked = 'too hot'").await;
    assert_eq!(lab.request(ann, "1", 10, NO_AUDIT).await.map_err(code), Err(Code::Blocked));
    lab.execute("UPDATE workers SET blocked = NULL").await;
    for state in ["pending", "blocked", "quarantined", "deleted"] {
        lab.execute(&format!("UPDATE accounts SET state = '{state}'")).await;
        assert_eq!(lab.request(ann, "1", 10, NO_AUDIT).await.map_err(code), Err(Code::Blocked), "{state}");
    }
}

/// The first accepted games come soon, whatever speed a new worker claims.
async fn a_new_worker_gets_little(lab: Lab) {
    lab.long_campaign().await;
    let ann = lab.player("ann").await;
    let ask = |nonce: &str| {
        let caller = Caller { account: AccountId(ann.account), token: None, draw: NO_AUDIT };
        let speed = Some(200_000);
        let nonce = nonce.to_owned();
        (
            caller,
            Ask {
                worker: ann.worker,
                nonce,
                threads: 1,
                nodes_per_second: speed,
                most_seconds: None,
                acknowledged: Vec::new(),
            },
        )
    };
    let mut games = Vec::new();
    for nonce in ["1", "2"] {
        let ((caller, ask), policy) = (ask(nonce), Policy::default());
        let answer = lab.run(AcquireLease { caller, ask, policy }).await;
        let Ok(Work::Games(lease)) = answer.map(|answer| answer.work) else { panic!("there are games") };
        games.push(lease.games);
        lab.execute("UPDATE leases SET state = 'done'").await;
    }
    assert!(games[1] > 5 * games[0], "{games:?}");
}

async fn without_games_workers_wait(lab: Lab) {
    let ann = lab.player("ann").await;
    let Work::Wait { seconds: 10, .. } = lab.request(ann, "1", 10, NO_AUDIT).await.unwrap() else { panic!("of what?") };
    lab.campaign("one").await;
    let caller = Caller { account: AccountId(ann.account), token: None, draw: NO_AUDIT };
    let policy = Policy { no_selfplay: Some("the disk is full".to_owned()), ..Policy::default() };
    let nonce = "1".to_owned();
    let ask = Ask {
        worker: ann.worker,
        nonce,
        threads: 1,
        nodes_per_second: None,
        most_seconds: None,
        acknowledged: Vec::new(),
    };
    let answer = lab.run(AcquireLease { caller, ask, policy }).await;
    let Work::Wait { reason, .. } = answer.unwrap().work else { panic!("the disk is full") };
    assert_eq!(reason, "the disk is full");
    lab.execute("UPDATE workers SET bench_signature = 1").await;
    let Work::Wait { seconds, reason } = lab.request(ann, "1", 10, NO_AUDIT).await.unwrap() else { panic!("too old") };
    assert!(seconds == 3_600 && reason.contains("update the worker"), "{reason}");
}

async fn a_new_net_is_begun_at_different_times(lab: Lab) {
    let mut players = Vec::new();
    for name in 0..20 {
        players.push(lab.player(&format!("p{name}")).await);
    }
    lab.campaign("one").await;
    lab.execute("UPDATE jobs SET spread = 600000").await;
    let mut begun = 0;
    for player in &players {
        begun += i32::from(matches!(lab.request(*player, "1", 1, NO_AUDIT).await.unwrap(), Work::Games(_)));
    }
    assert!(begun < 5, "{begun} of 20 at once");
    lab.clock.advance(300 * SECOND);
    for player in &players {
        begun += i32::from(matches!(lab.request(*player, "2", 1, NO_AUDIT).await.unwrap(), Work::Games(_)));
    }
    assert!((4..20).contains(&begun), "{begun} of 20 after half the time");
    lab.clock.advance(300 * SECOND);
    for player in &players {
        lab.lease(*player, "3", 1).await;
    }
}

async fn games_that_no_lease_delivers_are_reported(lab: Lab) {
    lab.campaign("one").await;
    let (ann, bob) = (lab.player("ann").await, lab.player("bob").await);
    let reported = "SELECT CAST(COUNT(*) AS BIGINT) FROM events WHERE kind = 'stall'";
    for attempt in 1..=5_i64 {
        assert_eq!(lab.value::<i64>(reported).await, 0, "at the attempt {attempt}");
        // Whatever the ranges.
        let lease = lab.lease(ann, &format!("{attempt}"), if attempt == 3 { 4 } else { 10 }).await;
        assert_eq!(lease.terms.first_game, 0);
        let query = format!("SELECT attempts FROM leases WHERE token = '{}'", lease.token);
        assert_eq!(lab.value::<i64>(&query).await, attempt);
        if attempt == 5 {
            break;
        }
        lab.clock.advance(HOUR);
        lab.expire().await;
        if attempt < 4 {
            // A voluntary release is not an attempt.
            let lease = lab.lease(bob, &format!("back{attempt}"), 10).await;
            lab.release(bob, &lease.token, 0).await.unwrap();
        }
    }
    lab.clock.advance(HOUR);
    lab.expire().await;
    assert_eq!(lab.value::<i64>(reported).await, 1);
    let text = lab.value::<String>("SELECT text FROM events WHERE kind = 'stall'").await;
    assert!(text.starts_with("games from 0 to 9 of job ") && text.ends_with("once more: 5 times by now"), "{text}");
    // The upload resets the attempts.
    let lease = lab.lease(bob, "1", 10).await;
    lab.deliver(bob, &lease).await;
    let next = lab.lease(bob, "2", 10).await;
    let query = format!("SELECT attempts FROM leases WHERE token = '{}'", next.token);
    assert_eq!(lab.value::<i64>(&query).await, 1);
}

async fn a_worker_cannot_hoard_leases(lab: Lab) {
    lab.long_campaign().await;
    let (ann, bob) = (lab.player("ann").await, lab.player("bob").await);
    let mut leases = Vec::new();
    for number in 0..64 {
        leases.push(lab.lease(ann, &format!("{number}"), 1).await);
    }
    let Work::Wait { reason, .. } = lab.request(ann, "more", 1, NO_AUDIT | 1).await.unwrap() else {
        panic!("one more")
    };
    assert_eq!(reason, "the worker has 64 leases that are not over: deliver their games first");
    // The same nonce still finds its lease. Another worker of the account gets games, and so does
    // the first after an upload.
    assert_eq!(lab.lease(ann, "63", 1).await.token, leases[63].token);
    lab.lease(lab.machine(ann.account, "other").await, "1", 1).await;
    lab.lease(bob, "1", 1).await;
    lab.deliver(ann, &leases[0]).await;
    lab.lease(ann, "more", 1).await;
}

/// Progress is only claimed, game by game.
async fn a_lease_ends_however_often_it_is_renewed(lab: Lab) {
    lab.long_campaign().await;
    let (eve, ann) = (lab.player("eve").await, lab.player("ann").await);
    let lease = lab.lease(eve, "1", 24).await;
    let mut renewals = 0;
    for finished in 1..24 {
        lab.clock.advance(10 * 60 * SECOND);
        lab.expire().await;
        if lab.renew(eve, &lease.token, finished).await.is_err() {
            break;
        }
        renewals += 1;
    }
    assert_eq!(renewals, 4, "three times a quarter of an hour");
    lab.expire().await;
    assert_eq!(lab.lease(ann, "1", 24).await.numbers(), lease.numbers());
    // Her late upload is accepted.
    assert_eq!(lab.upload(eve, &lease.token, &lab.played(&lease, 0..24)).await, Ok(ReceiptStatus::Received));
}

/// Workers are easily made up: an account has a thousand leases, plus the number it has fulfilled.
async fn an_account_cannot_hoard_leases_with_many_machines(lab: Lab) {
    lab.long_campaign().await;
    let ann = lab.player("ann").await;
    lab.lease(ann, "1", 1).await;
    let other = lab.machine(ann.account, "other").await;
    let worker = lab.machine(ann.account, "third").await.worker;
    let columns = "job, account, kind, state, games, duration, created, expires";
    lab.execute(&format!(
        "INSERT INTO leases (token, nonce, worker, first, {columns})
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 999)
         SELECT token || n, nonce || n, {worker}, first + n, {columns} FROM leases CROSS JOIN numbers"
    ))
    .await;
    let wait = async |nonce| match lab.request(other, nonce, 1, NO_AUDIT | 1).await.unwrap() {
        Work::Wait { reason, .. } => Some(reason),
        Work::Games(_) => None,
    };
    let expected = "the account has 1000 leases that are not over: deliver their games first";
    assert_eq!(wait("a").await.as_deref(), Some(expected));
    // One is fulfilled: one fewer active, and one more allowed.
    lab.execute("UPDATE leases SET state = 'done' WHERE id = (SELECT MAX(id) FROM leases)").await;
    assert_eq!([wait("b").await, wait("c").await], [None, None]);
    assert_eq!(wait("d").await.map(|reason| reason.replace("1001", "1000")).as_deref(), Some(expected));
    assert!(matches!(lab.request(lab.player("bob").await, "1", 1, NO_AUDIT | 1).await.unwrap(), Work::Games(_)));
}

/// A match is decided by its pairs up to the first gap.
async fn a_lost_pair_is_left_to_other_accounts(lab: Lab) {
    a_match(&lab, "match", Gate { most_pairs: 100, ..Gate::default() }).await;
    let (eve, ann) = (lab.player("eve").await, lab.player("ann").await);
    let first = lab.lease(eve, "1", 2).await;
    assert_eq!(first.numbers(), 0..2);
    lab.clock.advance(20 * 60 * SECOND);
    lab.expire().await;
    // She gets other pairs, and Ann, who was active recently, gets this one.
    assert_eq!(lab.lease(eve, "2", 2).await.terms.first_game, 2);
    let again = lab.lease(ann, "1", 2).await;
    assert_eq!(again.numbers(), 0..2);
    // When both have lost it, or no other account is active, it is for either.
    lab.clock.advance(20 * 60 * SECOND);
    lab.expire().await;
    assert_eq!(lab.lease(eve, "3", 2).await.terms.first_game, 0);
    lab.clock.advance(20 * 60 * SECOND);
    lab.expire().await;
    let third = lab.player("third").await;
    assert_ne!(lab.lease(eve, "4", 2).await.terms.first_game, 0, "the third has not lost it");
    lab.clock.advance(2 * HOUR);
    lab.expire().await;
    assert_eq!(lab.lease(eve, "5", 2).await.terms.first_game, 0, "no account was active for an hour");
    let _ = third;
}
