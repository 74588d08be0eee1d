//! Matches: their batches, verdicts and ends.

use std::collections::VecDeque;

use coordinator_core::{
    gate,
    model::{Fleet, JobId, NetState, Playing},
    ops::{matches::ConcludeMatches, nets::AddNet},
    rules::granting::Policy,
    store::{Jobs, Leases},
};
use protocol::{api::work::Work, campaign::Gate};
use stats::Decision;

use super::{
    campaigns::{gating, net, row, verdict},
    cases,
    receiving::counted,
};
use crate::{
    common::{
        lab::{Lab, NO_AUDIT, SIGNATURE, new_net},
        truth,
    },
    op,
};

cases! {
    matches_outside_of_campaigns_are_concluded
    a_gate_of_one_worker_stops_within_a_batch
    a_gate_that_awaits_its_verdict_gives_out_lost_games
    a_match_of_fixed_length_counts_all_of_its_pairs
    the_last_pairs_of_a_test_count
}

async fn matches_outside_of_campaigns_are_concluded(lab: Lab) {
    let judge = lab.judge("judge").await;
    let plan = Gate { nodes: 666, most_pairs: 40, elo1: 80.0, ..Gate::default() };
    let rating = super::leases::a_match(&lab, "rating", plan).await;
    let test = super::leases::a_match(&lab, "match", plan).await;
    let conclude = async || lab.conclude().await;
    assert_eq!(conclude().await, 0);
    lab.play(judge, 3).await;
    conclude().await;
    assert_eq!(lab.value::<String>(&format!("SELECT state FROM jobs WHERE id = {rating}")).await, "open");
    lab.play(judge, 20).await;
    conclude().await;
    for job in [rating, test] {
        assert_eq!(lab.value::<String>(&format!("SELECT state FROM jobs WHERE id = {job}")).await, "closed");
    }
    let (said, again) = verdict(&lab, test).await;
    assert_eq!(said, again);
    assert_eq!(counted(&lab, rating).await.0, 80, "a rating match is played to its end");
}

/// A match whose candidate has this strength, played to its end. Returns its verdict and the scores
/// of all pairs.
async fn finished(lab: &Lab, kind: &str, plan: Gate, strength: usize) -> (gate::Verdict, Vec<u8>) {
    let judge = lab.judge(&format!("judge-{kind}-{}", plan.most_pairs)).await;
    let seed = (1..100).find(|seed| truth::strength(*seed) == strength).unwrap();
    let header = plan.header(xiangqi::rules::RuleSet::Cxr, SIGNATURE, Some(net(1)), None, seed);
    let job = lab.create_match(kind, header.clone(), plan).await;
    lab.clock.advance(1_000);
    lab.play(judge, plan.most_pairs).await;
    lab.run(ConcludeMatches::prepare(&lab.store).await.unwrap()).await.unwrap();
    let decision: String = lab.value(&format!("SELECT decision FROM jobs WHERE id = {job}")).await;
    let decided: gate::Decided = serde_json::from_str(&decision).unwrap();
    assert!(decided.elo.is_some(), "{decision}");
    let games: Vec<_> = (0..u64::from(plan.most_pairs) * 2).map(|number| truth::game(&header, number)).collect();
    (decided.verdict, truth::pairs(&games))
}

async fn a_match_of_fixed_length_counts_all_of_its_pairs(lab: Lab) {
    lab.run(AddNet { net: new_net(net(1), NetState::Base) }).await.unwrap();
    for pairs in [4, 12, 32, 64] {
        let plan = Gate { nodes: 666, most_pairs: pairs, elo1: 80.0, ..Gate::default() };
        let (verdict, played) = finished(&lab, "rating", plan, 1).await;
        let found = (verdict.pairs, verdict.counts, verdict.decision);
        assert_eq!(found, (u64::from(pairs), gate::counts(&played), Decision::Continue));
    }
}

async fn the_last_pairs_of_a_test_count(lab: Lab) {
    lab.run(AddNet { net: new_net(net(1), NetState::Base) }).await.unwrap();
    // Hypotheses so close to each other that 20 pairs decide nothing.
    let plan = Gate { nodes: 666, most_pairs: 20, elo1: 1.0, ..Gate::default() };
    let (verdict, played) = finished(&lab, "match", plan, 2).await;
    assert_eq!((verdict.pairs, verdict.counts), (20, gate::counts(&played)));
}

