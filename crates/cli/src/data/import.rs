//! `chuhe data import`: reads the records of other trainers.

use std::{
    fs::File,
    io::{BufReader, Read as _, Write},
    path::PathBuf,
};

use anyhow::{Context as _, Result, bail};
use dataset::{
    AtomicFile,
    sfen::{Entry, LENGTH},
};
use serde::Serialize;

use crate::Finding;

/// Convert the binary sfen records of other trainers to JSON, one position a line
///
/// The records are positions, not games: they do not say how a game ended, or whether by the rules,
/// so they make no shard. Every record is checked against the rules. An invalid one is named, and
/// nothing is written.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The records, 72 bytes each
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// File to write; existing files are not overwritten
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Serialize)]
struct Line {
    fen: String,
    #[serde(rename = "move")]
    mv: String,
    score: i16,
    result: i8,
    ply: u16,
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        let path = self.file.display();
        let file = File::open(&self.file).with_context(|| path.to_string())?;
        let size = file.metadata().with_context(|| path.to_string())?.len();
        if size % LENGTH as u64 != 0 {
            bail!("{path}: {size} bytes are not a whole number of records of {LENGTH}");
        }
        let mut reader = BufReader::new(file);
        let mut target = AtomicFile::begin(&self.out).context("--out")?;
        let mut bytes = [0; LENGTH];
        for number in 0..size / LENGTH as u64 {
            reader.read_exact(&mut bytes).with_context(|| path.to_string())?;
            let entry = Entry::from_bytes(&bytes)
                .with_context(|| format!("{path}: record {number} at byte {}", number * LENGTH as u64))?;
            let Entry { fen, mv, score, ply, result } = entry;
            serde_json::to_writer(&mut target, &Line { fen: fen.to_string(), mv: mv.to_string(), score, result, ply })?;
            target.write_all(b"\n").context("--out")?;
        }
        target.finish().context("--out")?;
        writeln!(out, "{} positions", size / LENGTH as u64)?;
        Ok(Finding::Holds)
    }
}
