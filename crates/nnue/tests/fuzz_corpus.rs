//! Replays the fuzz corpora.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "../fuzz/properties.rs"]
mod properties;

use std::{fs, path::Path};

fn replay(target: &str, property: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut replayed = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        property(&fs::read(&path).unwrap());
        replayed += 1;
    }
    assert!(replayed > 10, "{}: only {replayed} inputs", folder.display());
}

#[test]
fn net_file() {
    replay("net_file", properties::net_file);
}

#[test]
fn net_patch() {
    replay("net_patch", properties::net_patch);
}
