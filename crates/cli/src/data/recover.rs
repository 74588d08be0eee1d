//! `chuhe data recover`: saves the intact part of a damaged file.

use std::{io::Write, path::PathBuf};

use anyhow::{Context as _, Result};
use dataset::{
    AtomicFile,
    shard::{FileSource, recover},
};

use crate::{Finding, interrupt};

/// Save the games of a truncated or damaged file: all intact blocks before the first damaged one
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The damaged file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Shard to write; existing files are not overwritten
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        let mut file = AtomicFile::begin(&self.out).context("--out")?;
        interrupt::exit_without_file(file.part().to_owned());
        let source = FileSource::open(&self.file).with_context(|| self.file.display().to_string())?;
        let recovered = recover(&source, &mut file).with_context(|| self.file.display().to_string())?;
        file.finish().context("--out")?;
        let (games, positions, lost) = (recovered.games, recovered.positions, recovered.lost_bytes);
        if self.json {
            let answer = serde_json::json!({ "games": games, "positions": positions, "lost_bytes": lost });
            writeln!(out, "{answer}")?;
        } else {
            writeln!(out, "{games} games with {positions} positions saved, {lost} bytes given up")?;
        }
        Ok(Finding::Holds)
    }
}
