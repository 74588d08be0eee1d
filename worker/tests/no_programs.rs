//! A worker starts no program: none of its crates can.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use std::{
    fs,
    path::{Path, PathBuf},
};

const CRATES: [&str; 10] = [
    "worker",
    "crates/client",
    "crates/protocol",
    "crates/selfplay",
    "crates/engine",
    "crates/dataset",
    "crates/command-line",
    "crates/nnue",
    "crates/stats",
    "crates/xiangqi",
];
/// Every way to start a program, in the standard library or in any crate used here, needs one of
/// these words.
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
/// The exception: the worker runs its own successor, after verifying its signature.
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
fn no_crate_of_the_worker_can_start_a_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    for name in CRATES {
        sources(&root.join(name).join("src"), &mut found);
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

/// The crates above are all dependencies in the worker's manifest, except those of its tests.
#[test]
fn every_crate_of_the_worker_is_checked() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let (shipped, _) = manifest.split_once("[dev-dependencies]").unwrap();
    let used = shipped.lines().filter_map(|line| line.strip_prefix("chuhe-")?.split('.').next());
    let mut count = 0;
    for name in used {
        count += 1;
        assert!(CRATES.contains(&format!("crates/{name}").as_str()), "{name}");
    }
    assert!(count > 5, "the manifest was not read");
}
