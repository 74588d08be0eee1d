//! The games of a file in PGN, in chunks for all cores.

use std::{io::BufRead, path::Path};

use anyhow::{Context as _, Result, bail};
use xiangqi::notation::reader::{GameText, Games};

use crate::input;

/// Bytes per parallel chunk: enough for all cores, little memory.
const CHUNK_BYTES: usize = 4 << 20;

/// The games of a file.
pub(crate) struct Chunks {
    /// The file's name in messages.
    pub(crate) name: String,
    games: Games<Box<dyn BufRead>>,
    /// The games read.
    number: u64,
}

impl Chunks {
    /// Opens a file, plain or compressed; `-` for standard input.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let (name, reader) = input::open(path)?;
        Ok(Self { name, games: Games::new(reader), number: 0 })
    }

    /// The next games with their numbers from 1, none at the end. A file without games is an error.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<(u64, GameText)>>> {
        let mut chunk = Vec::new();
        let mut bytes = 0;
        while bytes < CHUNK_BYTES {
            let Some(game) = self.games.next() else { break };
            let game = game.with_context(|| self.name.clone())?;
            bytes += game.bytes.len();
            self.number += 1;
            chunk.push((self.number, game));
        }
        if self.number == 0 {
            bail!("{}: no games", self.name);
        }
        Ok((!chunk.is_empty()).then_some(chunk))
    }
}
