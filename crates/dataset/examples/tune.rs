//! Measures the initial probabilities of the codec over the games of some shards, and writes them
//! where the codec includes them. The result is another format: raise the version.
//!
//! `cargo run --release -p chuhe-dataset --features tuning --example tune --
//! crates/dataset/src/codec/priors.bin SHARD…`

use std::{env, error::Error, fs};

use dataset::{codec::Tuner, shard};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1);
    let target = arguments.next().ok_or("first the file to write, then the shards")?;
    let mut tuner = Tuner::default();
    for path in arguments {
        let shard = shard::open(path)?;
        for game in shard.records() {
            let (number, record) = game?;
            tuner.add(shard.header(), number, &record)?;
        }
    }
    fs::write(target, tuner.priors())?;
    Ok(())
}
