//! The binary layout of a shard.

use sha2::{Digest as _, Sha256};

use super::ShardError;
use crate::{bytes::Cursor, header::Header};

/// The extension of shard files.
pub const EXTENSION: &str = "chuhe";

/// The version of shards whose games are a function of their header.
pub const VERSION: u16 = 1;

/// The version of shards of games under a clock. Older readers reject it, because they know no time
/// controls.
pub const TIMED_VERSION: u16 = 2;

/// The version of shards with overridden parameters of the search. Older readers reject it, because
/// they know no parameters.
pub const TUNED_VERSION: u16 = 3;

/// Not the beginning of any text; destroyed by conversions of line ends and by stripping of the
/// eighth bit.
pub(super) const MAGIC: [u8; 8] = *b"\x89chuhe\r\n";
pub(super) const BLOCK_TAG: [u8; 4] = *b"GAME";
pub(super) const FOOTER_TAG: [u8; 4] = *b"FOOT";

/// Magic, version, flags, length of the header.
pub(super) const PREFIX: usize = 8 + 2 + 2 + 4;
pub(super) const CHECK: usize = 8;
/// Tag, length, games, moves.
pub(super) const BLOCK_HEAD: usize = 4 + 4 + 4 + 4;
/// The length of an empty block.
const MIN_BLOCK: u64 = (BLOCK_HEAD + CHECK) as u64;
/// Offset, games, moves.
pub(super) const ENTRY: usize = 8 + 4 + 4;
/// Tag and length before the index, games and moves after it.
pub(super) const FOOTER_HEAD: usize = 4 + 4;
pub(super) const TOTALS: usize = 8 + 8;
/// The footer's length and the magic again.
pub(super) const TAIL: usize = 4 + 8;

// The bounds on the resources that a file may claim.
pub(super) const MAX_HEADER: usize = 16_384;
pub(super) const MAX_BLOCK: usize = 1 << 24;
pub(super) const MAX_BLOCK_GAMES: u32 = 1 << 12;
pub(super) const MAX_BLOCK_MOVES: u32 = 1 << 20;
pub(super) const MAX_BLOCKS: usize = 1 << 22;

// The sizes at which a block is closed.
pub(super) const BLOCK_GAMES: u32 = 64;
pub(super) const BLOCK_MOVES: u32 = 1 << 15;

pub(super) type Check = [u8; CHECK];

/// The check of a file's head.
pub(super) fn check_of_head(bytes: &[u8]) -> Check {
    beginning(Sha256::new().chain_update(bytes))
}

/// The check of a block or the footer, bound to its head and its index.
pub(super) fn check_of(head: Check, place: u64, bytes: &[u8]) -> Check {
    beginning(Sha256::new().chain_update(head).chain_update(place.to_le_bytes()).chain_update(bytes))
}

fn beginning(hasher: Sha256) -> Check {
    let digest: [u8; 32] = hasher.finalize().into();
    *digest.first_chunk().expect("a digest is longer than a check")
}

/// The version of a shard with this header.
pub(super) fn version_of(header: &Header) -> u16 {
    if header.has_parameters() {
        TUNED_VERSION
    } else if header.clock.is_some() {
        TIMED_VERSION
    } else {
        VERSION
    }
}

/// Encodes everything before the first block.
pub(super) fn head(header: &Header) -> Vec<u8> {
    let version = version_of(header);
    let header = header.to_bytes();
    let mut bytes = Vec::with_capacity(PREFIX + header.len() + CHECK);
    bytes.extend(MAGIC);
    bytes.extend(version.to_le_bytes());
    bytes.extend(0_u16.to_le_bytes());
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(header);
    bytes.extend(check_of_head(&bytes));
    bytes
}

/// The length of the head, from its first bytes.
pub(super) fn head_length(prefix: &[u8; PREFIX]) -> Result<usize, ShardError> {
    let mut cursor = Cursor::new(prefix);
    if cursor.array() != Some(MAGIC) {
        return Err(ShardError::NotAShard);
    }
    let (version, flags) = (cursor.u16().unwrap_or(0), cursor.u16().unwrap_or(0));
    if !matches!(version, VERSION | TIMED_VERSION | TUNED_VERSION) {
        return Err(ShardError::Version { found: version });
    }
    if flags != 0 {
        return Err(ShardError::Flags { found: flags });
    }
    match cursor.u32() {
        Some(length) if length as usize <= MAX_HEADER => Ok(PREFIX + length as usize + CHECK),
        _ => Err(ShardError::DamagedHead),
    }
}

/// The location of a block, and its counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockEntry {
    /// The offset of its first byte.
    pub offset: u64,
    /// The number of its games.
    pub games: u32,
    /// The number of their moves after the openings.
    pub moves: u32,
}

/// The head of a block.
pub(super) struct BlockHead {
    pub(super) length: usize,
    pub(super) games: u32,
    pub(super) moves: u32,
}

