//! `chuhe data export`: converts shards to other formats.

mod games;
mod parquet;
mod positions;

use std::{
    io::{self, Write},
    path::PathBuf,
};

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use dataset::{Header, Record, shard};
use xiangqi::notation::Notation;

use super::NOT_FOR_TRAINING;
use crate::{Finding, output::Output, progress::Progress};

/// Convert shards to another format
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The shards
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The format
    #[arg(long, value_name = "FORMAT")]
    format: Format,
    /// Move notation of `pgn`: uci, uci1, ucci, iccs, wxf, chinese (simplified) or
    /// `chinese_traditional` [default: iccs]
    #[arg(long)]
    notation: Option<Notation>,
    /// File to write, or `-` for standard output; existing files are not overwritten
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// One game a line, as JSON
    Jsonl,
    /// One position a line: game, ply, FEN, move, score, result for the side to move, reason
    Csv,
    /// Games, with all that their shard holds as tags, and scores as comments
    Pgn,
    /// Positions as trainers of variant nets read them: 72 bytes each, without those that lack a
    /// score or a label
    Sfen,
    /// The columns of `csv` as Parquet
    Parquet,
}

/// A writer of games in some format.
trait Exporter {
    fn game(&mut self, header: &Header, number: u64, record: &Record) -> Result<()>;

    /// Flushes and renames the file.
    fn finish(self: Box<Self>) -> Result<()>;
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        if self.notation.is_some() && !matches!(self.format, Format::Pgn) {
            bail!("--notation: only `--format pgn` has a choice of notation");
        }
        // All shards are checked before any file or folder is created.
        let shards = self.files.iter().map(shard::open).collect::<Result<Vec<_>, _>>()?;
        let file = Output::begin(&self.out).context("--out")?;
        let is_standard = file.is_standard();
        let mut exporter: Box<dyn Exporter> = match self.format {
            Format::Jsonl => Box::new(games::Jsonl(file)),
            Format::Pgn => Box::new(games::Pgn { file, notation: self.notation.unwrap_or(Notation::Iccs) }),
            Format::Csv => Box::new(positions::Csv::begin(file)?),
            Format::Sfen => Box::new(positions::Sfen(file)),
            Format::Parquet => Box::new(parquet::Parquet::begin(file)?),
        };
        let mut games = 0_u64;
        let mut progress = Progress::new("games", Some(shards.iter().map(shard::Shard::games).sum()));
        for (path, shard) in self.files.iter().zip(&shards) {
            for game in shard.records() {
                let (number, record) = game.with_context(|| path.display().to_string())?;
                exporter.game(shard.header(), number, &record).context("--out")?;
                games += 1;
                progress.add(1)?;
            }
        }
        drop(progress);
        exporter.finish().context("--out")?;
        let timed: u64 = shards.iter().filter(|shard| shard.header().clock.is_some()).map(shard::Shard::games).sum();
        // Standard output holds the games alone.
        let summary: &mut dyn Write = if is_standard { &mut io::stderr() } else { out };
        writeln!(summary, "{games} games")?;
        if timed > 0 {
            writeln!(summary, "timed {timed}: {NOT_FOR_TRAINING}")?;
        }
        Ok(Finding::Holds)
    }
}
