//! Exports a run's net with its neurons in the order of training, to be compared with the exported
//! net, whose neurons are ordered by activity. Figures: docs/BENCHMARKS.md.
//!
//! `cargo run --release -p chuhe-trainer --example unordered -- RUN FILE`

#![allow(clippy::unwrap_used, reason = "an experiment panics on failure")]

use std::{env, fs};

use trainer::{
    checkpoint::Checkpoint,
    export,
    run::{Folder, Kept},
};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let path = Folder::new(&arguments[0]).checkpoint(Kept::Last);
    let shape = Checkpoint::shape(&path).unwrap();
    let learned = Checkpoint::read(&path, &shape).unwrap().state.values;
    fs::write(&arguments[1], export::quantise(&shape, &learned, "unordered").unwrap().to_bytes()).unwrap();
}
