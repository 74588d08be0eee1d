//! A worker starts no program: none of the rooms that it is made of can.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    fs,
    path::{Path, PathBuf},
};

const ROOMS: [&str; 9] = [
    "worker",
    "crates/client",
    "crates/protocol",
    "crates/selfplay",
    "crates/engine",
    "crates/dataset",
    "crates/nnue",
    "crates/stats",
    "crates/xiangqi",
];
/// Words without which no program is started, in Rust's library or in any crate that these rooms use.
const WORDS: [&str; 8] = [
    "process::Command",
    "Command::new",
    "CommandExt",
    "posix_spawn",
    "execve",
    "fork(",
    "ShellExecute",
    "CreateProcess",
];
/// Where one of them may stand: the worker tries its own successor, whose signature it has checked.
const ALLOWED: &str = "src/update/successor.rs";

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn no_room_of_the_worker_can_start_a_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    for room in ROOMS {
        sources(&root.join(room).join("src"), &mut found);
    }
    assert!(found.len() > 100);
    for path in found.iter().filter(|path| !path.ends_with(ALLOWED)) {
        let text = fs::read_to_string(path).unwrap();
        // `use std::{process::{Command, …}}` is `process` and `Command` in one statement.
        let statements: Vec<_> =
            text.split(';').filter(|it| it.contains("use std::") && it.contains("process")).collect();
        let imported =
            statements.iter().any(|it| it.split(|c: char| !c.is_alphanumeric()).any(|word| word == "Command"));
        assert!(!imported, "{}", path.display());
        for word in WORDS {
            assert!(!text.contains(word), "{}: {word}", path.display());
        }
    }
}

/// The rooms above are all that the worker's manifest names, but for those of its tests.
#[test]
fn no_room_is_forgotten() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let (shipped, _) = manifest.split_once("[dev-dependencies]").unwrap();
    let used = shipped.lines().filter_map(|line| line.strip_prefix("chuhe-")?.split('.').next());
    let mut count = 0;
    for room in used {
        count += 1;
        assert!(ROOMS.contains(&format!("crates/{room}").as_str()), "{room}");
    }
    assert!(count > 5, "the manifest was not read");
}
