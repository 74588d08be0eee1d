//! `chuhe data import`: reads the records and games of other programs.

mod pgn;
mod sfen;

use std::{
    io::{self, Write},
    num::NonZeroUsize,
    path::PathBuf,
};

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use xiangqi::rules::RuleSet;

use crate::{Finding, output::Output, threads};

/// Convert positions of other trainers or games in PGN into labelled positions
///
/// Writes JSON, one position a line: `fen`, `move`, `score` and `result` for the side to move,
/// `ply`; of games also `game` and `reason`. Imported positions make no shard: their games are not
/// proven.
///
/// Everything is checked against the rules. Invalid input is named with its place, and no file is
/// written.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The files. PGN may be compressed by gzip or zstd; `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The files' format
    #[arg(long, value_enum, default_value_t = Format::Sfen)]
    format: Format,
    /// File to write, or `-` for standard output; existing files are not overwritten
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The written format; `sfen` has only positions with a score and a result
    #[arg(long, value_enum, default_value_t = Target::Jsonl)]
    to: Target,
    /// The rulebook that judges PGN: cxr, wxf, axf, wikibook or simple [default: the tag `Rules`,
    /// or cxr]
    #[arg(long)]
    rules: Option<RuleSet>,
    /// Threads that read PGN [default: all cores]
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = threads::parse)]
    threads: Option<NonZeroUsize>,
    /// Print the counts as one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// 72-byte records, one position each
    Sfen,
    /// Games in any notation; scores in comments
    Pgn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Target {
    /// JSON, one position a line
    Jsonl,
    /// 72-byte records for trainers of variant nets
    Sfen,
}

/// A position in JSON.
#[derive(Serialize)]
struct Line {
    #[serde(skip_serializing_if = "Option::is_none")]
    game: Option<u64>,
    fen: String,
    #[serde(rename = "move")]
    mv: String,
    score: Option<i32>,
    result: Option<i8>,
    ply: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

impl Line {
    fn write(&self, mut out: impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut out, self)?;
        out.write_all(b"\n")
    }
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        if self.format == Format::Sfen && (self.rules.is_some() || self.to == Target::Sfen) {
            bail!("--rules and --to sfen need games: --format pgn");
        }
        let mut target = Output::begin(&self.out).context("--out")?;
        // Standard output holds the positions alone.
        let summary: &mut dyn Write = if target.is_standard() { &mut io::stderr() } else { out };
        match self.format {
            Format::Sfen => {
                let positions = sfen::convert(&self.files, &mut target)?;
                target.finish().context("--out")?;
                if self.json {
                    writeln!(summary, "{{\"positions\":{positions}}}")?;
                } else {
                    writeln!(summary, "{positions} positions")?;
                }
            }
            Format::Pgn => {
                let threads = self.threads.unwrap_or_else(threads::all);
                let sum = pgn::convert(&self.files, self.rules, self.to, threads, &mut target)?;
                target.finish().context("--out")?;
                sum.print(self.json, summary)?;
            }
        }
        Ok(Finding::Holds)
    }
}
