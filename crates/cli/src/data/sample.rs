//! `chuhe data sample`: draws positions as a trainer does.

use std::{io::Write, num::NonZeroUsize, path::PathBuf};

use anyhow::Result;
use dataset::{
    shard,
    training::{Filter, Games, Plan, Reader, ReaderPosition, WeightedSet},
};
use serde::Serialize;

use crate::{Finding, interrupt, progress::Progress, stopwatch, threads, whole::whole};

/// Draw positions in a trainer's random order, one JSON object a line
///
/// A seed gives the same positions with any number of threads. A `:WEIGHT` behind a file makes it a
/// set of its own, sampled in proportion; files without one form a set of weight 1.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "they are flags")]
pub(crate) struct Arguments {
    /// The shards
    #[arg(required = true, value_name = "FILE[:WEIGHT]")]
    files: Vec<String>,
    /// Number of positions
    #[arg(long, value_name = "N", default_value_t = 10)]
    count: u64,
    /// Seed of the order
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = whole::<u64>(..))]
    seed: u64,
    /// Threads that read shards
    #[arg(long, value_name = "T", default_value = "1", value_parser = threads::parse)]
    threads: NonZeroUsize,
    /// Blocks that are shuffled together
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = whole::<u32>(1..=65_536))]
    pool: u32,
    /// Resume from the place that an earlier call printed
    #[arg(long, value_name = "POOL,SAMPLE", value_parser = place)]
    from: Option<ReaderPosition>,
    /// Exclude positions in check
    #[arg(long)]
    no_checks: bool,
    /// Exclude positions whose move is a capture
    #[arg(long)]
    no_captures: bool,
    /// Exclude positions before this ply
    #[arg(long, value_name = "N", default_value_t = 0)]
    from_ply: u32,
    /// Exclude scores further from even
    #[arg(long, value_name = "SCORE")]
    most_score: Option<i32>,
    /// Exclude positions that were won or lost by this score and ended the other way
    #[arg(long, value_name = "SCORE")]
    contradicting: Option<i32>,
    /// Exclude positions where the natural limit's counter is higher
    #[arg(long, value_name = "PLIES")]
    most_limit: Option<u32>,
    /// Exclude positions that repeat an earlier one of their game
    #[arg(long)]
    no_repeated: bool,
    /// Exclude positions that repeat an earlier one of the files
    #[arg(long)]
    no_duplicates: bool,
    /// Print only the speed and the place
    #[arg(long)]
    quiet: bool,
}

#[derive(Serialize)]
struct Line {
    fen: String,
    #[serde(rename = "move")]
    mv: String,
    score: i16,
    result: i8,
    ply: u16,
    set: u16,
    shard: u32,
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        if self.quiet {
            interrupt::exit_without_result();
        } else {
            interrupt::exit_with("the printed positions are only the first".to_owned());
        }
        let plan = Plan {
            seed: self.seed,
            blocks_in_pool: self.pool as usize,
            games: Games::All,
            filter: Filter {
                in_check: self.no_checks,
                captures: self.no_captures,
                before_ply: self.from_ply,
                beyond: self.most_score,
                contradicting: self.contradicting,
                limit_above: self.most_limit,
                repeated: self.no_repeated,
                duplicates: self.no_duplicates,
                verdicts_as_draws: false,
            },
            shares: Vec::new(),
            cache_bytes: 0,
            threads: self.threads.get(),
        };
        let mut reader = Reader::new(self.sets()?, &plan, self.from.unwrap_or_default())?;
        let mut samples = Vec::new();
        let mut left = self.count;
        let mut progress = Progress::new("positions", Some(self.count));
        let (result, time) = stopwatch::timed(|| -> Result<()> {
            while left > 0 {
                let count = left.min(1 << 16);
                reader.read(&mut samples, count as usize)?;
                left -= count;
                progress.count(count);
                for sample in samples.iter().filter(|_| !self.quiet) {
                    let line = Line {
                        fen: format!(
                            "{} - - {} {}",
                            sample.position.to_fen(),
                            sample.limit_counter,
                            sample.ply / 2 + 1
                        ),
                        mv: sample.mv.to_string(),
                        score: sample.score,
                        result: sample.result,
                        ply: sample.ply,
                        set: sample.set,
                        shard: sample.shard,
                    };
                    serde_json::to_writer(&mut *out, &line)?;
                    writeln!(out)?;
                }
            }
            Ok(())
        });
        result?;
        drop(progress);
        if self.quiet {
            writeln!(out, "{} positions a second", stopwatch::rate(self.count, time))?;
            let ReaderPosition { pool, sample } = reader.place();
            writeln!(out, "rejected {}", reader.rejected().total())?;
            writeln!(out, "place {pool},{sample}")?;
        }
        Ok(Finding::Holds)
    }

    fn sets(&self) -> Result<Vec<WeightedSet<shard::FileSource>>> {
        let mut sets = vec![WeightedSet { shards: Vec::new(), weight: 0 }];
        for file in &self.files {
            let weighted = file.rsplit_once(':').and_then(|(path, weight)| Some((path, weight.parse::<u32>().ok()?)));
            if let Some((path, weight)) = weighted {
                sets.push(WeightedSet { shards: vec![shard::open(PathBuf::from(path))?], weight });
            } else {
                sets[0].shards.push(shard::open(PathBuf::from(file))?);
                sets[0].weight = 1;
            }
        }
        Ok(sets)
    }
}

fn place(text: &str) -> Result<ReaderPosition, String> {
    let place = text.split_once(',').and_then(|(pool, sample)| {
        Some(ReaderPosition { pool: pool.parse().ok().filter(|pool| *pool < 1 << 40)?, sample: sample.parse().ok()? })
    });
    place.ok_or_else(|| "expected POOL,SAMPLE, as `--quiet` prints them".to_owned())
}
