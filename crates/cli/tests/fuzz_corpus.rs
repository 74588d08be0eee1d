//! Replays the fuzzer's corpus.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

#[path = "../fuzz/properties.rs"]
mod properties;

use std::{fs, path::Path};

#[test]
fn judge_line() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/judge_line");
    let mut replayed = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        properties::judge_line(&fs::read(entry.unwrap().path()).unwrap());
        replayed += 1;
    }
    assert!(replayed > 10, "{}: only {replayed} inputs", folder.display());
}
