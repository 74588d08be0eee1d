//! Campaigns over several generations.

use coordinator_core::{
    games, gate, matches,
    model::{Campaign, CampaignCommand as Command, CampaignId, CampaignKey, JobId, JobKind, NetState},
    ops::{
        campaigns::{EditCampaign, RollBackCampaign},
        nets::AddNet,
    },
    reports,
    rules::{campaigns::Counts, readiness::Audited},
    store::{Campaigns, Nets, counting},
};
use dataset::{Digest, manifest::Manifest};
use protocol::{
    api::{problem::Code, work::Work},
    campaign::Gate,
};
use stats::Decision;

use super::{cases, receiving::counted};
use crate::{
    common::{
        lab::{ALL_AUDITS, CAMPAIGN, Lab, NO_AUDIT, Player, SIGNATURE, code, new_net},
        truth,
    },
    op,
};

cases! {
    a_campaign_is_created_once
    a_new_job_is_limited_at_once
    a_stronger_candidate_is_promoted
    a_weaker_one_is_rejected_and_more_is_played
    a_gate_without_a_verdict_is_undecided
    too_many_rejected_candidates_stop_the_campaign
    promotion_waits_for_audits
    a_false_rejection_waits_for_audits_and_fails
    games_of_a_gate_are_public_after_its_decision
    audits_of_parts_are_enough
    games_are_played_ahead_and_no_further
    disputed_games_are_not_relied_on
    a_paused_campaign_plays_nothing
    steps_can_be_taken_by_hand
    a_step_by_hand_may_end_it
    a_command_on_an_older_version_is_rejected
    without_games_nothing_is_trained
    a_promotion_is_taken_back
    another_engine_begins_anew
    two_coordinators_take_each_step_once
}

/// A net whose match has a seed of the wanted strength.
pub(super) fn net(number: u8) -> Digest {
    Digest::of(&[number])
}

/// Creates a campaign with one generation played, chosen by seed so that its first candidate has
/// this strength. Its name is new for every call.
pub(super) async fn gating(lab: &Lab, player: Player, strength: usize) -> (i64, i64) {
    gating_of(CAMPAIGN, lab, player, strength).await
}

async fn gating_of(campaign: &str, lab: &Lab, player: Player, strength: usize) -> (i64, i64) {
    for seed in 1..100 {
        let text =
            campaign.replace("\"test\"", &format!("\"test{seed}\"")).replace("seed = 1", &format!("seed = {seed}"));
        let id = lab.create(&text).await.unwrap();
        lab.drive(id).await;
        lab.play(player, 2).await;
        lab.drive(id).await;
        lab.train(player, net(seed)).await;
        lab.drive(id).await;
        let gate: i64 = lab.value(&format!("SELECT gate FROM campaigns WHERE id = {id}")).await;
        let header: String = lab.value(&format!("SELECT header FROM jobs WHERE id = {gate}")).await;
        let header: dataset::Header = serde_json::from_str(&header).unwrap();
        if truth::strength(header.seed) == strength {
            return (id, gate);
        }
        command(lab, id, Command::Stop).await.unwrap();
    }
    panic!("no campaign has such a candidate");
}

pub(super) async fn command(lab: &Lab, id: i64, what: Command) -> Result<(), Code> {
    lab.command(id, what, None, None).await.map_err(code)
}

pub(super) async fn row(lab: &Lab, id: i64) -> Campaign {
    op!(lab.read, [], |c| Campaigns::on(c).get(&CampaignId(id).into())).unwrap()
}

pub(super) async fn state_of(lab: &Lab, net: Digest) -> String {
    lab.value(&format!("SELECT state FROM nets WHERE hash = '{net}'")).await
}

/// The stored verdict of a match, and the verdict on the games played here.
pub(super) async fn verdict(lab: &Lab, job: i64) -> (gate::Verdict, gate::Verdict) {
    let decision: String = lab.value(&format!("SELECT decision FROM jobs WHERE id = {job}")).await;
    let plan: String = lab.value(&format!("SELECT gate FROM jobs WHERE id = {job}")).await;
    let plan: Gate = serde_json::from_str(&plan).unwrap();
    let pairs = op!(lab.read, [], |c| counting::pairs(&mut c, JobId(job))).unwrap();
    let again = gate::judge(&matches::test_of(&plan).unwrap(), &plan, &pairs).unwrap();
    (serde_json::from_str(&decision).unwrap(), again)
}

