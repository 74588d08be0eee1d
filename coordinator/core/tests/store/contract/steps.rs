//! Work in steps, so that no operation grows: reviews of uploads, and manifests.

use coordinator_core::{
    model::{AccountId, CampaignId},
    ops::{
        campaigns::{AdvanceCampaign, DropUnusedParts, EditCampaign},
        disputes::{ReviewShards, SetQuarantine},
    },
};
use protocol::api::problem::Code;

use super::{
    campaigns::{gating, row},
    cases,
    disputes::quarantine,
};
use crate::common::lab::{CAMPAIGN, Lab, NO_AUDIT, Player, SIGNATURE, code};

cases! {
    a_review_in_steps_survives_a_restart_and_delays_decisions
    a_quarantine_that_ends_before_its_review_loses_nothing
    no_training_begins_without_its_whole_manifest
    no_training_begins_from_outdated_sets
}

async fn states(lab: &Lab) -> Vec<String> {
    lab.rows::<(String,)>("SELECT state FROM shards ORDER BY id").await.into_iter().map(|row| row.0).collect()
}

async fn account(lab: &Lab, player: Player) -> String {
    lab.value(&format!("SELECT state FROM accounts WHERE id = {}", player.account)).await
}

/// Marks an account, without the review of its shards.
async fn mark(lab: &Lab, player: Player, begins: bool) {
    let (account, reason) = (AccountId(player.account).into(), "by hand".into());
    lab.run(SetQuarantine { account, begins, by: None, reason }).await.unwrap();
}

async fn a_review_in_steps_survives_a_restart_and_delays_decisions(lab: Lab) {
    let (judge, second) = (lab.judge("judge").await, lab.judge("second").await);
    let (id, gate) = gating(&lab, judge, 0).await;
    lab.play(judge, 8).await;
    let pairs: i64 = lab.tally(gate).await.games;
    mark(&lab, judge, true).await;
    assert_eq!(account(&lab, judge).await, "quarantined");
    assert_eq!(lab.request(judge, "1", 2, NO_AUDIT).await.map_err(code).err(), Some(Code::Blocked));
    // The gate is passed by the games that still count. Nothing is decided by them.
    lab.drive(id).await;
    assert_eq!((lab.conclude().await, lab.recheck().await), (0, 0));
    assert_eq!(row(&lab, id).await.phase.name(), "gating");
    assert_eq!(lab.tally(gate).await.games, pairs);
    // Each step is a transaction, and the row of the review holds how far they came.
    let mut steps = 0;
    while lab.run(ReviewShards { limit: 1 }).await.unwrap() {
        steps += 1;
    }
    assert!(steps > 2 && lab.tally(gate).await.games == 0, "{steps} steps");
    assert!(!states(&lab).await.iter().any(|state| state == "validated"));
    let events: Vec<(String,)> = lab.rows("SELECT data FROM events WHERE kind = 'quarantine'").await;
    assert_eq!(events.len(), 1);
    let uploads = states(&lab).await.len();
    assert!(events[0].0.contains(&format!("\"uploads\":{uploads}")), "{events:?} of {uploads}");
    lab.play(second, 10).await;
    lab.drive(id).await;
    assert_eq!(row(&lab, id).await.generation, 1, "others play the gate again");
}

async fn a_quarantine_that_ends_before_its_review_loses_nothing(lab: Lab) {
    let player = lab.player("player").await;
    let (_, job) = lab.campaign("loop").await;
    lab.play(player, 4).await;
    let games = lab.tally(job).await.games;
    mark(&lab, player, true).await;
    for _ in 0..2 {
        assert!(lab.run(ReviewShards { limit: 1 }).await.unwrap());
    }
    assert!((1..games).contains(&lab.tally(job).await.games));
    mark(&lab, player, false).await;
    lab.review().await;
    assert_eq!((lab.tally(job).await.games, account(&lab, player).await), (games, "active".into()));
    assert!(states(&lab).await.iter().all(|state| state == "validated"));
    let kinds = "SELECT kind FROM events WHERE kind LIKE 'quarantine%' ORDER BY id";
    let kinds: Vec<(String,)> = lab.rows(kinds).await;
    assert_eq!(kinds.into_iter().map(|row| row.0).collect::<Vec<_>>(), ["quarantine", "quarantine_lifted"]);
}

async fn no_training_begins_without_its_whole_manifest(lab: Lab) {
    let judge = lab.judge("judge").await;
    let (id, _) = lab.campaign("one").await;
    lab.play(judge, 2).await;
    let advance = AdvanceCampaign::prepare(&lab.store, CampaignId(id), SIGNATURE, 0, lab.now()).await.unwrap();
    let parts = "SELECT COUNT(*) FROM manifest_parts";
    assert!(lab.value::<i64>(parts).await > 0);
    // A coordinator was killed between two parts, or another one dropped them.
    while lab.run(DropUnusedParts).await.unwrap() {}
    assert_eq!(lab.value::<i64>(parts).await, 0);
    assert!(!lab.run(advance).await.unwrap());
    assert_eq!(row(&lab, id).await.phase.name(), "collecting");
    // The next call stores them again.
    lab.drive(id).await;
    assert_eq!(row(&lab, id).await.phase.name(), "training");
    assert!(!lab.run(DropUnusedParts).await.unwrap(), "the parts of a training set stay");
}

async fn no_training_begins_from_outdated_sets(lab: Lab) {
    let (judge, player) = (lab.judge("judge").await, lab.player("player").await);
    lab.campaign("one").await;
    lab.play(player, 1).await;
    lab.play(judge, 2).await;
    let text = CAMPAIGN.replace("\"test\"", "\"two\"\npriority = 90\nlearns_from = [\"one\"]");
    let id = lab.create(&text).await.unwrap();
    assert!(lab.advance(id, SIGNATURE).await.unwrap(), "it plays");
    lab.play(judge, 2).await;
    let prepare = async || AdvanceCampaign::prepare(&lab.store, CampaignId(id), SIGNATURE, 0, lab.now()).await.unwrap();
    let edit = async |text: &str| {
        lab.run(EditCampaign { campaign: CampaignId(id).into(), text: text.to_owned(), seen: None, by: None })
            .await
            .unwrap();
    };
    let advance = prepare().await;
    edit(&text.replace("learns_from = [\"one\"]", "")).await;
    assert!(!lab.run(advance).await.unwrap(), "it learns from no other campaign now");
    edit(&text).await;
    let advance = prepare().await;
    quarantine(&lab, player).await;
    assert!(!lab.run(advance).await.unwrap(), "games of the other campaign were withdrawn");
    assert_eq!(row(&lab, id).await.phase.name(), "collecting");
    lab.drive(id).await;
    assert_eq!(row(&lab, id).await.phase.name(), "training");
    assert_eq!(lab.claim(judge, "a").await.unwrap().manifests.len(), 2);
}
