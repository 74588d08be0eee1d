//! The shard reader: random access to blocks and games.

use super::{
    ShardError, Source,
    layout::{
        BLOCK_HEAD, BlockEntry, BlockHead, CHECK, Check, ENTRY, FOOTER_HEAD, MAGIC, MAX_BLOCK, MAX_BLOCKS, PREFIX,
        TAIL, TOTALS, check_of, check_of_head, head_length, read_footer, totals, version_of,
    },
};
use crate::{
    bytes::Cursor,
    codec::{BlockDecoder, Ply},
    header::{Header, HeaderError},
    record::Record,
};

/// The head of a file.
pub(super) struct Head {
    pub(super) header: Header,
    pub(super) check: Check,
    pub(super) bytes: Vec<u8>,
}

/// Reads and checks the head of a file.
pub(super) fn read_head(source: &impl Source) -> Result<Head, ShardError> {
    let size = source.size()?;
    let mut prefix = [0; PREFIX];
    if size < PREFIX as u64 {
        return Err(ShardError::NotAShard);
    }
    source.read_at(0, &mut prefix)?;
    let length = head_length(&prefix)?;
    if size < length as u64 {
        return Err(ShardError::DamagedHead);
    }
    let mut bytes = vec![0; length];
    source.read_at(0, &mut bytes)?;
    let (body, check) = bytes.split_last_chunk::<CHECK>().ok_or(ShardError::DamagedHead)?;
    if *check != check_of_head(body) {
        return Err(ShardError::DamagedHead);
    }
    let header = Header::from_bytes(&body[PREFIX..]).map_err(ShardError::Header)?;
    // A header has a time control in one version, and none in the other.
    if prefix[MAGIC.len()..][..2] != version_of(&header).to_le_bytes() {
        return Err(ShardError::Header(HeaderError::Length));
    }
    Ok(Head { header, check: *check, bytes })
}

/// A shard: its header and its index are in memory; its blocks are read on demand.
#[derive(Clone, Debug)]
pub struct Shard<S> {
    source: S,
    header: Header,
    check: Check,
    index: Vec<BlockEntry>,
    /// The number of games before each block.
    before: Vec<u64>,
    /// The offset of the footer.
    footer: u64,
    size: u64,
}

impl<S: Source> Shard<S> {
    /// Opens a shard and checks its head, footer and index. Blocks are checked when they are read.
    ///
    /// # Errors
    ///
    /// If it is not a shard, or not whole.
    pub fn new(source: S) -> Result<Self, ShardError> {
        let Head { header, check, bytes } = read_head(&source)?;
        let size = source.size()?;
        let mut tail = [0; TAIL];
        let room = size.checked_sub((bytes.len() + TAIL) as u64).ok_or(ShardError::NoFooter)?;
        source.read_at(size - TAIL as u64, &mut tail)?;
        let mut cursor = Cursor::new(&tail);
        let length = cursor.u32().unwrap_or(0);
        let max = FOOTER_HEAD + ENTRY * MAX_BLOCKS + TOTALS + CHECK + TAIL;
        if cursor.array() != Some(MAGIC) {
            return Err(ShardError::NoFooter);
        }
        if u64::from(length) > room + TAIL as u64 || length as usize > max {
            return Err(ShardError::DamagedFooter { offset: size - TAIL as u64 });
        }
        let offset = size - u64::from(length);
        let mut footer = vec![0; length as usize];
        source.read_at(offset, &mut footer)?;
        let index = read_footer(check, bytes.len() as u64, offset, &footer)?;
        let before = index.iter().scan(0, |sum, entry| {
            let before = *sum;
            *sum += u64::from(entry.games);
            Some(before)
        });
        let before = before.collect();
        Ok(Self { source, header, check, index, before, footer: offset, size })
    }

    /// Returns the header that all games share.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the index: an entry for each block.
    #[must_use]
    pub fn index(&self) -> &[BlockEntry] {
        &self.index
    }

    /// The number of games.
    #[must_use]
    pub fn games(&self) -> u64 {
        totals(&self.index)[0]
    }

    /// The number of positions: of moves after the openings.
    #[must_use]
    pub fn positions(&self) -> u64 {
        totals(&self.index)[1]
    }