async fn a_campaign_is_created_once(lab: Lab) {
    let (left, right) = tokio::join!(lab.create(CAMPAIGN), lab.create(CAMPAIGN));
    let refused = [left, right].into_iter().filter_map(Result::err).map(code).collect::<Vec<_>>();
    assert_eq!(refused, [Code::Conflict]);
    let missing = CAMPAIGN.replace("\"test\"", &format!("\"other\"\nchampion = \"{}\"", net(1)));
    assert_eq!(lab.create(&missing).await.map_err(code), Err(Code::NotFound));
    lab.run(AddNet { net: new_net(net(1), NetState::Base) }).await.unwrap();
    assert!(lab.create(&missing).await.is_ok());
    assert_eq!(lab.create("name = 1").await.map_err(code), Err(Code::Invalid));
}

async fn a_new_job_is_limited_at_once(lab: Lab) {
    let id = lab.create(CAMPAIGN).await.unwrap();
    assert!(lab.advance(id, SIGNATURE).await.unwrap());
    let of_campaign =
        format!("SELECT game_limit FROM jobs JOIN campaigns ON selfplay = jobs.id WHERE campaigns.id = {id}");
    assert_eq!(lab.value::<i64>(&of_campaign).await, row(&lab, id).await.game_limit(0, &Counts::default()));
}

async fn a_stronger_candidate_is_promoted(lab: Lab) {
    let judge = lab.judge("judge").await;
    let (id, gate) = gating(&lab, judge, 0).await;
    let before = row(&lab, id).await;
    assert_eq!((before.phase.name(), before.generation, before.champion), ("gating", 0, None));
    lab.play(judge, 8).await;
    lab.drive(id).await;
    let after = row(&lab, id).await;
    let candidate: Option<String> = lab.value("SELECT net FROM promotions").await;
    assert_eq!(after.champion.map(|net| net.to_string()), candidate);
    assert_eq!((after.phase.name(), after.generation, after.candidates), ("collecting", 1, 0));
    assert_eq!(state_of(&lab, after.champion.unwrap()).await, "promoted");
    let (said, again) = verdict(&lab, gate).await;
    assert_eq!((said, said.decision), (again, Decision::AcceptH1));
    // The next generation is played by the new champion.
    let header: String = lab.value(&format!("SELECT header FROM jobs WHERE id = {}", after.selfplay.unwrap())).await;
    assert!(header.contains(&candidate.unwrap()));
    let open = "SELECT COUNT(*) FROM jobs WHERE state = 'open'";
    assert_eq!(lab.value::<i64>(open).await, 1);
}

async fn a_weaker_one_is_rejected_and_more_is_played(lab: Lab) {
    let judge = lab.judge("judge").await;
    let (id, gate) = gating(&lab, judge, 1).await;
    lab.play(judge, 8).await;
    lab.drive(id).await;
    let after = row(&lab, id).await;
    assert_eq!((after.phase.name(), after.generation, after.candidates), ("collecting", 0, 1));
    assert_eq!((after.wanted_positions, after.champion), (4_500, None));
    let text: String = lab.value(&format!("SELECT text FROM campaigns WHERE id = {id}")).await;
    let text = text.replace("positions = 3000", "positions = 2900");
    lab.run(EditCampaign { campaign: CampaignKey::from(CampaignId(id)), text, seen: None, by: None }).await.unwrap();
    assert_eq!(row(&lab, id).await.wanted_positions, 4_400);
    let (said, again) = verdict(&lab, gate).await;
    assert_eq!((said, said.decision), (again, Decision::AcceptH0));
    lab.play(judge, 2).await;
    lab.drive(id).await;
    assert_eq!(row(&lab, id).await.phase.name(), "training");
    let manifests = "SELECT hash FROM manifests WHERE campaign = (SELECT MAX(id) FROM campaigns) ORDER BY games";
    let mut games = Vec::new();
    for (hash,) in lab.rows::<(String,)>(manifests).await {
        let hash: Digest = hash.parse().unwrap();
        let text = op!(lab.read, [], |c| Nets::on(c).training_manifest(hash)).unwrap().unwrap();
        assert_eq!(Digest::of(text.as_bytes()), hash);
        games.push(Manifest::from_text(&text).unwrap().games);
    }
    assert!(games.len() == 2 && games[0] < games[1], "{games:?}");
}

