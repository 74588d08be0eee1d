//! Games of an interrupted `chuhe selfplay`.

use std::path::Path;

use anyhow::{Context as _, Result};
use dataset::{
    AtomicFile, Header, Leftover,
    shard::{FileSource, Shard, recover},
};

/// Partial files of earlier runs of the same command, and the games of the fullest.
pub(super) struct Kept {
    files: Vec<Leftover>,
    shard: Option<Shard<Vec<u8>>>,
}

impl Kept {
    /// Finds the games that are kept for the shard at `path`. Files of running processes, and those
    /// with another header, are left alone.
    pub(super) fn find(path: &Path, header: &Header, max_games: u64) -> Result<Self> {
        let mut kept = Self { files: Vec::new(), shard: None };
        for file in AtomicFile::leftovers(path).context("--out")? {
            let name = || file.path().display().to_string();
            let source = FileSource::open(file.path()).with_context(name)?;
            let mut bytes = Vec::new();
            // Not even its head is whole: it holds no game.
            if recover(&source, &mut bytes).is_err() {
                continue;
            }
            let shard = Shard::new(bytes).with_context(name)?;
            if shard.header() != header || shard.games() > max_games {
                continue;
            }
            kept.files.push(file);
            if kept.shard.as_ref().is_none_or(|fullest| fullest.games() < shard.games()) {
                kept.shard = Some(shard);
            }
        }
        Ok(kept)
    }

    pub(super) const fn shard(&self) -> Option<&Shard<Vec<u8>>> {
        self.shard.as_ref()
    }

    /// Removes the files: their games are in the finished shard.
    pub(super) fn remove(self) {
        for file in self.files {
            // One that stays is taken up in vain.
            let _ = file.remove();
        }
    }
}
