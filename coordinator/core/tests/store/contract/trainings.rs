//! Trainings: claims, progress, expiry and completion.

use coordinator_core::{
    clock::SECOND,
    model::{AccountId, CampaignCommand, CampaignId, NetState},
    ops::{
        campaigns::GateNet,
        nets::AddNet,
        trainings::{AbandonTraining, RenewTraining},
    },
};
use protocol::{
    api::{
        problem::Code,
        training::{Abandon, Progress},
    },
    recipe::Recipe,
};

use super::{
    campaigns::{net, row},
    cases,
};
use crate::common::lab::{CAMPAIGN, Lab, Player, code, new_net};

cases! {
    a_training_is_for_one
    a_repeated_claim_gets_the_same_training
    attempts_without_progress_are_limited
    a_training_without_progress_is_lost
    progress_makes_it_last
    a_training_without_heartbeat_expires
    ten_attempts_stop_the_campaign
    a_training_can_be_given_up
    a_broken_machine_gives_a_training_back
    only_the_uploaded_net_can_be_completed
    completion_is_idempotent
    a_net_that_is_known_otherwise_is_no_candidate
    a_net_trained_elsewhere_is_gated
    a_net_trained_elsewhere_frees_a_stuck_campaign
    a_net_learns_from_the_games_of_other_campaigns
}

/// A campaign with a training to claim.
async fn scene(lab: &Lab) -> (i64, Player, Player) {
    let (judge, other) = (lab.judge("judge").await, lab.player("other").await);
    let (id, _) = lab.campaign("one").await;
    lab.play(judge, 2).await;
    lab.drive(id).await;
    (id, judge, other)
}

async fn progress(lab: &Lab, player: Player, token: &str, step: u64) -> Result<u32, Code> {
    let (account, token) = (AccountId(player.account), token.to_owned());
    let progress = Progress { step, steps: 100, loss: Some(0.5), validation_loss: None, positions_per_second: None };
    let done = lab.run(RenewTraining { account, token, progress }).await;
    done.map(|renewed| renewed.seconds).map_err(code)
}

async fn abandon(lab: &Lab, player: Player, token: &str, again: bool) -> Result<(), Code> {
    let (account, token) = (AccountId(player.account), token.to_owned());
    let abandon = Abandon { reason: "no\u{1b}[2Jmemory".to_owned(), again };
    lab.run(AbandonTraining { account, token, abandon }).await.map_err(code)
}

async fn a_training_is_for_one(lab: Lab) {
    let (_, judge, other) = scene(&lab).await;
    let (left, right) = tokio::join!(lab.claim(judge, "a"), lab.claim(other, "b"));
    assert_eq!([left, right].iter().flatten().count(), 1);
    assert!(lab.claim(other, "c").await.is_none());
}

async fn a_repeated_claim_gets_the_same_training(lab: Lab) {
    let (_, judge, other) = scene(&lab).await;
    let first = lab.claim(judge, "a").await.unwrap();
    let again = lab.claim(judge, "a").await.unwrap();
    assert_eq!((&first.recipe, first.manifests.len()), (&again.recipe, 1));
    assert_eq!(progress(&lab, judge, &first.token, 1).await, Err(Code::LeaseLost), "the first secret is over");
    assert_eq!(progress(&lab, judge, &again.token, 2).await, Ok(900));
    assert_eq!(progress(&lab, other, &again.token, 1).await, Err(Code::NotOwner));
    assert_eq!(lab.value::<i64>("SELECT attempts FROM trainings").await, 1, "it got on");
}

async fn attempts_without_progress_are_limited(lab: Lab) {
    let (id, judge, _) = scene(&lab).await;
    for _ in 0..10 {
        let training = lab.claim(judge, "a").await.unwrap();
        assert_eq!(progress(&lab, judge, &training.token, 0).await, Ok(900));
        lab.clock.advance(60 * SECOND);
    }
    assert!(lab.claim(judge, "a").await.is_none());
    lab.clock.advance(901 * SECOND);
    lab.drive(id).await;
    assert_eq!(row(&lab, id).await.reason.map(|reason| reason.to_string()).as_deref(), Some("no trainer finished it"));
}

