//! `chuhe data stats`: statistics of shards.

use std::{collections::BTreeMap, fmt::Display, io::Write, path::PathBuf};

use anyhow::{Context as _, Result};
use dataset::{
    AtomicFile, shard,
    stats::{Counter, Stats},
};
use serde::Serialize;
use xiangqi::rules::RuleSet;

use super::{NOT_FOR_TRAINING, other_rules::OtherRules, svg};
use crate::{Finding, interrupt, progress::Progress};

/// Print statistics of shards: games, positions, endings, sizes
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The shards
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Replay every game under another rulebook, and count the labels that differ
    #[arg(long, value_name = "RULES")]
    against: Option<RuleSet>,
    /// Draw the histograms to an SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Answer {
    #[serde(flatten)]
    stats: Stats,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<OtherRules>,
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        interrupt::exit_without_result();
        let mut counter = Counter::default();
        let mut against = self.against.map(OtherRules::new);
        let mut progress = Progress::new("shards", Some(self.files.len() as u64));
        for path in &self.files {
            let shard = shard::open(path)?;
            counter.add(&shard).with_context(|| path.display().to_string())?;
            if let Some(against) = &mut against {
                for game in shard.records() {
                    against.add(&game.with_context(|| path.display().to_string())?.1);
                }
            }
            progress.count(1);
        }
        drop(progress);
        let answer = Answer { stats: counter.finish(), against };
        if let Some(path) = &self.svg {
            AtomicFile::write(path, svg::draw(&answer.stats).as_bytes()).context("--svg")?;
        }
        if self.json {
            serde_json::to_writer(&mut *out, &answer)?;
            writeln!(out)?;
        } else {
            print(&answer.stats, out)?;
            if let Some(against) = &answer.against {
                against.print(out)?;
            }
        }
        Ok(Finding::Holds)
    }
}

fn print(stats: &Stats, out: &mut impl Write) -> Result<()> {
    table(out, "outcome", &stats.outcomes)?;
    table(out, "reason", &stats.reasons)?;
    table(out, "score", &stats.scores)?;
    table(out, "pieces", &stats.pieces)?;
    table(out, "plies", &stats.lengths)?;
    writeln!(out, "duplicates {} games, {} positions", stats.duplicate_games, stats.duplicate_positions)?;
    writeln!(out, "unscored {}", stats.unscored)?;
    writeln!(out, "games {} with {} plies in {} shards", stats.games, stats.plies, stats.shards)?;
    if stats.timed_games > 0 {
        writeln!(out, "timed {}: {NOT_FOR_TRAINING}", stats.timed_games)?;
    }
    writeln!(out, "positions {}", stats.positions)?;
    writeln!(out, "bytes {}, {:.4} a position", stats.bytes, stats.bytes_per_position)?;
    Ok(())
}

fn table<K: Display>(out: &mut impl Write, what: &str, counts: &BTreeMap<K, u64>) -> Result<()> {
    for (name, count) in counts.iter().filter(|(_, count)| **count > 0) {
        writeln!(out, "{what} {name} {count}")?;
    }
    Ok(())
}
