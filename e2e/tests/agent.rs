//! Trainers' agents with a real coordinator: claim, kill, resume, submit, abort, reject.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use e2e::{Coordinator, Process, Role, Stage, program, wait_for};
use serde_json::Value;

const LONG: Duration = Duration::from_mins(5);

/// A campaign with a few thousand positions of short games and a small net, which overfits soon: a
/// loss many times the best is normal. `data` is put before the recipe's schedule.
fn campaign(epochs: u32, data: &str) -> String {
    format!(
        "name = \"tiny\"\n\
         [selfplay.settings]\nhash_mebibytes = 1\nhard_nodes = 100\nply_cap = 160\n\
         [selfplay.settings.adjudication]\nwin = {{ score = 1_500, plies = 4 }}\n\
         [selfplay.openings]\nplies = 8\n\
         [generation]\npositions = 3_000\nahead_percent = 0\n\
         [gate]\nnodes = 100\nhash_mebibytes = 1\nmost_pairs = 8\n\
         [recipe.architecture]\nwidth = 128\nfirst = 8\nsecond = 8\nstacks = 1\n\
         [recipe.data]\nvalidation_one_in = 4\n{data}\
         [recipe.schedule]\nbatch = 100\nepochs = {epochs}\npositions_per_epoch = 2_000\n\
         [recipe.stop]\nexplosion = 100_000\n"
    )
}

/// Lets a worker play until a net is to be trained.
fn until_training(stage: &Stage, coordinator: &Coordinator<'_>) {
    let token = coordinator.account("player", Role::Volunteer);
    let worker = stage.worker(coordinator, &token, "worker");
    coordinator.campaign_is("tiny", LONG, |campaign| campaign["phase"] == "training");
    worker.signal("INT");
    assert_eq!(worker.end(LONG), 0);
}

/// The folder of an agent's only training.
fn run_of(work: &Path) -> Option<PathBuf> {
    let name = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("tiny-"));
    fs::read_dir(work).ok()?.filter_map(|entry| Some(entry.ok()?.path())).find(name)
}

/// Waits for this number of lines in an agent's metrics.
fn until_noted(work: &Path, lines: usize) {
    wait_for("figures of a training", LONG, || {
        let text = fs::read_to_string(run_of(work)?.join("metrics.jsonl")).ok()?;
        (text.lines().count() >= lines).then_some(())
    });
}

/// The steps from which an agent's runs started.
fn begun_at(log: &str) -> Vec<u64> {
    let after = log.split("training from step ").skip(1);
    after.filter_map(|rest| rest.split(' ').next()?.parse().ok()).collect()
}

/// Waits until the agents of this name have started learning this many times.
fn until_learning(agent: &Process, times: usize) {
    wait_for("learning", LONG, || (begun_at(&agent.log()).len() == times).then_some(()));
}