impl BlockHead {
    pub(super) fn to_bytes(&self) -> [u8; BLOCK_HEAD] {
        let numbers = [self.length as u32, self.games, self.moves].map(u32::to_le_bytes);
        let mut bytes = [0; BLOCK_HEAD];
        bytes[..4].copy_from_slice(&BLOCK_TAG);
        bytes[4..].copy_from_slice(numbers.as_flattened());
        bytes
    }

    /// Parses a block's head; `None` if it is not one, or out of bounds.
    pub(super) fn read(bytes: &[u8; BLOCK_HEAD]) -> Option<Self> {
        let mut cursor = Cursor::new(bytes);
        if cursor.array() != Some(BLOCK_TAG) {
            return None;
        }
        let head = Self { length: cursor.u32()? as usize, games: cursor.u32()?, moves: cursor.u32()? };
        let bounded = head.length <= MAX_BLOCK && (1..=MAX_BLOCK_GAMES).contains(&head.games);
        (bounded && head.moves <= MAX_BLOCK_MOVES).then_some(head)
    }
}

/// Encodes everything after the last block.
pub(super) fn footer(head: Check, index: &[BlockEntry]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(FOOTER_HEAD + ENTRY * index.len() + TOTALS + CHECK + TAIL);
    bytes.extend(FOOTER_TAG);
    bytes.extend((index.len() as u32).to_le_bytes());
    for BlockEntry { offset, games, moves } in index {
        bytes.extend(offset.to_le_bytes());
        bytes.extend(games.to_le_bytes());
        bytes.extend(moves.to_le_bytes());
    }
    for total in totals(index) {
        bytes.extend(total.to_le_bytes());
    }
    bytes.extend(check_of(head, index.len() as u64, &bytes));
    let length = (bytes.len() + TAIL) as u32;
    bytes.extend(length.to_le_bytes());
    bytes.extend(MAGIC);
    bytes
}

/// The totals of games and moves.
pub(super) fn totals(index: &[BlockEntry]) -> [u64; 2] {
    let games = index.iter().map(|entry| u64::from(entry.games)).sum();
    [games, index.iter().map(|entry| u64::from(entry.moves)).sum()]
}

/// Whether these bytes are the beginning of a shard, cut within its head.
pub(crate) fn ends_in_head(bytes: &[u8]) -> bool {
    match bytes.first_chunk::<PREFIX>() {
        Some(prefix) => head_length(prefix).is_ok_and(|length| bytes.len() < length),
        None => !bytes.is_empty() && (MAGIC.starts_with(bytes) || bytes.starts_with(&MAGIC)),
    }
}

/// Parses the index in a footer at `offset`.
///
/// # Errors
///
/// If it is not whole, its blocks are not contiguous from the head's end to the footer, or exceed
/// the bounds.
pub(super) fn read_footer(
    head: Check,
    blocks_from: u64,
    offset: u64,
    bytes: &[u8],
) -> Result<Vec<BlockEntry>, ShardError> {
    let index = whole_footer(head, blocks_from, offset, bytes).ok_or(ShardError::DamagedFooter { offset })?;
    let bounded = |entry: &BlockEntry| (1..=MAX_BLOCK_GAMES).contains(&entry.games) && entry.moves <= MAX_BLOCK_MOVES;
    match index.iter().position(|entry| !bounded(entry)) {
        Some(block) => Err(ShardError::BeyondBounds { block, games: index[block].games, moves: index[block].moves }),
        None => Ok(index),
    }
}

fn whole_footer(head: Check, blocks_from: u64, offset: u64, bytes: &[u8]) -> Option<Vec<BlockEntry>> {
    let mut cursor = Cursor::new(bytes);
    if cursor.array() != Some(FOOTER_TAG) {
        return None;
    }
    let count = cursor.u32()? as usize;
    let body = FOOTER_HEAD + ENTRY.checked_mul(count)? + TOTALS;
    if count > MAX_BLOCKS || bytes.len() != body + CHECK + TAIL {
        return None;
    }
    let mut index = Vec::with_capacity(count);
    for _ in 0..count {
        index.push(BlockEntry { offset: cursor.u64()?, games: cursor.u32()?, moves: cursor.u32()? });
    }
    let sums = [cursor.u64()?, cursor.u64()?];
    let check: Check = cursor.array()?;
    let sound = check == check_of(head, count as u64, &bytes[..body])
        && sums == totals(&index)
        && index.first().map_or(offset, |entry| entry.offset) == blocks_from
        && index.windows(2).all(|pair| pair[0].offset.saturating_add(MIN_BLOCK) <= pair[1].offset)
        && index.last().is_none_or(|entry| entry.offset.saturating_add(MIN_BLOCK) <= offset);
    (sound && cursor.u32() == Some(bytes.len() as u32) && cursor.array() == Some(MAGIC)).then_some(index)
}
