//! Training from sets of which nothing is on this machine: shards are fetched when they are drawn.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed test panics")]

#[path = "common/games.rs"]
mod games;
#[path = "common/runs.rs"]
mod runs;

use std::{
    collections::BTreeMap,
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

use dataset::{
    Digest,
    manifest::Manifest,
    shard::{self, ShardWriter},
};
use games::Folder;
use protocol::api::problem::{Code, PROBLEM_TYPE, Problem};
use runs::{done, killed_and_resumed, rejected, same, trainer};
use testkit::http::{Listener, Response};

/// A coordinator that has the shards, and counts the bytes that it sends.
struct Server {
    listener: Listener,
    sent: Arc<AtomicU64>,
}

impl Server {
    fn new(shards: BTreeMap<String, Vec<u8>>) -> Self {
        let sent = Arc::new(AtomicU64::new(0));
        let (count, is_up) = (Arc::clone(&sent), AtomicBool::new(false));
        let listener = Listener::answering(move |request| {
            let name = request.path.rsplit('/').next().unwrap_or_default();
            let Some(bytes) = shards.get(name) else {
                let problem = Problem::new(Code::NotFound, "there is no such shard");
                return Response::new(404, PROBLEM_TYPE, serde_json::to_vec(&problem).unwrap());
            };
            // At first it is busy.
            if !is_up.swap(true, Relaxed) {
                return Response::new(503, "text/plain", "");
            }
            count.fetch_add(bytes.len() as u64, Relaxed);
            Response::new(200, "application/octet-stream", bytes.clone())
        });
        Self { listener: listener.unwrap(), sent }
    }
}

/// Splits the folder's games into shards of one game, which a server has; the folder keeps their
/// manifest.
fn with_server(name: &str) -> (Folder, Server, Vec<Vec<u8>>) {
    let folder = Folder::new(name, "batch = 250\nepochs = 2\npositions_per_epoch = 10_000\n", "");
    let games = shard::open(folder.file("games.chuhe")).unwrap();
    let mut shards = Vec::new();
    for record in games.records() {
        let (number, record) = record.unwrap();
        let mut header = games.header().clone();
        header.first_game = number;
        let mut writer = ShardWriter::new(Vec::new(), header).unwrap();
        writer.add(&record).unwrap();
        shards.push(writer.finish().unwrap().0);
    }
    fs::remove_file(folder.file("games.chuhe")).unwrap();
    fs::create_dir(folder.file("local")).unwrap();
    let paths = shards.iter().enumerate().map(|(number, bytes)| {
        let path = folder.file("local").join(format!("{number}.chuhe"));
        fs::write(&path, bytes).unwrap();
        path
    });
    let mut manifest = Manifest::of_files(&paths.collect::<Vec<_>>()).unwrap();
    for entry in &mut manifest.shards {
        entry.scale_tenths = Some(4_000);
    }
    fs::write(folder.file("set.json"), manifest.to_text()).unwrap();
    let recipe = fs::read_to_string(folder.file("recipe.toml")).unwrap();
    fs::write(folder.file("recipe.toml"), recipe.replace("pool_blocks = 2", "pool_blocks = 1\nstreamed = true"))
        .unwrap();
    let by_digest = shards.iter().map(|bytes| (Digest::of(bytes).to_string(), bytes.clone())).collect();
    (folder, Server::new(by_digest), shards)
}

/// Neither the place of the shards, nor the room for them, nor a kill changes a bit.
#[test]
fn fetched_shards_train_the_same_net_as_those_on_disk() {
    let (folder, server, shards) = with_server("streamed");
    let local = folder.file("local");
    done(&mut trainer(&folder, "here", &["--shards", local.to_str().unwrap()]));
    let url = server.listener.url();
    let cache = folder.file("cache");
    let fetching = ["--server", &url, "--shards", cache.to_str().unwrap()];
    // Only one shard stays on disk.
    let each: [(usize, &[&str]); 3] = [
        (2, &["--threads", "2", "--checkpoint-steps", "7", "--disk", "0"]),
        (5, &["--readers", "3", "--checkpoint-steps", "11", "--disk", "0"]),
        (3, &["--threads", "1", "--checkpoint-steps", "5", "--disk", "1"]),
    ];
    killed_and_resumed(&folder, "fetched", &fetching, &each);
    same(&folder, "here", "fetched");
    let whole: u64 = shards.iter().map(|bytes| bytes.len() as u64).sum();
    assert!(server.sent.load(Relaxed) >= whole);

    // With room for all of them, each is fetched once.
    server.sent.store(0, Relaxed);
    fs::remove_dir_all(&cache).unwrap();
    done(&mut trainer(&folder, "roomy", &fetching));
    assert_eq!(server.sent.load(Relaxed), whole);
    same(&folder, "here", "roomy");
}

/// Held-out positions are taken from the shards that are learned from first.
#[test]
fn a_short_run_fetches_few_shards() {
    let folder = Folder::new("streamed-short", "batch = 250\nepochs = 1\npositions_per_epoch = 12_000\n", "");
    let games = shard::open(folder.file("games.chuhe")).unwrap();
    let (mut files, mut shards) = (Vec::new(), BTreeMap::new());
    for number in 0..20 {
        let mut header = games.header().clone();
        // The one field that no game depends on.
        header.bench_signature = number;
        let mut writer = ShardWriter::new(Vec::new(), header).unwrap();
        games.records().for_each(|record| writer.add(&record.unwrap().1).unwrap());
        let bytes = writer.finish().unwrap().0;
        files.push(folder.file(&format!("{number}.chuhe")));
        fs::write(files.last().unwrap(), &bytes).unwrap();
        shards.insert(Digest::of(&bytes).to_string(), bytes);
    }
    fs::write(folder.file("set.json"), Manifest::of_files(&files).unwrap().to_text()).unwrap();
    for path in files {
        fs::remove_file(path).unwrap();
    }
    let recipe = fs::read_to_string(folder.file("recipe.toml")).unwrap();
    let recipe = recipe.replace("pool_blocks = 2", "pool_blocks = 1\nstreamed = true");
    fs::write(folder.file("recipe.toml"), recipe).unwrap();
    let server = Server::new(shards.clone());
    done(&mut trainer(&folder, "out", &["--server", &server.listener.url()]));
    // A shard is a pool. Two are learned from, and a few more are read ahead.
    let fetched = fs::read_dir(folder.file("fetched")).unwrap().count();
    let sent: usize = server.sent.load(Relaxed) as usize;
    let one = shards.values().map(Vec::len).max().unwrap();
    assert!((2..=8).contains(&fetched) && sent <= fetched * one, "{fetched} shards of {one} bytes, {sent} in all");
}

/// Shards that were there before, under any name, are neither fetched nor removed.
#[test]
fn only_fetched_shards_are_removed() {
    let (folder, server, shards) = with_server("streamed-local");
    let local = folder.file("local");
    let here = |number: usize| local.join(format!("{number}.chuhe"));
    (3..shards.len()).for_each(|number| fs::remove_file(here(number)).unwrap());
    let url = server.listener.url();
    let fetching = ["--server", &url, "--shards", local.to_str().unwrap()];
    let fetched = || fs::read_dir(local.join("fetched")).unwrap().count();

    done(&mut trainer(&folder, "roomy", &fetching));
    let elsewhere: usize = shards[3..].iter().map(Vec::len).sum();
    assert_eq!((server.sent.load(Relaxed), fetched()), (elsewhere as u64, shards.len() - 3));

    // The limit holds for what earlier runs fetched as well, and for all stages together.
    let recipe = fs::read_to_string(folder.file("recipe.toml")).unwrap();
    let stages = "\n[[stages]]\n[stages.schedule]\nbatch = 250\nepochs = 1\npositions_per_epoch = 5_000\n";
    fs::write(folder.file("recipe.toml"), recipe + stages).unwrap();
    fs::remove_file(fs::read_dir(local.join("fetched")).unwrap().next().unwrap().unwrap().path()).unwrap();
    done(trainer(&folder, "small", &fetching).args(["--disk", "0"]));
    assert_eq!(fetched(), 1);
    (0..3).for_each(|number| assert_eq!(fs::read(here(number)).unwrap(), shards[number]));
}

#[test]
fn a_streamed_set_that_is_not_whole_is_rejected() {
    let (folder, server, _) = with_server("streamed-rejected");
    // Without a server all shards must be there.
    assert!(rejected(&mut trainer(&folder, "out", &[])).contains("no file in "));
    let url = server.listener.url();
    let set = fs::read_to_string(folder.file("set.json")).unwrap();
    let manifest = Manifest::from_text(&set).unwrap();
    let lost = Digest::of(b"a shard that no server has").to_string();
    fs::write(folder.file("set.json"), set.replace(&manifest.shards[5].sha256, &lost)).unwrap();
    let sentence = rejected(&mut trainer(&folder, "out", &["--server", &url]));
    assert!(sentence.contains(&format!("set 0, shard 5: the shard {lost}: ")), "{sentence}");
    assert!(sentence.contains("there is no such shard"), "{sentence}");
    let recipe = fs::read_to_string(folder.file("recipe.toml")).unwrap();
    let both = recipe.replace("[[data.sources]]", "[data.filter]\nduplicates = true\n[[data.sources]]");
    fs::write(folder.file("recipe.toml"), both).unwrap();
    let sentence = rejected(&mut trainer(&folder, "out", &[]));
    assert!(sentence.contains("`data.filter.duplicates` goes with `data.streamed` \"false\""), "{sentence}");
    fs::write(folder.file("recipe.toml"), recipe.replace("streamed = true", "streamed = false")).unwrap();
    let sentence = rejected(&mut trainer(&folder, "out", &["--server", &url]));
    assert!(sentence.contains("--server is for a streamed set"), "{sentence}");
}
