//! Rechecks of decided matches after a quarantine.

use coordinator_core::{
    model::{CampaignId, JobId},
    store::{Campaigns, reports::net},
};
use dataset::Digest;
use protocol::campaign::Gate;
use stats::Decision;

use super::{
    campaigns::{gating, row, state_of, verdict},
    cases,
    disputes::{lift, quarantine},
};
use crate::{
    common::lab::{CAMPAIGN, Lab, NO_AUDIT, SIGNATURE},
    op,
};

cases! {
    a_gate_without_its_games_is_disputed_until_they_are_played
    a_lifted_quarantine_lets_it_stand_again
    a_gate_that_others_played_still_stands
    a_reversed_rejection_brings_the_net_back
    a_reversed_rejection_frees_a_stuck_campaign
    a_net_that_lost_to_a_former_champion_stays_rejected
    nets_are_marked_while_games_that_they_learned_from_are_in_quarantine
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
    let card = op!(lab.read, [], |c| net::card(&mut c, &net.to_string())).unwrap();
    let fallen: i64 = lab.value("SELECT CAST(SUM(games) AS BIGINT) FROM totals WHERE state = 'quarantined'").await;
    assert!(card.net.fallen_gate_games > 0 && card.net.fallen_gate_games < fallen, "{card:?}");
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

/// A strong candidate whose gate was lost by false reports, and then played by an honest account:
/// campaign and gate.
async fn reversed(lab: &Lab) -> (i64, i64) {
    let (judge, cheater) = (lab.judge("judge").await, lab.judge("broken").await);
    let (id, gate) = gating(lab, judge, 0).await;
    // A false report of a trusted worker that a strong candidate loses every game.
    for nonce in 0..4 {
        let lease = lab.lease(cheater, &nonce.to_string(), 16).await;
        let mut object = lab.played(&lease, lease.numbers());
        object.games.iter_mut().for_each(|game| *game &= !0xff);
        lab.upload(cheater, &lease.token, &object).await.unwrap();
    }
    lab.validate(NO_AUDIT).await;
    lab.drive(id).await;
    assert_eq!(row(lab, id).await.candidates, 1);
    assert_eq!(verdict(lab, gate).await.0.decision, Decision::AcceptH0);
    quarantine(lab, cheater).await;
    recheck(lab).await;
    assert_eq!(job_state(lab, gate).await, "open");
    lab.play(judge, 10).await;
    recheck(lab).await;
    recheck(lab).await;
    assert_eq!(job_state(lab, gate).await, "closed");
    let reported = "SELECT COUNT(*) FROM events WHERE kind = 'gate_reversed'";
    assert_eq!(lab.value::<i64>(reported).await, 1);
    (id, gate)
}

/// The net that a gate tested.
async fn net_of(lab: &Lab, gate: i64) -> Digest {
    let net: String = lab.value(&format!("SELECT net FROM jobs WHERE id = {gate}")).await;
    net.parse().unwrap()
}

async fn a_reversed_rejection_brings_the_net_back(lab: Lab) {
    let (id, gate) = reversed(&lab).await;
    let net = net_of(&lab, gate).await;
    assert_eq!(state_of(&lab, net).await, "rejected");
    assert!(lab.advance(id, SIGNATURE).await.unwrap());
    let back = row(&lab, id).await;
    assert_eq!((back.phase.name(), back.candidates, back.gate), ("gating", 0, Some(JobId(gate))));
    assert_eq!(state_of(&lab, net).await, "candidate");
    lab.drive(id).await;
    let campaign = row(&lab, id).await;
    assert_eq!((campaign.champion, campaign.generation), (Some(net), 1));
    assert_eq!(state_of(&lab, net).await, "promoted");
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM jobs WHERE reversed = 1").await, 0);
}

async fn a_reversed_rejection_frees_a_stuck_campaign(lab: Lab) {
    let (id, gate) = reversed(&lab).await;
    lab.execute("UPDATE campaigns SET state = 'stuck', candidates = 2").await;
    let advancing = op!(lab.read, [], |c| Campaigns::on(c).advancing()).unwrap();
    assert_eq!(advancing, [CampaignId(id)]);
    lab.drive(id).await;
    assert_eq!(row(&lab, id).await.champion, Some(net_of(&lab, gate).await));
    lab.execute("UPDATE campaigns SET state = 'stuck'").await;
    assert_eq!(op!(lab.read, [], |c| Campaigns::on(c).advancing()).unwrap(), []);
}

async fn a_net_that_lost_to_a_former_champion_stays_rejected(lab: Lab) {
    let (id, gate) = reversed(&lab).await;
    lab.execute(&format!("UPDATE jobs SET opponent = '{}' WHERE id = {gate}", "ab".repeat(32))).await;
    lab.drive(id).await;
    assert_eq!(state_of(&lab, net_of(&lab, gate).await).await, "rejected");
    assert_eq!(row(&lab, id).await.champion, None);
}

async fn nets_are_marked_while_games_that_they_learned_from_are_in_quarantine(lab: Lab) {
    let (judge, player) = (lab.judge("judge").await, lab.player("player").await);
    // Its candidate learned from the player's games.
    let (id, gate) = gating(&lab, player, 0).await;
    let learned: i64 = lab.value(&format!("SELECT games FROM manifests WHERE campaign = {id}")).await;
    let name = row(&lab, id).await.plan.name;
    let heir = CAMPAIGN.replace("\"test\"", &format!("\"heir\"\nlearns_from = [{name:?}]\npriority = 90"));
    let heir = lab.create(&heir).await.unwrap();
    lab.drive(heir).await;
    lab.play(player, 1).await;
    lab.play(judge, 2).await;
    lab.drive(heir).await;
    lab.train(judge, Digest::of(b"heir")).await;
    let own = "SELECT CAST(SUM(held_games) AS BIGINT) FROM shards JOIN jobs ON jobs.id = job WHERE kind = 'selfplay'";
    let own: i64 = lab.value(&format!("{own} AND account = {} AND campaign = {heir}", player.account)).await;
    let candidate = net_of(&lab, gate).await.to_string();
    lab.play(judge, 2).await;
    let fallen = async || {
        lab.count_fallen().await;
        let nets = op!(lab.read, [], |c| net::list(&mut c, None, 100)).unwrap();
        let of = |hash| nets.iter().find(|net| net.net == hash).unwrap().fallen_training_games;
        (of(candidate.clone()), of(Digest::of(b"heir").to_string()))
    };
    assert_eq!(fallen().await, (0, 0));
    quarantine(&lab, player).await;
    assert!(learned > 0 && own > 0);
    assert_eq!(fallen().await, (learned, learned + own), "the second net has two sets with games of the player");
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM jobs WHERE kind = 'selfplay' AND recheck > 0").await, 0);
    lift(&lab, player).await;
    assert_eq!(fallen().await, (0, 0));
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
