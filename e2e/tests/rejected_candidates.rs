//! Rejected candidates: more games, the next candidate, and in the end a stuck campaign.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use std::{thread, time::Duration};

use e2e::{
    Coordinator, Role, Stage,
    campaign::{self, Bar},
};
use serde_json::Value;

const LONG: Duration = Duration::from_mins(8);

#[test]
fn a_candidate_that_is_not_stronger_is_not_promoted_and_two_of_them_stop_the_campaign() {
    let stage = Stage::default();
    let coordinator = Coordinator::start(&stage, &[]);
    let material = campaign::begin(&stage, &coordinator, Bar::OutOfReach, 2);
    let (player, trainer) =
        (coordinator.account("player", Role::Volunteer), coordinator.account("trainer", Role::Trainer));
    let worker = stage.worker(&coordinator, &player, "worker");
    // There is no second account to audit its games, and the gate would wait for that.
    coordinator.campaign_is("loop", LONG, |campaign| campaign["selfplay"]["games"].as_u64() > Some(0));
    let _ = coordinator.admin(&["worker", "trust", "1"]);
    // `watch` does not report decisions before its start.
    let (agent, watched) = thread::scope(|scope| {
        let watching = scope.spawn(|| coordinator.watch("loop", 1));
        let agent = stage.agent(coordinator.address(), &trainer, "agent", &[]);
        (agent, watching.join().unwrap())
    });
    let (output, why) = (String::from_utf8(watched.stdout).unwrap(), String::from_utf8(watched.stderr).unwrap());
    assert_eq!(watched.status.code(), Some(1), "{output}{why}\n{}", coordinator.log());
    assert!(
        why.contains("the campaign `loop` waits for a person: 2 candidates of generation 0 were not promoted"),
        "{why}"
    );
    assert_eq!(output.matches(" is not stronger: ").count(), 2, "{output}");

    let campaign = coordinator.campaign("loop");
    assert_eq!((&campaign["champion"], &campaign["generation"]), (&material.clone().into(), &0.into()));
    assert_eq!((&campaign["state"], &campaign["promotions"]), (&"stuck".into(), &0.into()));
    let nets: Vec<Value> = serde_json::from_str(&coordinator.admin(&["net", "list"])).unwrap();
    let rejected: Vec<_> = nets.iter().filter(|net| net["state"] == "rejected").collect();
    assert_eq!(rejected.len(), 2, "{nets:#?}");
    assert!(rejected.iter().all(|net| net["parent"] == material.as_str()), "{nets:#?}");

    // The second candidate had half as many games more, of the same champion. `resume` asks for
    // more: games are played, or another candidate is tried if they are there already.
    let games = |campaign: &Value| campaign["selfplay"]["positions"].as_u64().unwrap();
    assert!(games(&campaign) >= 4_500, "{campaign:#}");
    let _ = coordinator.admin(&["campaign", "resume", "loop"]);
    let (before, last) = (games(&campaign), &campaign["decided"]["net_name"]);
    coordinator.campaign_is("loop", LONG, |campaign| {
        let name = &campaign["decided"]["net_name"];
        games(campaign) > before || name.is_string() && name != last
    });

    for process in [worker, agent] {
        process.signal("INT");
        assert_eq!(process.end(LONG), 0);
    }
}
