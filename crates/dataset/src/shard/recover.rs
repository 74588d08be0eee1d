//! Recovery of the whole blocks of a cut or damaged file.

use std::io::{self, Write};

use super::{
    ShardError, Source,
    layout::{BLOCK_HEAD, BlockEntry, BlockHead, CHECK, check_of, footer, totals},
    reader::read_head,
};

/// The amount that was recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// Games in whole blocks.
    pub games: u64,
    /// Their moves after the openings.
    pub positions: u64,
    /// The bytes after the last whole block, a valid footer not counted.
    pub lost_bytes: u64,
}

/// Writes a valid shard of all blocks before the first that is not whole.
///
/// # Errors
///
/// If the head is damaged, because games cannot be decoded without it; or if reading or writing
/// fails.
pub fn recover(source: &impl Source, out: &mut impl Write) -> Result<Recovered, ShardError> {
    let head = read_head(source)?;
    let size = source.size()?;
    out.write_all(&head.bytes)?;
    let mut offset = head.bytes.len() as u64;
    let mut index = Vec::new();
    while let Some((entry, bytes)) = whole_block(source, head.check, index.len() as u64, offset)? {
        out.write_all(&bytes)?;
        index.push(entry);
        offset += bytes.len() as u64;
    }
    let footer = footer(head.check, &index);
    out.write_all(&footer)?;
    out.flush()?;
    let [games, positions] = totals(&index);
    let mut rest = vec![0; footer.len()];
    let had_footer =
        size - offset == footer.len() as u64 && source.read_at(offset, &mut rest).is_ok() && rest == footer;
    Ok(Recovered { games, positions, lost_bytes: if had_footer { 0 } else { size - offset } })
}

fn whole_block(
    source: &impl Source,
    head: [u8; CHECK],
    place: u64,
    offset: u64,
) -> io::Result<Option<(BlockEntry, Vec<u8>)>> {
    let left = source.size()?.saturating_sub(offset);
    let mut start = [0; BLOCK_HEAD];
    if left < (BLOCK_HEAD + CHECK) as u64 {
        return Ok(None);
    }
    source.read_at(offset, &mut start)?;
    let Some(block) = BlockHead::read(&start) else { return Ok(None) };
    let length = BLOCK_HEAD + block.length + CHECK;
    if left < length as u64 {
        return Ok(None);
    }
    let mut bytes = vec![0; length];
    source.read_at(offset, &mut bytes)?;
    let sound = bytes.split_last_chunk::<CHECK>().is_some_and(|(body, check)| *check == check_of(head, place, body));
    Ok(sound.then_some((BlockEntry { offset, games: block.games, moves: block.moves }, bytes)))
}
