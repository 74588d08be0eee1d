//! Writing shards: from the front, block by block.

use std::io::{self, Write};

use super::layout::{
    BLOCK_GAMES, BLOCK_MOVES, BlockEntry, BlockHead, Check, MOST_BLOCK, check_of, footer, head, totals,
};
use crate::{
    codec::{BlockEncoder, CodecError},
    header::Header,
    record::Record,
};

/// Why a shard could not be written.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum WriteError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("game {game}: {cause}")]
    Game { game: u64, cause: CodecError },
    #[error("game {game} is too large for a block")]
    TooLarge { game: u64 },
}

/// How much a shard holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Games.
    pub games: u64,
    /// Their moves after the openings.
    pub positions: u64,
    /// Bytes of the file.
    pub bytes: u64,
}

/// A shard that is being written. Whatever was written before a crash can be read up to its last whole block.
pub struct ShardWriter<W> {
    out: W,
    header: Header,
    check: Check,
    offset: u64,
    index: Vec<BlockEntry>,
    block: BlockEncoder,
    /// Games and moves in the block.
    filled: (u32, u32),
    next: u64,
}

impl<W: Write> ShardWriter<W> {
    /// Begins a shard.
    ///
    /// # Errors
    ///
    /// If its head cannot be written.
    ///
    /// # Panics
    ///
    /// Never: a head ends with its check.
    pub fn new(mut out: W, header: Header) -> io::Result<Self> {
        let head = head(&header);
        out.write_all(&head)?;
        let next = header.first_game;
        let check = *head.last_chunk().expect("a head ends with its check");
        let offset = head.len() as u64;
        Ok(Self { out, header, check, offset, index: Vec::new(), block: BlockEncoder::new(), filled: (0, 0), next })
    }

    /// Adds the next game. After an error the shard cannot be finished.
    ///
    /// # Errors
    ///
    /// If it is none that the header describes, a move is not legal, or the writing fails.
    pub fn add(&mut self, record: &Record) -> Result<(), WriteError> {
        let game = self.next;
        self.block.add(&self.header, game, record).map_err(|cause| WriteError::Game { game, cause })?;
        self.next = self.next.wrapping_add(1);
        self.filled.0 += 1;
        self.filled.1 += record.moves.len() as u32;
        if self.filled.0 >= BLOCK_GAMES || self.filled.1 >= BLOCK_MOVES {
            self.end_block()?;
        }
        Ok(())
    }

    fn end_block(&mut self) -> Result<(), WriteError> {
        let (games, moves) = std::mem::take(&mut self.filled);
        let payload = std::mem::take(&mut self.block).finish();
        if payload.len() > MOST_BLOCK {
            return Err(WriteError::TooLarge { game: self.next.wrapping_sub(1) });
        }
        let head = BlockHead { length: payload.len(), games, moves };
        let mut bytes = Vec::with_capacity(payload.len() + 32);
        bytes.extend(head.to_bytes());
        bytes.extend(payload);
        bytes.extend(check_of(self.check, self.index.len() as u64, &bytes));
        self.out.write_all(&bytes)?;
        self.index.push(BlockEntry { offset: self.offset, games, moves });
        self.offset += bytes.len() as u64;
        Ok(())
    }

    /// Writes what is left and the footer.
    ///
    /// # Errors
    ///
    /// If the writing fails.
    pub fn finish(mut self) -> Result<(W, Totals), WriteError> {
        if self.filled.0 > 0 {
            self.end_block()?;
        }
        let footer = footer(self.check, &self.index);
        self.out.write_all(&footer)?;
        self.out.flush()?;
        let [games, positions] = totals(&self.index);
        Ok((self.out, Totals { games, positions, bytes: self.offset + footer.len() as u64 }))
    }
}
