//! A worker and a coordinator that are killed repeatedly, behind a faulty network: every game of
//! every match is accepted once and equals the reference.
//!
//! `CHUHE_KILLS` is the number of times the worker is ended: two thirds killed, one third by
//! SIGTERM. The coordinator is killed half as often. `scripts/check --long` sets 50.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
#![allow(clippy::print_stdout, reason = "skipped checks and counts are printed")]

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

use client::JitterRng;
use dataset::shard::{self, ShardWriter};
use e2e::{Coordinator, Role, Stage, try_for, wait_for};
use engine::Evaluation;
use selfplay::selfplay::Run;
use serde_json::Value;
use testkit::proxy::{self, Fault};

const LONG: Duration = Duration::from_mins(5);
/// Small matches, so that many results are in transit at each kill.
const PAIRS: u64 = 10;

/// Returns a fault for a third of all requests.
fn trouble(rng: &mut JitterRng) -> Fault {
    Fault::any(30, || rng.next_u64())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The valid shards of a match: first game, games, hash.
fn shards(coordinator: &Coordinator<'_>, token: &str, job: &str) -> Vec<(u64, u64, String)> {
    let (status, text) = coordinator.ask("GET", &format!("/api/v1/games?job={job}"), token, "");
    assert_eq!(status, 200, "{text}");
    // The body may be chunked.
    let text = text[text.find('[').unwrap()..=text.rfind(']').unwrap()].replace("\r\n", "");
    let listed = json(&text);
    let number = |shard: &Value, name: &str| shard[name].as_u64().unwrap();
    let one =
        |shard: &Value| (number(shard, "first"), number(shard, "games"), shard["shard"].as_str().unwrap().to_owned());
    let mut found: Vec<_> = listed.as_array().unwrap().iter().map(one).collect();
    found.sort();
    found
}

/// Replays the games of a shard.
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

/// The names of all game files, valid or not.
fn objects(folder: &Path) -> BTreeSet<String> {
    let inside = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let files = inside(folder).into_iter().flat_map(|folder| inside(&folder));
    files.map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

fn files(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

#[test]
fn every_game_is_accepted_once_despite_kills() {
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
    let (still, mut rng) = (Arc::clone(&calm), JitterRng::new(7));
    let socket = coordinator.address().trim_start_matches("http://").parse().unwrap();
    let fault = move |_, _: &_| if still.load(Relaxed) { Fault::None } else { trouble(&mut rng) };
    let proxy = proxy::start(socket, fault).unwrap();
    let mut rng = JitterRng::new(11);
    let nap = |rng: &mut JitterRng, most| thread::sleep(rng.duration_between(Duration::from_millis(100), most));
    for kill in 0..kills {
        let worker = stage.worker_at(&proxy.url(), &token, "worker");
        // It has sent a request; then at a random time.
        let state = stage.path("worker");
        let is_at_it = || state.join("asking").exists() || files(&state.join("spool")) > 0;
        let _ = try_for(Duration::from_secs(10), || is_at_it().then_some(()));
        nap(&mut rng, Duration::from_secs(2));
        if kill % 2 == 1 {
            coordinator.kill();
            nap(&mut rng, Duration::from_millis(500));
        }
        if kill % 3 == 2 {
            // SIGTERM: it submits finished games, with gaps, and releases the games at hand.
            worker.signal("TERM");
            let status = worker.end(LONG);
            // Before it has begun, the signal itself ends it.
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
    // All games may be accepted by now. A worker that logs its status handles its signals.
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
    assert_eq!(objects(&folder), counted, "acknowledged games count, and nothing else is kept");
    for left in ["spool", "refused"] {
        assert_eq!(files(&stage.path("worker").join(left)), 0, "{left}");
    }
    let events = coordinator.admin(&["audit"]);
    for never in ["\"dispute\"", "\"quarantine\"", "\"rejected\""] {
        assert!(!events.contains(never), "{events}");
    }
    println!("{kills} kills, {total} games in {} results", counted.len());
}