async fn a_gate_without_a_verdict_is_undecided(lab: Lab) {
    let judge = lab.judge("judge").await;
    let few = CAMPAIGN.replace("most_pairs = 60", "most_pairs = 6");
    let (id, gate) = gating_of(&few, &lab, judge, 2).await;
    lab.play(judge, 20).await;
    assert_eq!(counted(&lab, gate).await.0, 12);
    lab.drive(id).await;
    assert_eq!(row(&lab, id).await.candidates, 1);
    let (said, again) = verdict(&lab, gate).await;
    assert_eq!((said, said.decision), (again, Decision::Continue));
    let event: String = lab.value("SELECT text FROM events WHERE kind = 'rejection'").await;
    assert!(event.contains("is undecided after all pairs of its gate") && !event.contains("rejected"), "{event}");
}

async fn too_many_rejected_candidates_stop_the_campaign(lab: Lab) {
    let judge = lab.judge("judge").await;
    let (id, _) = gating(&lab, judge, 1).await;
    lab.play(judge, 8).await;
    lab.drive(id).await;
    lab.play(judge, 2).await;
    lab.drive(id).await;
    lab.train(judge, net(200)).await;
    lab.drive(id).await;
    command(&lab, id, Command::Reject).await.unwrap();
    let stuck = row(&lab, id).await;
    assert_eq!((stuck.state.name(), stuck.candidates), ("stuck", 2));
    assert!(stuck.reason.unwrap().to_string().contains("2 candidates"));
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM jobs WHERE state = 'open'").await, 0);
    lab.drive(id).await;
    command(&lab, id, Command::Resume).await.unwrap();
    lab.drive(id).await;
    let going = row(&lab, id).await;
    assert_eq!((going.state.name(), going.phase.name(), going.candidates), ("running", "training", 0));
    let recipes = lab.rows::<(String,)>("SELECT recipe FROM trainings ORDER BY id").await;
    let line = |recipe: &str| recipe.lines().find(|line| line.starts_with("name")).unwrap().to_owned();
    let names: Vec<_> = recipes.iter().map(|row| line(&row.0)).collect();
    let distinct: std::collections::BTreeSet<_> = names.iter().collect();
    assert!(names.len() > 2 && distinct.len() == names.len(), "no name repeats: {names:?}");
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM jobs WHERE state = 'open'").await, 1);
}

/// An account audits the games of a gate, at most until it is decided.
pub(super) async fn audit_the_gate(lab: &Lab, auditor: Player, id: i64) {
    for number in 0..20 {
        if row(lab, id).await.generation == 1 {
            break;
        }
        if let Some(again) = lab.audit(auditor, &format!("audit {number}")).await {
            lab.deliver(auditor, &again).await;
        }
        lab.validate(NO_AUDIT).await;
        lab.compare().await;
        lab.drive(id).await;
    }
}

async fn promotion_waits_for_audits(lab: Lab) {
    let (old, new) = (lab.player("old").await, lab.player("new").await);
    let (id, gate) = gating(&lab, new, 0).await;
    lab.play(new, 8).await;
    lab.drive(id).await;
    let waits = row(&lab, id).await;
    assert!(waits.reason.unwrap().to_string().contains("still to be played again"));
    assert_eq!(lab.value::<String>(&format!("SELECT state FROM jobs WHERE id = {gate}")).await, "closed");
    audit_the_gate(&lab, old, id).await;
    assert_eq!(row(&lab, id).await.generation, 1);
    let audited = Audited::of(&op!(lab.read, [], |c| counting::gate_shards(&mut c, JobId(gate), 1_000)).unwrap());
    assert!(audited.clean * 10 >= audited.games, "{audited:?}");
}

