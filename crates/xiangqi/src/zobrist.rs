//! Zobrist keys: random numbers whose exclusive or identifies a position.
//!
//! The numbers are constants of a fixed generator, so a key is the same in every build and on every
//! machine.

use crate::{Piece, PieceKind, Square};

/// The `SplitMix64` generator (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators").
const fn mix(index: u64) -> u64 {
    let mut z = 0x43_4855_4845_u64.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

static PIECES: [[u64; Square::COUNT]; Piece::COUNT] = {
    let mut keys = [[0; Square::COUNT]; Piece::COUNT];
    let mut piece = 0;
    while piece < Piece::COUNT {
        let mut square = 0;
        while square < Square::COUNT {
            keys[piece][square] = mix((piece * Square::COUNT + square) as u64);
            square += 1;
        }
        piece += 1;
    }
    keys
};

/// One more than the largest number of a kind that a side can have.
const COUNTS: usize = 6;

static MATERIAL: [[u64; COUNTS]; Piece::COUNT] = {
    let mut keys = [[0; COUNTS]; Piece::COUNT];
    let mut piece = 0;
    while piece < Piece::COUNT {
        // The key of no pieces stays 0, so that an empty board's is 0.
        let mut count = 1;
        while count < COUNTS {
            keys[piece][count] = mix(0x1_0000 + (piece * COUNTS + count) as u64);
            count += 1;
        }
        piece += 1;
    }
    keys
};

/// The key of Black to move.
pub(crate) const BLACK_TO_MOVE: u64 = mix(0x2_0000);

/// The key of a piece on a point.
#[inline]
pub(crate) fn piece(piece: Piece, square: Square) -> u64 {
    PIECES[piece.index()][square.index()]
}

/// The key of a number of equal pieces.
#[inline]
pub(crate) fn material(piece: Piece, count: u32) -> u64 {
    debug_assert!(count <= PieceKind::Pawn.max_count());
    MATERIAL[piece.index()][count as usize]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn keys_are_distinct() {
        let mut keys: Vec<u64> = PIECES.iter().flatten().copied().collect();
        keys.extend(MATERIAL.iter().flat_map(|counts| &counts[1..]));
        keys.push(BLACK_TO_MOVE);
        let distinct: BTreeSet<u64> = keys.iter().copied().collect();
        assert_eq!(distinct.len(), keys.len());
    }

    #[test]
    fn keys_never_change() {
        // Shards and tables outlive builds: a changed generator must be a decision, not an
        // accident.
        let fold = PIECES.iter().flatten().fold(0_u64, |sum, key| sum.rotate_left(1) ^ key);
        assert_eq!((mix(0), BLACK_TO_MOVE, fold), KNOWN);
    }

    const KNOWN: (u64, u64, u64) = (3635455118708199632, 11442559662834454349, 1843685811669600306);
}
