//! Errors of reading a shard.

use std::io;

use super::{TUNED_VERSION, VERSION};
use crate::{codec::CodecError, header::HeaderError};

/// The reason why a file is not a shard, or not a whole one.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum ShardError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{0}")]
    NotServed(String),
    #[error("its manifest counts {stated} positions, and it has {found}")]
    Positions { stated: u64, found: u64 },
    #[error("not a shard: it does not begin as one")]
    NotAShard,
    #[error("a shard of version {found}; this program reads versions {VERSION} to {TUNED_VERSION}")]
    Version { found: u16 },
    #[error("a shard with the flags {found:#06x}, which this program does not know")]
    Flags { found: u16 },
    #[error("the head is damaged")]
    DamagedHead,
    #[error("the header: {0}")]
    Header(HeaderError),
    #[error("no footer at the end: the file was cut or is still being written; `chuhe data recover` saves its games")]
    NoFooter,
    #[error("the footer at byte {offset} is damaged; `chuhe data recover` saves the games")]
    DamagedFooter { offset: u64 },
    #[error("block {block} should hold {games} games with {moves} moves: no block holds so many, nor none")]
    BeyondBounds { block: usize, games: u32, moves: u32 },
    #[error("block {block} at byte {offset} is damaged")]
    DamagedBlock { block: usize, offset: u64 },
    #[error("game {game} (block {block}): {cause}")]
    Game { block: usize, game: u64, cause: CodecError },
    #[error("block {block} at byte {offset}: {found} moves in its games, {expected} in its head")]
    MoveCount { block: usize, offset: u64, expected: u64, found: u64 },
    #[error("its games were played under a clock: they cannot be replayed, and they are no training data")]
    Timed,
    #[error("there is no game {game}: it holds {first} up to but not {end}")]
    NoSuchGame { game: u64, first: u64, end: u64 },
}
