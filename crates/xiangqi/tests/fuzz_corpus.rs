//! Replays the fuzzers' corpora.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

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
fn fen() {
    replay("fen", properties::fen);
}

#[test]
fn move_text() {
    replay("move_text", properties::move_text);
}

#[test]
fn game() {
    replay("game", properties::game);
}

#[test]
fn reader() {
    replay("reader", properties::reader);
}