async fn a_false_rejection_waits_for_audits_and_fails(lab: Lab) {
    let (old, forger) = (lab.player("old").await, lab.player("false").await);
    let (id, gate) = gating(&lab, forger, 0).await;
    // A false report that a strong candidate loses every game.
    for nonce in 0..4 {
        let lease = lab.lease(forger, &nonce.to_string(), 16).await;
        let mut object = lab.played(&lease, lease.numbers());
        object.games.iter_mut().for_each(|game| *game &= !0xff);
        lab.upload(forger, &lease.token, &object).await.unwrap();
    }
    lab.validate(NO_AUDIT).await;
    lab.drive(id).await;
    let waits = row(&lab, id).await;
    assert_eq!((waits.candidates, waits.phase.name()), (0, "gating"));
    assert!(waits.reason.unwrap().to_string().contains("still to be played again"));
    assert_eq!(lab.value::<String>(&format!("SELECT state FROM jobs WHERE id = {gate}")).await, "closed");
    audit_the_gate(&lab, old, id).await;
    assert_eq!(row(&lab, id).await.candidates, 0, "a disputed game rejects no net");
    let judge = lab.judge("judge").await;
    for _ in 0..20 {
        lab.play(judge, 2).await;
        lab.compare().await;
        lab.drive(id).await;
    }
    let after = row(&lab, id).await;
    assert_eq!((after.generation, after.candidates), (1, 0), "the strong candidate is promoted");
    let found = "SELECT COUNT(*) FROM accounts WHERE state = 'quarantined'";
    assert_eq!(lab.value::<i64>(found).await, 1);
}

async fn games_of_a_gate_are_public_after_its_decision(lab: Lab) {
    let (old, new) = (lab.player("old").await, lab.player("new").await);
    let (id, gate) = gating(&lab, new, 0).await;
    lab.play(new, 8).await;
    lab.drive(id).await;
    let of_job =
        async || op!(lab.read, [gate], |c| games::shards(&mut c, false, Some(JobId(gate)), None)).unwrap().len();
    let of_all = async || op!(lab.read, [], |c| games::shards(&mut c, false, None, None)).unwrap();
    let is_listed = async || of_all().await.iter().any(|shard| shard.kind == JobKind::Match);
    assert_eq!((of_job().await, is_listed().await), (0, false), "an auditor could copy them");
    audit_the_gate(&lab, old, id).await;
    assert_eq!(row(&lab, id).await.generation, 1);
    assert!(of_job().await > 0 && is_listed().await);
}

async fn audits_of_parts_are_enough(lab: Lab) {
    let (old, new) = (lab.player("old").await, lab.player("new").await);
    let (id, gate) = gating(&lab, new, 0).await;
    let lease = lab.lease(new, "all", 120).await;
    assert_eq!(lease.numbers(), 0..120);
    lab.deliver(new, &lease).await;
    lab.validate(ALL_AUDITS).await;
    for number in 0..40 {
        lab.drive(id).await;
        if row(&lab, id).await.generation == 1 {
            return;
        }
        // Each audit plays two of 120 games.
        if let Work::Games(part) = lab.request(old, &format!("{number}"), 2, ALL_AUDITS).await.unwrap()
            && part.terms.opponent.is_some()
        {
            lab.deliver(old, &part).await;
        }
        lab.validate(NO_AUDIT).await;
        lab.compare().await;
    }
    let audited = Audited::of(&op!(lab.read, [], |c| counting::gate_shards(&mut c, JobId(gate), 1_000)).unwrap());
    panic!("the rest is not audited: {audited:?}");
}

async fn games_are_played_ahead_and_no_further(lab: Lab) {
    let judge = lab.judge("judge").await;
    let (id, job) = lab.campaign("one").await;
    lab.play(judge, 2).await;
    lab.drive(id).await;
    assert_eq!(row(&lab, id).await.phase.name(), "training");
    assert_eq!(lab.value::<String>(&format!("SELECT state FROM jobs WHERE id = {job}")).await, "open");
    lab.play(judge, 2).await;
    lab.drive(id).await;
    assert_eq!(lab.value::<String>(&format!("SELECT state FROM jobs WHERE id = {job}")).await, "paused");
    let frozen = "SELECT positions FROM manifests";
    assert_eq!(lab.value::<i64>(frozen).await, 3_200, "what is frozen stays as it is");
}

