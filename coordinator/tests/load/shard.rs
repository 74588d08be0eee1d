//! Shards that pass the checks on receipt: header and index are valid, the blocks are filler.
//! Playing real games would measure the players; replay would reject these shards, so nothing
//! replays them. `docs/FORMATS.md` describes the layout.

use dataset::{Header, shard::ShardWriter};
use sha2::{Digest as _, Sha256};

/// Maximum games per block.
const BLOCK_GAMES: u64 = 64;

fn check(head: &[u8], place: u64, bytes: &[u8]) -> [u8; 8] {
    let digest = Sha256::new().chain_update(head).chain_update(place.to_le_bytes()).chain_update(bytes).finalize();
    digest[..8].try_into().unwrap()
}

/// A shard of this many games and about this many bytes.
pub(crate) fn of(terms: &Header, games: u64, bytes: usize) -> Vec<u8> {
    let mut file = Vec::with_capacity(bytes + 1_024);
    drop(ShardWriter::new(&mut file, terms.clone()).unwrap());
    let head: [u8; 8] = *file.last_chunk().unwrap();
    let blocks = games.div_ceil(BLOCK_GAMES);
    let payload = bytes.saturating_sub(file.len()) / blocks as usize;
    let (mut index, mut moves_in_all) = (Vec::new(), 0_u64);
    for place in 0..blocks {
        let games = (games - place * BLOCK_GAMES).min(BLOCK_GAMES) as u32;
        let moves = games * 90;
        let offset = file.len() as u64;
        let start = file.len();
        file.extend(b"GAME");
        file.extend((payload as u32).to_le_bytes());
        file.extend(games.to_le_bytes());
        file.extend(moves.to_le_bytes());
        // Different for every lease, like real games.
        let seed = (terms.first_game << 8 | place).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        file.extend((0..payload as u64).map(|byte| (seed.wrapping_mul(byte | 1) >> 56) as u8));
        let sum = check(&head, place, &file[start..]);
        file.extend(sum);
        index.push((offset, games, moves));
        moves_in_all += u64::from(moves);
    }
    let start = file.len();
    file.extend(b"FOOT");
    file.extend((index.len() as u32).to_le_bytes());
    for (offset, games, moves) in &index {
        file.extend(offset.to_le_bytes());
        file.extend(games.to_le_bytes());
        file.extend(moves.to_le_bytes());
    }
    file.extend(games.to_le_bytes());
    file.extend(moves_in_all.to_le_bytes());
    let sum = check(&head, index.len() as u64, &file[start..]);
    file.extend(sum);
    let length = (file.len() - start + 12) as u32;
    file.extend(length.to_le_bytes());
    file.extend(b"\x89chuhe\r\n");
    file
}
