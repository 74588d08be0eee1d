//! A set of a hundred gigabytes, of which nothing is on this machine.
//!
//! So many games are not made for a test: the server has those shards that are drawn, and the
//! manifest invents the others.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a failed test panics")]
#![allow(clippy::disallowed_methods, reason = "it prints when the first steps were done, and asserts no time")]

#[path = "common/games.rs"]
mod games;
#[path = "common/runs.rs"]
mod runs;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    num::NonZeroU32,
    process::Stdio,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use dataset::{
    Digest, Record,
    manifest::{Entry, Manifest},
    shard::{self, Shard, ShardError, ShardWriter},
    training::{Filter, Games, Plan, Reader, ReaderPosition, ShardStore, StreamedSet, WeightedSet},
};
use games::Folder;
use runs::trainer;
use testkit::http::{Listener, Response};

const SHARD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../nets/gen2-256/games/games-seed4007-2000.chuhe");
const SET_BYTES: u64 = 100_000_000_000;
const LEARNED: u64 = 48_000_000;
const MEBIBYTE: u64 = 1 << 20;
const DISK_MEBIBYTES: u64 = 64;

/// Tells which shards are drawn. What they hold does not matter for that.
struct Recorder {
    shard: Shard<Vec<u8>>,
    drawn: Mutex<Vec<u32>>,
}

impl ShardStore for Recorder {
    type Source = Vec<u8>;

    fn open(&self, _: u32, shard: u32) -> Result<Shard<Vec<u8>>, ShardError> {
        self.drawn.lock().unwrap().push(shard);
        Ok(self.shard.clone())
    }
}

/// The first `count` shards that a recipe with default seeds draws.
fn drawn(shard: Vec<u8>, positions: Vec<u64>, plan: &Plan, count: usize) -> Vec<u32> {
    let recorder = Arc::new(Recorder { shard: Shard::new(shard).unwrap(), drawn: Mutex::default() });
    let set = StreamedSet { positions, weight: 1 };
    let mut reader = Reader::streamed(&recorder, vec![set], plan, ReaderPosition::default()).unwrap();
    while recorder.drawn.lock().unwrap().len() < count {
        reader.read_pool(&mut Vec::new()).unwrap();
    }
    drop(reader);
    let mut drawn = recorder.drawn.lock().unwrap().clone();
    drawn.truncate(count);
    drawn
}

/// The positions of a shard that a recipe with a default filter learns from.
fn kept(shard: Vec<u8>, plan: &Plan) -> u64 {
    let shard = Shard::new(shard).unwrap();
    let plan = Plan { blocks_in_pool: shard.index().len(), ..plan.clone() };
    let set = WeightedSet { shards: vec![shard], weight: 1 };
    let mut samples = Vec::new();
    Reader::new(vec![set], &plan, ReaderPosition::default()).unwrap().read_pool(&mut samples).unwrap();
    samples.len() as u64
}