async fn disputed_games_are_not_relied_on(lab: Lab) {
    let (old, new) = (lab.player("old").await, lab.player("new").await);
    let (id, _) = lab.campaign("one").await;
    // No trusted worker can settle it.
    let lease = lab.lease(new, "1", 40).await;
    lab.upload(new, &lease.token, &lab.with_wrong_game(&lease, lease.numbers(), 0, 1)).await.unwrap();
    lab.validate(ALL_AUDITS).await;
    let again = lab.audit(old, "1").await.unwrap();
    lab.deliver(old, &again).await;
    lab.validate(NO_AUDIT).await;
    lab.compare().await;
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM shards WHERE state = 'disputed'").await, 2);
    for _ in 0..4 {
        lab.drive(id).await;
        lab.play(old, 2).await;
    }
    lab.drive(id).await;
    assert_eq!(row(&lab, id).await.phase.name(), "training");
}

async fn a_paused_campaign_plays_nothing(lab: Lab) {
    let judge = lab.judge("judge").await;
    let (id, _) = lab.campaign("one").await;
    let open = "SELECT COUNT(*) FROM jobs WHERE state = 'open'";
    assert_eq!(lab.value::<i64>(open).await, 1);
    command(&lab, id, Command::Pause).await.unwrap();
    lab.drive(id).await;
    assert_eq!(lab.value::<i64>(open).await, 0);
    assert_eq!(command(&lab, id, Command::Pause).await, Err(Code::Conflict));
    command(&lab, id, Command::Resume).await.unwrap();
    lab.drive(id).await;
    assert_eq!(lab.value::<i64>(open).await, 1);
    lab.play(judge, 2).await;
    lab.drive(id).await;
    let training = lab.claim(judge, "trainer").await.unwrap();
    command(&lab, id, Command::Stop).await.unwrap();
    assert_eq!(lab.value::<i64>(open).await, 0);
    assert_eq!(lab.put_net(judge, &training.token, net(1)).await, Err(Code::LeaseLost));
    assert_eq!(command(&lab, id, Command::Resume).await, Err(Code::Conflict));
}

async fn steps_can_be_taken_by_hand(lab: Lab) {
    let judge = lab.judge("judge").await;
    let (id, _) = lab.campaign("one").await;
    for wrong in [Command::Promote, Command::Reject, Command::Resume] {
        assert_eq!(command(&lab, id, wrong).await, Err(Code::Conflict));
    }
    lab.play(judge, 1).await;
    command(&lab, id, Command::Train).await.unwrap();
    lab.train(judge, net(1)).await;
    lab.drive(id).await;
    command(&lab, id, Command::Reject).await.unwrap();
    assert_eq!(state_of(&lab, net(1)).await, "rejected");
    command(&lab, id, Command::Train).await.unwrap();
    lab.train(judge, net(2)).await;
    lab.drive(id).await;
    lab.command(id, Command::Promote, None, Some(1)).await.unwrap();
    assert_eq!(row(&lab, id).await.champion, Some(net(2)));
    let promotion = "SELECT kind, account FROM promotions";
    assert_eq!(lab.rows::<(String, i64)>(promotion).await, [("hand".to_owned(), 1)]);
}

async fn a_step_by_hand_may_end_it(lab: Lab) {
    let judge = lab.judge("judge").await;
    let text = CAMPAIGN.replace("most_candidates = 2", "most_candidates = 2\nmost = 1");
    let id = lab.create(&text).await.unwrap();
    lab.drive(id).await;
    lab.play(judge, 2).await;
    lab.drive(id).await;
    lab.train(judge, net(1)).await;
    lab.drive(id).await;
    command(&lab, id, Command::Promote).await.unwrap();
    assert_eq!(row(&lab, id).await.state.name(), "complete");
    lab.drive(id).await;
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM jobs WHERE state = 'open'").await, 0);
}