async fn a_training_without_progress_is_lost(lab: Lab) {
    let (_, judge, other) = scene(&lab).await;
    let training = lab.claim(judge, "a").await.unwrap();
    assert_eq!(progress(&lab, judge, &training.token, 5).await, Ok(900));
    let mut shown = 0;
    while progress(&lab, judge, &training.token, 5).await.is_ok() {
        lab.clock.advance(600 * SECOND);
        shown += 1;
    }
    assert_eq!(shown, 37, "six hours");
    // One step is enough, and a new attempt is not measured by the previous one.
    let again = lab.claim(judge, "a").await.unwrap();
    for step in [1, 2, 2, 3] {
        lab.clock.advance(800 * SECOND);
        assert_eq!(progress(&lab, judge, &again.token, step).await, Ok(900));
    }
    lab.clock.advance(901 * SECOND);
    assert!(lab.claim(other, "b").await.is_some());
}

async fn progress_makes_it_last(lab: Lab) {
    let (id, judge, other) = scene(&lab).await;
    let training = lab.claim(judge, "a").await.unwrap();
    for step in 0..4 {
        lab.clock.advance(800 * SECOND);
        assert_eq!(progress(&lab, judge, &training.token, step).await, Ok(900));
        lab.drive(id).await;
    }
    assert!(lab.claim(other, "b").await.is_none());
}

async fn a_training_without_heartbeat_expires(lab: Lab) {
    let (id, judge, other) = scene(&lab).await;
    let training = lab.claim(judge, "a").await.unwrap();
    lab.clock.advance(901 * SECOND);
    lab.drive(id).await;
    assert_eq!(progress(&lab, judge, &training.token, 1).await, Err(Code::LeaseLost));
    assert!(lab.claim(other, "b").await.is_some());
    lab.clock.advance(901 * SECOND);
    assert!(lab.claim(judge, "a").await.is_some(), "also before the expiry is recorded");
}

async fn ten_attempts_stop_the_campaign(lab: Lab) {
    let (id, judge, _) = scene(&lab).await;
    for number in 0..10 {
        lab.claim(judge, &format!("t{number}")).await.unwrap();
        lab.clock.advance(901 * SECOND);
        lab.drive(id).await;
    }
    assert!(lab.claim(judge, "last").await.is_none());
    let stuck = row(&lab, id).await;
    assert_eq!(
        (stuck.state.name(), stuck.reason.map(|reason| reason.to_string()).as_deref()),
        ("stuck", Some("no trainer finished it"))
    );
}

async fn a_broken_machine_gives_a_training_back(lab: Lab) {
    let (id, judge, other) = scene(&lab).await;
    for _ in 0..12 {
        let training = lab.claim(judge, "a").await.unwrap();
        abandon(&lab, judge, &training.token, true).await.unwrap();
        assert!(lab.claim(judge, "a").await.is_none(), "its trainer waits");
        lab.clock.advance(600 * SECOND);
        lab.drive(id).await;
    }
    let training = lab.claim(judge, "a").await.unwrap();
    abandon(&lab, judge, &training.token, true).await.unwrap();
    let reason = lab.value::<String>("SELECT reason FROM trainings").await;
    assert_eq!(reason, "no [2Jmemory", "a reason reaches terminals");
    assert!(lab.claim(other, "b").await.is_some(), "another need not wait");
}

async fn a_training_can_be_given_up(lab: Lab) {
    let (id, judge, _) = scene(&lab).await;
    let training = lab.claim(judge, "a").await.unwrap();
    abandon(&lab, judge, &training.token, false).await.unwrap();
    lab.drive(id).await;
    assert_eq!(row(&lab, id).await.reason.map(|reason| reason.to_string()).as_deref(), Some("no [2Jmemory"));
    super::campaigns::command(&lab, id, CampaignCommand::Resume).await.unwrap();
    lab.drive(id).await;
    assert!(lab.claim(judge, "a").await.is_some());
}