#[test]
fn an_agent_asks_for_a_token_only_where_a_coordinator_answers() {
    let stage = Stage::default();
    let mut coordinator = Coordinator::start(&stage, &[]);
    let address = coordinator.address().to_owned();
    let said = || {
        let mut command = Command::new(program("chuhe-trainer"));
        command.args(["agent", "--server", &address]).arg("--work").arg(stage.path("agent")).env_remove("CHUHE_TOKEN");
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(said(), "chuhe-trainer: no token is given: use `--token` or CHUHE_TOKEN\n");
    coordinator.kill();
    let expected = format!(
        "chuhe-trainer: no server answers at {address} (connection refused); is the address right, and does the server \
         run? (`--server ADDRESS` names another)\n"
    );
    assert_eq!(said(), expected);
}

#[test]
fn a_killed_agent_resumes_to_the_same_net_which_plays_for_the_gate() {
    let stage = Stage::default();
    let mut coordinator = Coordinator::start(&stage, &[]);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../nets/material.nnue");
    let champion = coordinator.admin(&["net", "add", file]).trim_matches('"').to_owned();
    // Each candidate starts from the champion, which is a net of the recipe's shape.
    let text = campaign(120, "").replacen('\n', &format!("\nchampion = {champion:?}\n"), 1);
    coordinator.begin(&format!("{text}[recipe.start]\nnet = \"champion\"\n"));
    until_training(&stage, &coordinator);
    let token = coordinator.account("trainer", Role::Trainer);
    let work = stage.path("agent");
    let start = |more: &[&str]| {
        let all = [&["--checkpoint-steps", "20"], more].concat();
        stage.agent(coordinator.address(), &token, "agent", &all)
    };

    let agent = start(&[]);
    until_noted(&work, 3);
    agent.kill();
    let shards: Vec<_> = fs::read_dir(work.join("shards")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!shards.is_empty());
    let fetched = |path: &PathBuf| fs::metadata(path).unwrap().ino();
    let before: Vec<_> = shards.iter().map(fetched).collect();

    // An interrupted agent reports its step; the training stays leased.
    let agent = start(&[]);
    until_learning(&agent, 2);
    until_noted(&work, 6);
    agent.signal("INT");
    assert_eq!(agent.end(LONG), 0);
    let log = fs::read_to_string(stage.log("agent")).unwrap();
    assert!(log.contains("stopped at step "), "{log}");
    assert_eq!(coordinator.campaign("tiny")["training"]["state"], "leased");

    // The agent retries while the coordinator is down.
    let agent = start(&["--once"]);
    until_learning(&agent, 3);
    coordinator.kill();
    wait_for("an agent that waits", LONG, || agent.log().contains("retrying in ").then_some(()));
    coordinator.serve();
    assert_eq!(agent.end(LONG), 0, "{}", fs::read_to_string(stage.log("agent")).unwrap());

    let log = fs::read_to_string(stage.log("agent")).unwrap();
    let begun = begun_at(&log);
    assert!(begun.len() == 3 && begun[0] == 0 && begun[1] > 0 && begun[2] > begun[1], "{log}");
    let after: Vec<_> = shards.iter().map(fetched).collect();
    assert_eq!(before, after, "what was fetched is not fetched again");

    let campaign = coordinator.campaign_is("tiny", LONG, |campaign| campaign["phase"] == "gating");
    let candidate = campaign["training"]["candidate"].as_str().unwrap().to_owned();
    let run = run_of(&work).unwrap();
    let net = fs::read(run.join("net.nnue")).unwrap();
    assert_eq!(candidate, dataset::Digest::of(&net).to_string());

    // The net is public, with its manifest.
    let clock = std::sync::Arc::new(client::SystemClock::default());
    let client = client::Client::new(client::Settings::new(coordinator.address().parse().unwrap(), None, clock));
    let path = protocol::api::path::net(&candidate);
    client.unwrap().fetch(&path, candidate.parse().unwrap(), 1 << 30, &stage.path("net"), None).unwrap();
    assert_eq!(fs::read(stage.path("net")).unwrap(), net);
    let nets: Value = serde_json::from_str(&coordinator.admin(&["net", "list"])).unwrap();
    assert!(nets.as_array().unwrap().iter().any(|net| net["net"] == candidate && net["state"] == "candidate"));

    // An uninterrupted run makes the same bytes.
    let unbroken = Command::new(program("chuhe-trainer"))
        .arg("train")
        .arg(run.join("recipe.toml"))
        .arg("--shards")
        .arg(work.join("shards"))
        .arg("--out")
        .arg(stage.path("unbroken"))
        .args(["--threads", "1"])
        .output()
        .unwrap();
    assert!(unbroken.status.success(), "{}", String::from_utf8_lossy(&unbroken.stderr));
    assert_eq!(fs::read(stage.path("unbroken").join("net.nnue")).unwrap(), net);
    let manifest: Value = serde_json::from_slice(&fs::read(run.join("net.json")).unwrap()).unwrap();
    assert_eq!(manifest["parents"], serde_json::json!([champion]));

    // The games are public once they are checked; trainers may read them before.
    fetch_games(&stage, &coordinator, &token, &run);
}

fn fetch_games(stage: &Stage, coordinator: &Coordinator<'_>, token: &str, run: &Path) {
    let hash = dataset::Digest::of(&fs::read(run.join("games.json")).unwrap()).to_string();
    let games = stage.path("games");
    let fetch = |manifest: &str| {
        let mut command = Command::new(program("chuhe"));
        command.args(["data", "fetch", manifest, "--json", "--out"]).arg(&games);
        let output = command.env("CHUHE_SERVER", coordinator.address()).env("CHUHE_TOKEN", token).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let first = fetch(&hash);
    assert_eq!(first["fetched"], first["shards"]);
    // An interrupted download is resumed; altered files are fetched again.
    let shard = fs::read_dir(&games).unwrap().map(|entry| entry.unwrap().path());
    let shard = shard.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "chuhe")).unwrap();
    let mut bytes = fs::read(&shard).unwrap();
    bytes[100] ^= 1;
    fs::write(&shard, bytes).unwrap();
    let second = fetch(&format!("{}{}", coordinator.address(), protocol::api::path::manifest(&hash)));
    assert_eq!((&second["fetched"], &second["shards"]), (&1.into(), &first["shards"]));
    let checked = Command::new(program("chuhe")).args(["data", "verify"]).arg(&shard).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}

#[test]
fn an_impossible_training_is_aborted_and_an_account_without_the_role_is_rejected() {
    let stage = Stage::default();
    let coordinator = Coordinator::start(&stage, &[]);
    coordinator.begin(&campaign(1, "least_positions = 1_000_000\n"));
    until_training(&stage, &coordinator);

    let volunteer = coordinator.account("volunteer", Role::Volunteer);
    for (name, token) in [("wrong-role", &*volunteer), ("wrong-token", "chuhe_nothing")] {
        let agent = stage.agent(coordinator.address(), token, name, &["--once"]);
        assert_eq!(agent.end(LONG), 2);
        let log = fs::read_to_string(stage.log(name)).unwrap();
        assert!(log.starts_with("chuhe-trainer: asking for a net to train") && log.lines().count() == 1, "{log}");
        assert!(!log.contains(token), "{log}");
    }
    assert_eq!(coordinator.campaign("tiny")["training"]["state"], "open");

    let token = coordinator.account("trainer", Role::Trainer);
    let agent = stage.agent(coordinator.address(), &token, "agent", &["--once"]);
    assert_eq!(agent.end(LONG), 1);
    let log = fs::read_to_string(stage.log("agent")).unwrap();
    assert!(log.contains("giving generation 1 of tiny up: the recipe's data have "), "{log}");
    let campaign = coordinator.campaign_is("tiny", LONG, |campaign| campaign["state"] == "stuck");
    let reason = campaign["reason"].as_str().unwrap();
    assert!(reason.contains("least_positions") && !reason.contains('\n'), "{reason}");
}