async fn a_command_on_an_older_version_is_rejected(lab: Lab) {
    let (id, _) = lab.campaign("one").await;
    let seen = row(&lab, id).await.changed;
    let pause = async || lab.command(id, Command::Pause, Some(seen), None).await.map_err(code);
    assert_eq!(pause().await, Ok(()));
    assert_eq!(pause().await, Err(Code::PreconditionFailed));
}

async fn without_games_nothing_is_trained(lab: Lab) {
    let (id, _) = lab.campaign("one").await;
    assert_eq!(command(&lab, id, Command::Train).await, Err(Code::Conflict));
    let now_at = row(&lab, id).await;
    assert_eq!((now_at.phase.name(), now_at.state.name()), ("collecting", "running"));
}

async fn a_promotion_is_taken_back(lab: Lab) {
    let judge = lab.judge("judge").await;
    let (id, _) = lab.campaign("one").await;
    let back = async || {
        let (campaign, reason) = (CampaignId(id).into(), "it blunders".to_owned());
        lab.run(RollBackCampaign { campaign, seen: None, reason, by: None }).await.map_err(code)
    };
    assert_eq!(back().await, Err(Code::Conflict));
    for number in [1, 2] {
        lab.play(judge, 2).await;
        lab.drive(id).await;
        lab.train(judge, net(number)).await;
        lab.drive(id).await;
        command(&lab, id, Command::Promote).await.unwrap();
        lab.drive(id).await;
    }
    lab.play(judge, 2).await;
    lab.drive(id).await;
    let training = lab.claim(judge, "trainer").await.unwrap();
    back().await.unwrap();
    assert_eq!(lab.put_net(judge, &training.token, net(3)).await, Err(Code::LeaseLost));
    let after = row(&lab, id).await;
    assert_eq!((after.champion, after.generation, after.phase.name()), (Some(net(1)), 3, "collecting"));
    assert_eq!(state_of(&lab, net(2)).await, "rolled_back");
    lab.drive(id).await;
    let header = format!("SELECT header FROM jobs WHERE id = {}", row(&lab, id).await.selfplay.unwrap());
    assert!(lab.value::<String>(&header).await.contains(&net(1).to_string()));
    back().await.unwrap();
    assert_eq!(row(&lab, id).await.champion, None);
    assert_eq!(back().await, Err(Code::Conflict));
}

async fn another_engine_begins_anew(lab: Lab) {
    let judge = lab.judge("judge").await;
    let (id, gate) = gating(&lab, judge, 0).await;
    lab.play(judge, 1).await;
    let before = row(&lab, id).await;
    while lab.advance(id, SIGNATURE + 1).await.unwrap() {}
    let after = row(&lab, id).await;
    assert!(after.gate != Some(JobId(gate)) && after.selfplay != before.selfplay && after.phase.name() == "gating");
    for job in [JobId(gate), before.selfplay.unwrap()] {
        assert_eq!(lab.value::<String>(&format!("SELECT state FROM jobs WHERE id = {job}")).await, "closed");
    }
    // A report counts the games of both jobs.
    let earlier = lab.tally(before.selfplay.unwrap().0).await;
    let key = CampaignKey::from(CampaignId(id));
    let progress = op!(lab.read, [key], |c| reports::campaign::progress(&mut c, &key)).unwrap();
    assert!(earlier.games > 0 && progress.games == earlier.games && progress.positions == earlier.positions);
    let (_, report) = op!(lab.read, [key], |c| reports::campaign(&mut c, &key)).unwrap();
    assert_eq!(report["selfplay"]["games"], earlier.games);
}

async fn two_coordinators_take_each_step_once(lab: Lab) {
    let judge = lab.judge("judge").await;
    let (id, _) = gating(&lab, judge, 0).await;
    lab.play(judge, 8).await;
    tokio::join!(lab.drive(id), lab.drive(id), lab.drive(id));
    assert_eq!(row(&lab, id).await.generation, 1);
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM promotions").await, 1);
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM jobs WHERE state = 'open'").await, 1);
}
