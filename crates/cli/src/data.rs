//! `chuhe data`: shards of games.

mod certificate;
mod dump;
mod export;
mod fetch;
mod import;
mod manifest;
mod other_rules;
mod recover;
mod relabel;
mod sample;
mod stats;
mod svg;
mod verify;

use std::io::Write;

use anyhow::Result;
use clap::Subcommand;

use crate::Finding;

/// The note on games that were played under a clock.
const NOT_FOR_TRAINING: &str = "played under a clock, unprovable, no training data";

/// Inspect, verify, convert and fetch shards of games
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Stats(stats::Arguments),
    Verify(verify::Arguments),
    Recover(recover::Arguments),
    Relabel(relabel::Arguments),
    Dump(dump::Arguments),
    Export(export::Arguments),
    Import(import::Arguments),
    Sample(sample::Arguments),
    Manifest(manifest::Arguments),
    Fetch(fetch::Arguments),
    Certificate(certificate::Arguments),
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        match &self.command {
            Command::Stats(arguments) => arguments.run(out),
            Command::Verify(arguments) => arguments.run(out),
            Command::Recover(arguments) => arguments.run(out),
            Command::Relabel(arguments) => arguments.run(out),
            Command::Dump(arguments) => arguments.run(out),
            Command::Export(arguments) => arguments.run(out),
            Command::Import(arguments) => arguments.run(out),
            Command::Sample(arguments) => arguments.run(out),
            Command::Manifest(arguments) => arguments.run(out),
            Command::Fetch(arguments) => arguments.run(out),
            Command::Certificate(arguments) => arguments.run(out),
        }
    }
}
