//! `chuhe data manifest`: names a training set.

use std::{io::Write, path::PathBuf};

use anyhow::{Context as _, Result};
use dataset::{AtomicFile, manifest::Manifest};

use crate::Finding;

/// Write a manifest: the SHA-256 of each shard of a training set, and its score-to-result scale
///
/// The manifest's own SHA-256, which is printed, names the training set.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The shards, in the manifest's order
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// File to write; existing files are not overwritten
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        let manifest = Manifest::of_files(&self.files)?;
        let mut file = AtomicFile::begin(&self.out).context("--out")?;
        file.write_all(manifest.to_text().as_bytes()).context("--out")?;
        file.finish().context("--out")?;
        let (hash, shards) = (manifest.hash(), manifest.shards.len());
        let (games, positions) = (manifest.games, manifest.positions);
        if self.json {
            let hash = hash.to_string();
            let answer =
                serde_json::json!({ "sha256": hash, "shards": shards, "games": games, "positions": positions });
            writeln!(out, "{answer}")?;
        } else {
            for entry in &manifest.shards {
                let scale = entry.scale_tenths.map_or("none".to_owned(), |it| format!("{}.{}", it / 10, it % 10));
                writeln!(out, "shard {} {} positions, scale {scale}", entry.sha256, entry.positions)?;
            }
            writeln!(out, "{shards} shards, {games} games, {positions} positions")?;
            writeln!(out, "sha256 {hash}")?;
        }
        Ok(Finding::Holds)
    }
}