async fn only_the_uploaded_net_can_be_completed(lab: Lab) {
    let (id, judge, _) = scene(&lab).await;
    let training = lab.claim(judge, "a").await.unwrap();
    assert_eq!(lab.complete(judge, &training.token, net(1)).await, Err(Code::Conflict));
    lab.put_net(judge, &training.token, net(1)).await.unwrap();
    assert_eq!(lab.complete(judge, &training.token, net(2)).await, Err(Code::Conflict));
    assert_eq!(lab.complete(judge, &training.token, net(1)).await, Ok(()));
    lab.drive(id).await;
    assert_eq!(row(&lab, id).await.phase.name(), "gating");
}

async fn completion_is_idempotent(lab: Lab) {
    let (_, judge, _) = scene(&lab).await;
    let training = lab.claim(judge, "a").await.unwrap();
    lab.put_net(judge, &training.token, net(1)).await.unwrap();
    let (left, right) =
        tokio::join!(lab.complete(judge, &training.token, net(1)), lab.complete(judge, &training.token, net(1)));
    assert_eq!((left, right), (Ok(()), Ok(())));
    assert_eq!(lab.complete(judge, &training.token, net(2)).await, Err(Code::LeaseLost));
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM events WHERE kind = 'candidate'").await, 1);
}

async fn a_net_that_is_known_otherwise_is_no_candidate(lab: Lab) {
    let (id, judge, _) = scene(&lab).await;
    lab.train(judge, net(1)).await;
    lab.drive(id).await;
    super::campaigns::command(&lab, id, CampaignCommand::Promote).await.unwrap();
    lab.drive(id).await;
    lab.play(judge, 2).await;
    lab.drive(id).await;
    let training = lab.claim(judge, "a").await.unwrap();
    lab.put_net(judge, &training.token, net(1)).await.unwrap();
    assert_eq!(lab.complete(judge, &training.token, net(1)).await, Err(Code::Conflict), "it is the champion");
    lab.execute(&format!("UPDATE nets SET state = 'base' WHERE hash = '{}'", net(1))).await;
    lab.execute("UPDATE trainings SET champion = NULL").await;
    assert_eq!(lab.complete(judge, &training.token, net(1)).await, Err(Code::Conflict));
    // A rejected net may become a candidate again.
    lab.execute(&format!("UPDATE nets SET state = 'rejected' WHERE hash = '{}'", net(1))).await;
    assert_eq!(lab.complete(judge, &training.token, net(1)).await, Ok(()));
    assert_eq!(super::campaigns::state_of(&lab, net(1)).await, "candidate");
}

async fn gate(lab: &Lab, id: i64, number: u8) -> Result<(), Code> {
    let net = new_net(net(number), NetState::Candidate);
    let gated = GateNet { campaign: CampaignId(id).into(), net, recipe: "name = \"other\"".to_owned(), by: None };
    lab.run(gated).await.map_err(code)
}

async fn a_net_trained_elsewhere_frees_a_stuck_campaign(lab: Lab) {
    let (id, judge, _) = scene(&lab).await;
    let training = lab.claim(judge, "a").await.unwrap();
    abandon(&lab, judge, &training.token, false).await.unwrap();
    lab.drive(id).await;
    assert_eq!(row(&lab, id).await.state.name(), "stuck");
    assert_eq!(gate(&lab, id, 1).await, Ok(()));
    lab.drive(id).await;
    let freed = row(&lab, id).await;
    assert_eq!((freed.state.name(), freed.phase.name(), freed.reason), ("running", "gating", None));
    super::campaigns::command(&lab, id, CampaignCommand::Promote).await.unwrap();
    assert_eq!(gate(&lab, id, 1).await, Err(Code::Conflict), "it is the champion");
    assert_eq!(row(&lab, id).await.phase.name(), "collecting", "a refusal changes nothing");
}