#[test]
#[ignore = "a long check: forty-eight million positions"]
fn a_hundred_gigabytes_elsewhere() {
    let rest = format!("batch = 8_000\nepochs = 2\npositions_per_epoch = {}\n", LEARNED / 2);
    let folder = Folder::new("far", &rest, "");
    let recipe = fs::read_to_string(folder.file("recipe.toml")).unwrap();
    let recipe = recipe.replace("validation_one_in = 4\npool_blocks = 2", "streamed = true");
    fs::write(folder.file("recipe.toml"), recipe).unwrap();

    let base = shard::open(SHARD).unwrap();
    let records: Vec<Record> = base.records().map(|record| record.unwrap().1).collect();
    let of_number = |number: u64| {
        let mut header = base.header().clone();
        // The one field that no game depends on.
        header.bench_signature = number;
        let mut writer = ShardWriter::new(Vec::new(), header).unwrap();
        for record in &records {
            writer.add(record).unwrap();
        }
        writer.finish().unwrap().0
    };
    let entry = Manifest::of_files(&[SHARD]).unwrap().shards.remove(0);
    let count = SET_BYTES.div_ceil(entry.bytes) as usize;
    let filter = Filter { in_check: true, captures: true, ..Filter::default() };
    let games = Games::NotHeldOut(NonZeroU32::new(64).unwrap());
    let plan = Plan { seed: 2, blocks_in_pool: 64, games, filter, shares: Vec::new(), cache_bytes: 0, threads: 1 };
    let learned_shards = LEARNED.div_ceil(kept(of_number(0), &plan));
    // Those too that are read ahead.
    let most = learned_shards as usize * 5 / 4 + 70;
    let small = fs::read(folder.file("games.chuhe")).unwrap();
    let real = drawn(small, vec![entry.positions; count], &plan, most);
    println!("{learned_shards} of {count} shards are learned from");

    let shards: BTreeMap<u32, Vec<u8>> =
        real.iter().map(|number| (*number, of_number(u64::from(*number) + 1))).collect();
    let entries = (0..count as u32).map(|number| match shards.get(&number) {
        Some(bytes) => Entry { sha256: Digest::of(bytes).to_string(), bytes: bytes.len() as u64, ..entry.clone() },
        None => Entry { sha256: Digest::of(&number.to_le_bytes()).to_string(), ..entry.clone() },
    });
    let manifest = Manifest {
        format: dataset::manifest::FORMAT.to_owned(),
        games: entry.games * count as u64,
        positions: entry.positions * count as u64,
        shards: entries.collect(),
    };
    assert!(manifest.shards.iter().map(|entry| entry.bytes).sum::<u64>() >= SET_BYTES);
    fs::write(folder.file("set.json"), manifest.to_text()).unwrap();
    drop(manifest);
    let by_digest: BTreeMap<String, Vec<u8>> =
        shards.into_values().map(|bytes| (Digest::of(&bytes).to_string(), bytes)).collect();
    let fetched = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&fetched);
    let listener = Listener::answering(move |request| {
        let name = request.path.rsplit('/').next().unwrap_or_default();
        log.lock().unwrap().push(name.to_owned());
        match by_digest.get(name) {
            Some(bytes) => Response::new(200, "application/octet-stream", bytes.clone()),
            None => Response::new(404, "text/plain", ""),
        }
    })
    .unwrap();

    let url = listener.url();
    let cache = folder.file("cache");
    let disk = DISK_MEBIBYTES.to_string();
    let arguments = ["--server", &url, "--shards", cache.to_str().unwrap(), "--disk", &disk, "--threads", "2"];
    let start = Instant::now();
    let mut command = trainer(&folder, "run", &arguments);
    let mut child = command.args(["--readers", "2"]).stderr(Stdio::inherit()).spawn().unwrap();
    let (mut memory, mut on_disk, mut begun) = (0, 0, None);
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        memory = memory.max(peak.map_or(0, |kibibytes| kibibytes.parse::<u64>().unwrap() << 10));
        let files = fs::read_dir(cache.join("fetched")).into_iter().flatten().flatten();
        on_disk = on_disk.max(files.filter_map(|file| Some(file.metadata().ok()?.len())).sum::<u64>());
        let lines = fs::read_to_string(folder.file("run/metrics.jsonl")).unwrap_or_default();
        begun = begun.or_else(|| (!lines.is_empty()).then(|| start.elapsed()));
        thread::sleep(Duration::from_millis(50));
    }
    assert!(child.wait().unwrap().success());
    let fetched = fetched.lock().unwrap();
    let distinct: BTreeSet<&String> = fetched.iter().collect();
    let share = fetched.len() as f64 / learned_shards as f64;
    println!("fifty steps after {begun:?}; peak memory {} MiB, disk {} MiB", memory / MEBIBYTE, on_disk / MEBIBYTE);
    println!(
        "{} shards were fetched, {} of them distinct: {share:.3} of those learned from",
        fetched.len(),
        distinct.len()
    );
    let pool = 64 * 9_000 * 56;
    assert!(memory < 1024 * MEBIBYTE + pool && on_disk <= (DISK_MEBIBYTES + 2) * MEBIBYTE);
    // More than the disk has room for.
    assert!(fetched.len() as u64 * entry.bytes > (DISK_MEBIBYTES + 2) * MEBIBYTE && on_disk > 0);
    assert!(share <= 1.2);
}
