//! `chuhe data recover`: what is whole of a file that was cut.

use std::{io::Write, path::PathBuf};

use anyhow::{Context as _, Result};
use dataset::{
    NewFile,
    shard::{FileSource, recover},
};

use crate::Finding;

/// Save the games of a file that was cut or damaged: all whole blocks up to the first that is not
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The shard to write; nothing is written over
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Answer as one JSON object
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        let source = FileSource::open(&self.file).with_context(|| self.file.display().to_string())?;
        let mut file = NewFile::begin(&self.out).context("--out")?;
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
