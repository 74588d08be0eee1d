//! Replays the fuzz corpus.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "../fuzz/properties.rs"]
mod properties;

use std::{fs, path::Path};

#[test]
fn uci() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/uci");
    let mut replayed = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        properties::uci(&fs::read(entry.unwrap().path()).unwrap());
        replayed += 1;
    }
    assert!(replayed > 10, "{}: only {replayed} inputs", folder.display());
}
