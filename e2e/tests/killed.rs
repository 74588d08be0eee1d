//! A worker and a coordinator that are killed again and again, with a bad network between them: every game of every match
//! is accepted once, and is the one that everybody plays.
//!
//! `CHUHE_KILLS` says how often the worker is killed, or every third time told to stop (the coordinator is killed half as
//! often); `scripts/check --long` says 50.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stdout, reason = "what is passed by, or was seen, is said")]

use std::{
    collections::BTreeSet,
    env, fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use client::Dice;
use dataset::shard::{self, ShardWriter};
use e2e::{Coordinator, Role, Stage, try_for, wait_for};
use engine::Evaluation;
use selfplay::selfplay::Run;
use serde_json::Value;
use testkit::proxy::{self, Fault};

const LONG: Duration = Duration::from_mins(5);
/// Small matches, so that many results are on their way while somebody is killed.
const PAIRS: u64 = 10;

/// A third of all questions meet with something.
fn trouble(dice: &mut Dice) -> Fault {
    Fault::any(30, || dice.roll())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The shards of a match that count: first game, games, hash.
fn shards(coordinator: &Coordinator<'_>, token: &str, job: &str) -> Vec<(u64, u64, String)> {
    let (status, text) = coordinator.ask("GET", &format!("/api/v1/games?job={job}"), token, "");
    assert_eq!(status, 200, "{text}");
    // It may come in pieces, each with its length.
    let text = text[text.find('[').unwrap()..=text.rfind(']').unwrap()].replace("\r\n", "");
    let listed = json(&text);
    let number = |shard: &Value, name: &str| shard[name].as_u64().unwrap();
    let one =
        |shard: &Value| (number(shard, "first"), number(shard, "games"), shard["shard"].as_str().unwrap().to_owned());
    let mut found: Vec<_> = listed.as_array().unwrap().iter().map(one).collect();
    found.sort();
    found
}

/// The same games, played here.
fn replay(path: &Path) -> Vec<u8> {
    let file = shard::open(path).unwrap();
    let run = Run::from_header(file.header(), Evaluation::Plain, Some(Evaluation::Plain), None).unwrap();
    let run = Run { games: file.games(), ..run };
    let mut bytes = Vec::new();
    let mut writer = ShardWriter::new(&mut bytes, file.header().clone()).unwrap();
    run.play(|_, finished| writer.add(&finished.record)).unwrap();
    writer.finish().unwrap();
    bytes
}

/// The names of all files of games, whether they count or not.
fn objects(folder: &Path) -> BTreeSet<String> {
    let inside = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let files = inside(folder).into_iter().flat_map(|folder| inside(&folder));
    files.map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

fn files(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

#[test]
fn whoever_is_killed_every_game_is_accepted_once() {
    let kills = env::var("CHUHE_KILLS").map_or(5, |kills| kills.parse::<u64>().unwrap());
    let stage = Stage::default();
    let mut coordinator = Coordinator::start(&stage, &[]);
    let token = coordinator.account("player", Role::Trainer);
    let jobs: Vec<String> = (0..kills + 2)
        .map(|seed| {
            let (pairs, seed) = (PAIRS.to_string(), seed.to_string());
            let words = ["match", "--fixed", "--nodes", "200", "--pairs", &pairs, "--seed", &seed];
            json(&coordinator.admin(&words))["job"].to_string()
        })
        .collect();

    let calm = Arc::new(AtomicBool::new(false));
    let (still, mut dice) = (Arc::clone(&calm), Dice::new(7));
    let socket = coordinator.address().trim_start_matches("http://").parse().unwrap();
    let fault = move |_, _: &_| if still.load(Relaxed) { Fault::None } else { trouble(&mut dice) };
    let proxy = proxy::start(socket, fault).unwrap();
    let mut dice = Dice::new(11);
    let nap = |dice: &mut Dice, most| thread::sleep(dice.between(Duration::from_millis(100), most));
    for kill in 0..kills {
        let worker = stage.worker_at(&proxy.url(), &token, "worker");
        // It has begun to ask; then not in step with anything.
        let state = stage.path("worker");
        let is_at_it = || state.join("asking").exists() || files(&state.join("leases")) > 0;
        let _ = try_for(Duration::from_secs(10), || is_at_it().then_some(()));
        nap(&mut dice, Duration::from_secs(2));
        if kill % 2 == 1 {
            coordinator.kill();
            nap(&mut dice, Duration::from_millis(500));
        }
        if kill % 3 == 2 {
            // Told to stop it hands in what is finished, with gaps where games were at hand, and gives those back.
            worker.signal("TERM");
            let status = worker.end(LONG);
            // Before it has begun anything the signal itself ends it.
            assert!([0, -1].contains(&status), "{status}");
        } else {
            worker.kill();
        }
        if kill % 2 == 1 {
            coordinator.serve();
        }
    }
    calm.store(true, Relaxed);
    let said_before = fs::read_to_string(stage.log("worker")).map_or(0, |said| said.len());
    let worker = stage.worker_at(&proxy.url(), &token, "worker");
    // All may be accepted by now. Whoever says how it stands hears its signals.
    wait_for("a worker that is there", LONG, || worker.log().get(said_before..)?.contains(" accepted").then_some(()));
    for job in &jobs {
        wait_for("all pairs of a match", LONG, || {
            (json(&coordinator.admin(&["standing", job]))["pairs"].as_u64() == Some(PAIRS)).then_some(())
        });
    }
    worker.signal("INT");
    assert_eq!(worker.end(LONG), 0);

    let mut counted = BTreeSet::new();
    let folder = stage.path("coordinator").join("objects/shards");
    for job in &jobs {
        let mut next = 0;
        for (first, games, hash) in shards(&coordinator, &token, job) {
            assert_eq!(first, next, "job {job}: a gap, or games that are counted twice");
            next = first + games;
            let path = folder.join(&hash[..2]).join(&hash);
            assert!(fs::read(&path).unwrap() == replay(&path), "job {job}: the games from {first} on are others");
            assert!(counted.insert(hash), "job {job}: the games from {first} on are another job's");
        }
        assert_eq!(next, 2 * PAIRS, "job {job}");
    }
    let total = jobs.len() as u64 * 2 * PAIRS;
    let (_, me) = coordinator.ask("GET", "/api/v1/me", &token, "");
    assert_eq!(json(&me[me.find('{').unwrap()..=me.rfind('}').unwrap()])["total"]["games"], total);
    assert_eq!(objects(&folder), counted, "what was thanked for counts, and nothing else is kept");
    for left in ["outbox", "refused", "leases"] {
        assert_eq!(files(&stage.path("worker").join(left)), 0, "{left}");
    }
    let events = coordinator.admin(&["audit"]);
    for never in ["\"dispute\"", "\"quarantine\"", "\"rejected\""] {
        assert!(!events.contains(never), "{events}");
    }
    println!("{kills} kills, {total} games in {} results", counted.len());
}