    /// The length in bytes.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Reads and checks a block.
    ///
    /// # Errors
    ///
    /// If it does not agree with the index or its check.
    ///
    /// # Panics
    ///
    /// If there is no such block.
    pub fn block(&self, block: usize) -> Result<Block<'_>, ShardError> {
        let entry = self.index[block];
        let end = self.index.get(block + 1).map_or(self.footer, |next| next.offset);
        let damaged = || ShardError::DamagedBlock { block, offset: entry.offset };
        let length = (end - entry.offset) as usize;
        if length > BLOCK_HEAD + MAX_BLOCK + CHECK {
            return Err(damaged());
        }
        let mut bytes = vec![0; length];
        self.source.read_at(entry.offset, &mut bytes)?;
        let head = bytes.first_chunk().and_then(BlockHead::read).ok_or_else(damaged)?;
        if head.length + BLOCK_HEAD + CHECK != length || (head.games, head.moves) != (entry.games, entry.moves) {
            return Err(damaged());
        }
        let (body, check) = bytes.split_last_chunk::<CHECK>().ok_or_else(damaged)?;
        if *check != check_of(self.check, block as u64, body) {
            return Err(damaged());
        }
        bytes.truncate(length - CHECK);
        Ok(Block {
            header: &self.header,
            place: block,
            entry,
            first: self.header.first_game.wrapping_add(self.before[block]),
            bytes,
        })
    }

    /// Reads one game; only its block is read.
    ///
    /// # Errors
    ///
    /// If there is no such game, or its block is damaged.
    pub fn game(&self, number: u64) -> Result<Record, ShardError> {
        let first = self.header.first_game;
        let none = || ShardError::NoSuchGame { game: number, first, end: first.wrapping_add(self.games()) };
        let place = number.checked_sub(first).filter(|place| *place < self.games()).ok_or_else(none)?;
        let block = self.before.partition_point(|before| *before <= place) - 1;
        let mut found = None;
        self.block(block)?.read(|game, record| {
            if game == number {
                found = Some(record);
            }
        })?;
        found.ok_or_else(none)
    }

    /// Iterates over all games with their numbers, in order. A block is read with its first game;
    /// an error stands for the unreadable part of a damaged one.
    pub fn records(&self) -> impl Iterator<Item = Result<(u64, Record), ShardError>> {
        (0..self.index.len()).flat_map(|block| {
            let mut games = Vec::with_capacity(self.index[block].games as usize);
            let read =
                self.block(block).and_then(|block| block.read(|number, record| games.push(Ok((number, record)))));
            games.extend(read.err().map(Err));
            games
        })
    }
}

/// A block that has been read and checked.
#[derive(Debug)]
pub struct Block<'a> {
    header: &'a Header,
    place: usize,
    entry: BlockEntry,
    first: u64,
    bytes: Vec<u8>,
}

impl Block<'_> {
    /// The number of its first game.
    #[must_use]
    pub const fn first(&self) -> u64 {
        self.first
    }

    /// Decodes its games in order.
    ///
    /// # Errors
    ///
    /// If they do not agree with the block's head.
    pub fn read(&self, each: impl FnMut(u64, Record)) -> Result<(), ShardError> {
        self.read_with(|_| {}, each)
    }

    /// Decodes its games in order. `position` is called for every move, `game` for each game after
    /// its moves.
    ///
    /// # Errors
    ///
    /// If they do not agree with the block's head.
    pub fn read_with(
        &self,
        mut position: impl FnMut(Ply<'_>),
        mut game: impl FnMut(u64, Record),
    ) -> Result<(), ShardError> {
        let games = u64::from(self.entry.games);
        let mut decoder = BlockDecoder::new(self.header, &self.bytes[BLOCK_HEAD..], self.first, games);
        let mut moves = 0;
        let mut number = self.first;
        loop {
            let next = decoder.next(&mut position);
            let at = |cause| ShardError::Game { block: self.place, game: number, cause };
            let Some((found, record)) = next.map_err(at)? else { break };
            moves += record.moves.len() as u64;
            if moves > u64::from(self.entry.moves) {
                break;
            }
            game(found, record);
            number = found.wrapping_add(1);
        }
        let expected = u64::from(self.entry.moves);
        if moves == expected {
            return Ok(());
        }
        Err(ShardError::MoveCount { block: self.place, offset: self.entry.offset, expected, found: moves })
    }
}
