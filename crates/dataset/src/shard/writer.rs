//! The shard writer: sequential, block by block.

use std::io::{self, Write};

use super::layout::{
    BLOCK_GAMES, BLOCK_MOVES, BlockEntry, BlockHead, Check, MAX_BLOCK, check_of, footer, head, totals,
};
use crate::{
    codec::{BlockEncoder, CodecError},
    header::Header,
    record::Record,
};

/// The reason why a shard could not be written.
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

/// The size of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// The number of games.
    pub games: u64,
    /// The number of their moves after the openings.
    pub positions: u64,
    /// The length of the file in bytes.
    pub bytes: u64,
}

/// Writes a shard. After a crash everything up to the last whole block can be read.
pub struct ShardWriter<W> {
    out: W,
    header: Header,
    check: Check,
    offset: u64,
    index: Vec<BlockEntry>,
    block: BlockEncoder,
    /// The games and moves in the open block.
    filled: (u32, u32),
    next: u64,
}

impl<W: Write> ShardWriter<W> {
    /// Begins a shard by writing its head.
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

    /// Appends the next game. After an error the shard cannot be finished.
    ///
    /// # Errors
    ///
    /// If it is not a game of this header, a move is illegal, or the write fails.
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
        if payload.len() > MAX_BLOCK {
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

    /// Writes the last block and the footer.
    ///
    /// # Errors
    ///
    /// If the write fails.
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
