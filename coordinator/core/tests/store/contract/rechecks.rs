//! Rechecks of decided matches after a quarantine.

use protocol::campaign::Gate;
use stats::Decision;

use super::{
    campaigns::{gating, row, state_of, verdict},
    cases,
    disputes::{lift, quarantine},
};
use crate::common::lab::{Lab, NO_AUDIT};

cases! {
    a_gate_without_its_games_is_disputed_until_they_are_played
    a_lifted_quarantine_lets_it_stand_again
    a_gate_that_others_played_still_stands
    a_reversed_rejection_is_reported
    a_rating_is_played_to_its_end_again
}

async fn recheck(lab: &Lab) -> u64 {
    lab.recheck().await
}

async fn job_state(lab: &Lab, job: i64) -> String {
    lab.value(&format!("SELECT state FROM jobs WHERE id = {job}")).await
}

async fn a_gate_without_its_games_is_disputed_until_they_are_played(lab: Lab) {
    let (judge, second) = (lab.judge("judge").await, lab.judge("second").await);
    let (id, gate) = gating(&lab, judge, 0).await;
    lab.play(judge, 8).await;
    lab.drive(id).await;
    let net = row(&lab, id).await.champion.unwrap();
    assert_eq!(recheck(&lab).await, 0);
    quarantine(&lab, judge).await;
    recheck(&lab).await;
    assert_eq!((state_of(&lab, net).await, job_state(&lab, gate).await), ("disputed".into(), "open".into()));
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM events WHERE kind = 'disputed'").await, 1);
    recheck(&lab).await;
    lab.play(second, 10).await;
    recheck(&lab).await;
    assert_eq!((state_of(&lab, net).await, job_state(&lab, gate).await), ("promoted".into(), "closed".into()));
    let (said, again) = verdict(&lab, gate).await;
    assert_eq!(said, again);
    assert_eq!(recheck(&lab).await, 0);
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM events WHERE kind = 'disputed'").await, 1);
}

async fn a_lifted_quarantine_lets_it_stand_again(lab: Lab) {
    let judge = lab.judge("judge").await;
    let (id, gate) = gating(&lab, judge, 0).await;
    lab.play(judge, 8).await;
    lab.drive(id).await;
    let net = row(&lab, id).await.champion.unwrap();
    quarantine(&lab, judge).await;
    recheck(&lab).await;
    assert_eq!(state_of(&lab, net).await, "disputed");
    lift(&lab, judge).await;
    recheck(&lab).await;
    assert_eq!((state_of(&lab, net).await, job_state(&lab, gate).await), ("promoted".into(), "closed".into()));
}

async fn a_gate_that_others_played_still_stands(lab: Lab) {
    let (judge, second) = (lab.judge("judge").await, lab.judge("second").await);
    let (id, gate) = gating(&lab, judge, 0).await;
    lab.play(judge, 8).await;
    // The second played after the decision.
    lab.execute(&format!("UPDATE jobs SET game_limit = 1000 WHERE id = {gate}")).await;
    lab.play(second, 1).await;
    lab.drive(id).await;
    quarantine(&lab, second).await;
    recheck(&lab).await;
    let net = row(&lab, id).await.champion.unwrap();
    assert_eq!((state_of(&lab, net).await, job_state(&lab, gate).await), ("promoted".into(), "closed".into()));
}

async fn a_reversed_rejection_is_reported(lab: Lab) {
    let (judge, cheater) = (lab.judge("judge").await, lab.judge("broken").await);
    let (id, gate) = gating(&lab, judge, 0).await;
    // A false report of a trusted worker that a strong candidate loses every game.
    for nonce in 0..4 {
        let lease = lab.lease(cheater, &nonce.to_string(), 16).await;
        let mut object = lab.played(&lease, lease.numbers());
        object.games.iter_mut().for_each(|game| *game &= !0xff);
        lab.upload(cheater, &lease.token, &object).await.unwrap();
    }
    lab.validate(NO_AUDIT).await;
    lab.drive(id).await;
    assert_eq!(row(&lab, id).await.candidates, 1);
    assert_eq!(verdict(&lab, gate).await.0.decision, Decision::AcceptH0);
    quarantine(&lab, cheater).await;
    recheck(&lab).await;
    assert_eq!(job_state(&lab, gate).await, "open");
    lab.play(judge, 10).await;
    recheck(&lab).await;
    recheck(&lab).await;
    assert_eq!(job_state(&lab, gate).await, "closed");
    let reported = "SELECT COUNT(*) FROM events WHERE kind = 'gate_reversed'";
    assert_eq!(lab.value::<i64>(reported).await, 1);
}

async fn a_rating_is_played_to_its_end_again(lab: Lab) {
    let (judge, second) = (lab.judge("judge").await, lab.judge("second").await);
    let plan = Gate { nodes: 666, most_pairs: 20, ..Gate::default() };
    let job = super::leases::a_match(&lab, "rating", plan).await;
    lab.play(judge, 2).await;
    lab.play(second, 9).await;
    let conclude = async || lab.conclude().await;
    assert_eq!(conclude().await, 1);
    quarantine(&lab, second).await;
    recheck(&lab).await;
    assert_eq!((job_state(&lab, job).await, conclude().await), ("open".into(), 0));
    lab.play(judge, 9).await;
    assert_eq!((conclude().await, job_state(&lab, job).await), (1, "closed".into()));
    assert_eq!((recheck(&lab).await, conclude().await), (0, 0));
}