async fn a_net_learns_from_the_games_of_other_campaigns(lab: Lab) {
    let (first, judge, other) = scene(&lab).await;
    super::campaigns::command(&lab, first, CampaignCommand::Stop).await.unwrap();
    let text = CAMPAIGN.replace("\"test\"", "\"two\"\nlearns_from = [\"one\", \"three\"]");
    assert_eq!(lab.create(&text).await.map_err(code), Err(Code::NotFound), "there is no campaign three");
    lab.create(&CAMPAIGN.replace("\"test\"", "\"three\"").replace("cxr", "wxf")).await.unwrap();
    assert_eq!(lab.create(&text).await.map_err(code), Err(Code::Invalid), "it has other rules");
    lab.execute("UPDATE campaigns SET state = 'stopped' WHERE name = 'three'").await;
    lab.create(&CAMPAIGN.replace("\"test\"", "\"four\"")).await.unwrap();
    let second = lab.create(&text.replace("three", "four")).await.unwrap();
    lab.drive(second).await;
    lab.play(other, 3).await;
    lab.drive(second).await;
    let training = lab.claim(judge, "a").await.unwrap();
    let names: Vec<_> = training.manifests.iter().map(|set| set.name.clone()).collect();
    assert_eq!(names, ["games.json".to_owned(), format!("campaign-{first}.json")], "there are no games of four");
    let sources = Recipe::from_text(&training.recipe).unwrap().data.sources;
    assert_eq!(sources.iter().map(|source| source.manifest.clone()).collect::<Vec<_>>(), names);
    for (set, source) in training.manifests.iter().zip(&sources) {
        let of = "SELECT campaigns.name, positions FROM manifests JOIN campaigns ON campaigns.id = campaign";
        let query = format!("{of} WHERE hash = '{}'", set.sha256);
        let owner = if set.name == "games.json" { "two" } else { "one" };
        assert_eq!(lab.rows::<(String, i64)>(&query).await, [(owner.to_owned(), i64::from(source.weight))]);
    }
    // A set without results that say what its scores mean would end the training.
    let unknown = "UPDATE shards SET entry = REPLACE(entry, ':4000', ':null') WHERE job IN";
    lab.execute(&format!("{unknown} (SELECT id FROM jobs WHERE campaign = {first})")).await;
    let text = CAMPAIGN.replace("\"test\"", "\"five\"\npriority = 90\nlearns_from = [\"one\", \"two\"]");
    let third = lab.create(&text).await.unwrap();
    lab.drive(third).await;
    lab.play(other, 3).await;
    lab.drive(third).await;
    let training = lab.claim(judge, "b").await.unwrap();
    let names: Vec<_> = training.manifests.iter().map(|set| set.name.clone()).collect();
    assert_eq!(names, ["games.json".to_owned(), format!("campaign-{second}.json")]);
}

async fn a_net_trained_elsewhere_is_gated(lab: Lab) {
    let (id, judge, _) = scene(&lab).await;
    let gate = async |number| gate(&lab, id, number).await;
    let training = lab.claim(judge, "a").await.unwrap();
    lab.put_net(judge, &training.token, net(1)).await.unwrap();
    assert_eq!(gate(2).await, Ok(()), "the training under way gives place");
    assert_eq!(lab.complete(judge, &training.token, net(1)).await, Err(Code::LeaseLost));
    lab.drive(id).await;
    assert_eq!(row(&lab, id).await.phase.name(), "gating");
    let query = "SELECT nets.state, nets.generation, recipe FROM nets JOIN trainings ON candidate = hash
                 WHERE trainings.state = 'done'";
    let expected = ("candidate".to_owned(), 1, "name = \"other\"".to_owned());
    assert_eq!(lab.rows::<(String, i64, String)>(query).await, [expected]);
    assert_eq!(gate(3).await, Err(Code::Conflict), "a gate is not broken off");
    lab.play(judge, 8).await;
    lab.drive(id).await;
    assert_eq!(row(&lab, id).await.phase.name(), "collecting");
    assert_ne!(super::campaigns::state_of(&lab, net(2)).await, "candidate", "the gate decided");
    super::campaigns::command(&lab, id, CampaignCommand::Pause).await.unwrap();
    lab.run(AddNet { net: new_net(net(4), NetState::Base) }).await.unwrap();
    assert_eq!(gate(4).await, Err(Code::Conflict), "it is an opponent of others");
    assert_eq!(gate(3).await, Ok(()));
    lab.drive(id).await;
    assert_eq!(row(&lab, id).await.phase.name(), "training", "a paused campaign gates nothing yet");
    super::campaigns::command(&lab, id, CampaignCommand::Stop).await.unwrap();
    assert_eq!(super::campaigns::state_of(&lab, net(3)).await, "rejected");
    assert_eq!(gate(5).await, Err(Code::Conflict));
}
