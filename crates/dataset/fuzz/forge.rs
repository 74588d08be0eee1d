//! Forged files: valid checksums around arbitrary bytes. Written after `docs/FORMATS.md`, not after
//! the code.

use sha2::{Digest as _, Sha256};

const MAGIC: [u8; 8] = *b"\x89chuhe\r\n";

/// A block's payload and the counts in its head.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    pub(crate) payload: Vec<u8>,
    pub(crate) games: u32,
    pub(crate) moves: u32,
}

/// A file of these blocks after the bytes of a header.
pub(crate) fn file(header: &[u8], blocks: &[Block]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend([1, 0, 0, 0]);
    out.extend((header.len() as u32).to_le_bytes());
    out.extend(header);
    let head = check(&[&out]);
    out.extend(head);
    let mut index = Vec::new();
    for (place, Block { payload, games, moves }) in blocks.iter().enumerate() {
        index.extend((out.len() as u64).to_le_bytes());
        index.extend(games.to_le_bytes());
        index.extend(moves.to_le_bytes());
        let from = out.len();
        out.extend(*b"GAME");
        for number in [payload.len() as u32, *games, *moves] {
            out.extend(number.to_le_bytes());
        }
        out.extend(payload);
        let check = check(&[&head, &(place as u64).to_le_bytes(), &out[from..]]);
        out.extend(check);
    }
    let mut footer = b"FOOT".to_vec();
    footer.extend((blocks.len() as u32).to_le_bytes());
    footer.extend(index);
    for total in [|block: &Block| block.games, |block: &Block| block.moves] {
        let total: u64 = blocks.iter().map(|block| u64::from(total(block))).sum();
        footer.extend(total.to_le_bytes());
    }
    let check = check(&[&head, &(blocks.len() as u64).to_le_bytes(), &footer]);
    footer.extend(check);
    footer.extend((footer.len() as u32 + 12).to_le_bytes());
    footer.extend(MAGIC);
    out.extend(footer);
    out
}

fn check(parts: &[&[u8]]) -> [u8; 8] {
    let digest: [u8; 32] = Sha256::digest(parts.concat()).into();
    *digest.first_chunk().expect("a digest is longer than a check")
}