/// A worker alone requests the next batch before its last one is judged, as workers do. It gets one
/// batch ahead and no more, so a single batch is for nothing. A gate that begins is shown live, and
/// its heartbeats are counted.
async fn a_gate_of_one_worker_stops_within_a_batch(lab: Lab) {
    let judge = lab.judge("judge").await;
    let (id, gate) = gating(&lab, judge, 0).await;
    let shown: String = lab.value("SELECT value FROM settings WHERE name = 'live'").await;
    assert!(shown.contains(&format!("\"job\":{gate}")), "{shown}");
    let fleet = Fleet { active: Some(1), ..Fleet::default() };
    let mut policy = Policy { fleet, ..Policy::default() };
    let (batch, mut at_hand) = (4, VecDeque::new());
    for number in 0..60 {
        let nonce = format!("gate-{number}");
        match lab.request_under(&policy, judge, &nonce, 1_000, NO_AUDIT).await.unwrap() {
            Work::Games(lease) => {
                assert_eq!(lease.games, 2 * batch, "one batch at a time");
                lab.clock.advance(1);
                lab.renew(judge, &lease.token, 3).await.unwrap();
                at_hand.push_back(lease);
                let games = 2 * batch as i64 * at_hand.len() as i64;
                let playing = op!(lab.read, [], |c| Leases::on(c).playing(Some(JobId(gate)))).unwrap();
                assert_eq!(playing, Playing { games, finished: 3 * at_hand.len() as i64 });
                assert!(at_hand.len() <= 2, "one batch is played while another is judged");
            }
            Work::Wait { seconds, reason } => {
                assert_eq!((at_hand.len(), seconds), (2, 1), "{reason}");
                let lease = at_hand.pop_front().expect("two are at hand");
                lab.deliver(judge, &lease).await;
                lab.clock.advance(1);
                lab.validate(NO_AUDIT).await;
                let seen = op!(lab.read, [], |c| Jobs::on(c).counted_in_tests()).unwrap();
                assert_eq!(seen, [(JobId(gate), policy.judged.get(&JobId(gate)).unwrap_or(&0) + 2 * batch as i64)]);
                // Validated games are not judged yet: a request in between waits too.
                let between = lab.request_under(&policy, judge, &format!("{nonce}-early"), 1_000, NO_AUDIT).await;
                assert!(matches!(between, Ok(Work::Wait { seconds: 1, .. })), "{between:?}");
                lab.drive(id).await;
                policy.judged = seen.into_iter().collect();
                if row(&lab, id).await.phase.name() != "gating" {
                    break;
                }
            }
        }
    }
    assert_eq!(row(&lab, id).await.generation, 1, "the stronger candidate is promoted");
    let (said, _) = verdict(&lab, gate).await;
    let frontier: i64 = lab.value(&format!("SELECT frontier FROM jobs WHERE id = {gate}")).await;
    let leased = said.pairs as i64 * 2 + 2 * batch as i64;
    assert_eq!((said.decision, frontier), (Decision::AcceptH1, leased), "one batch was for nothing");
}

/// Lost games are played again although a verdict is awaited: it needs them.
async fn a_gate_that_awaits_its_verdict_gives_out_lost_games(lab: Lab) {
    let judge = lab.judge("judge").await;
    let (_, gate) = gating(&lab, judge, 0).await;
    let fleet = Fleet { active: Some(1), ..Fleet::default() };
    let policy = Policy { fleet, ..Policy::default() };
    let mut leases = Vec::new();
    for number in 0..2 {
        let work = lab.request_under(&policy, judge, &format!("lost-{number}"), 1_000, NO_AUDIT).await.unwrap();
        let Work::Games(lease) = work else { panic!("there are pairs left") };
        leases.push(lease);
    }
    let wait = lab.request_under(&policy, judge, "wait", 1_000, NO_AUDIT).await.unwrap();
    assert!(matches!(wait, Work::Wait { .. }), "{wait:?}");
    lab.release(judge, &leases[0].token, leases[0].terms.first_game).await.unwrap();
    let work = lab.request_under(&policy, judge, "again", 1_000, NO_AUDIT).await.unwrap();
    let Work::Games(again) = work else { panic!("the first batch is open again: {work:?}") };
    assert_eq!((again.terms.first_game, again.games), (leases[0].terms.first_game, leases[0].games));
    let frontier: i64 = lab.value(&format!("SELECT frontier FROM jobs WHERE id = {gate}")).await;
    assert_eq!(frontier as u64, leases.iter().map(|lease| lease.games).sum::<u64>());
}
