//! A set of more shards than the process may have open files is trained on.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed test panics")]

#[path = "common/games.rs"]
mod games;

use std::{env, fs, process::Command};

use dataset::{
    manifest::{KNOWN_DIGESTS, Manifest},
    shard::{self, ShardWriter},
};
use games::Folder;

/// With `CHUHE_SHARDS`, a set of so many shards under a limit of 256.
#[test]
fn shards_need_no_open_files() {
    let folder = Folder::new("open-files", "batch = 500\nepochs = 1\npositions_per_epoch = 5_000\n", "");
    let games = shard::open(folder.file("games.chuhe")).unwrap();
    let records: Vec<_> = games.records().map(|record| record.unwrap()).collect();
    let (count, limit) = match env::var("CHUHE_SHARDS") {
        Ok(count) => (count.parse().unwrap(), 256),
        Err(_) => (records.len(), 32),
    };
    let mut paths = Vec::new();
    for (place, (number, record)) in records.iter().cycle().take(count).enumerate() {
        let mut header = games.header().clone();
        header.first_game = *number;
        // No game depends on it, so that one may be in several shards.
        header.bench_signature += (place / records.len()) as u64;
        let mut writer = ShardWriter::new(Vec::new(), header).unwrap();
        writer.add(record).unwrap();
        paths.push(folder.file(&format!("game-{place}.chuhe")));
        fs::write(paths.last().unwrap(), writer.finish().unwrap().0).unwrap();
    }
    let mut manifest = Manifest::of_files(&paths).unwrap();
    for entry in &mut manifest.shards {
        entry.scale_tenths = Some(4_000);
    }
    fs::write(folder.file("set.json"), manifest.to_text()).unwrap();
    let train = || {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("ulimit -n {limit}; exec \"$@\"")).arg("sh");
        shell.arg(env!("CARGO_BIN_EXE_chuhe-trainer")).arg("train").arg(folder.file("recipe.toml"));
        shell.arg("--out").arg(folder.file("out")).args(["--threads", "2", "--readers", "2"]).output().unwrap()
    };
    assert!(count > 60);
    let output = train();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    // A shard that was altered since its digest was remembered is found out.
    let known = fs::read_to_string(folder.file(KNOWN_DIGESTS)).unwrap();
    assert_eq!(known.lines().count(), count);
    let mut bytes = fs::read(&paths[7]).unwrap();
    let last = bytes.len() - 40;
    bytes[last] ^= 1;
    fs::write(&paths[7], bytes).unwrap();
    let output = train();
    let sentence = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && sentence.contains("it was altered"), "{sentence}");
}
