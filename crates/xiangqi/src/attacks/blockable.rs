//! Horses and elephants: leapers with four blocking points, each closing one or two targets.

use super::steps::{HOME, offset};
use crate::{Bitboard, Color, Piece, PieceKind, Square};

/// The four blockers of one point, and the reached points for each of their sixteen occupancies.
pub(super) struct Blockable {
    blockers: Bitboard,
    /// Multipliers that bring a bank's blockers to the top four bits.
    gather: Bitboard,
    reach: [Bitboard; 16],
}

impl Blockable {
    #[inline]
    pub(super) fn look_up(&self, occupied: Bitboard) -> Bitboard {
        let blocked = occupied & self.blockers;
        let south = blocked.south.wrapping_mul(self.gather.south);
        let north = blocked.north.wrapping_mul(self.gather.north);
        self.reach[((south | north) >> 60) as usize]
    }

    /// The reached points when nothing blocks.
    pub(super) const fn all(&self) -> Bitboard {
        self.reach[0]
    }

    /// Builds the entry of one point. `ways` lists each blocker's offset and the offsets it closes;
    /// `board` is the set of points the piece can reach.
    ///
    /// The order of `ways` matters to the gathering. Blocker k goes to bit 60 + k. A blocker d
    /// above the k-th goes to 60 + k + d through the same multiplier. It must fall out of the top
    /// four bits. The blockers lie at least eight apart, except for two pairs of neighbours two
    /// apart. The right one of a pair must be number 0 or 1, the left one 2 or 3.
    const fn new(square: Square, ways: &[Way; 4], board: Bitboard) -> Self {
        let mut blockers = Bitboard::EMPTY;
        let mut gather = Bitboard::EMPTY;
        let mut reach = [Bitboard::EMPTY; 16];
        let mut way = 0;
        while way < 4 && board.contains(square) {
            if let Some(blocker) = offset(square, ways[way].0.0, ways[way].0.1) {
                let point = Bitboard::of(blocker);
                blockers = blockers.or(point);
                if point.south != 0 {
                    gather.south |= 1 << (60 + way - point.south.trailing_zeros() as usize);
                } else {
                    gather.north |= 1 << (60 + way - point.north.trailing_zeros() as usize);
                }
                let mut end = 0;
                while end < ways[way].1.len() {
                    let (files, ranks) = ways[way].1[end];
                    if let Some(to) = offset(square, files, ranks)
                        && board.contains(to)
                    {
                        let mut index = 0;
                        while index < 16 {
                            if index >> way & 1 == 0 {
                                reach[index] = reach[index].with(to);
                            }
                            index += 1;
                        }
                    }
                    end += 1;
                }
            }
            way += 1;
        }
        Self { blockers, gather, reach }
    }
}

/// A blocker's offset, and the offsets it closes.
type Way = ((i8, i8), &'static [(i8, i8)]);

const HORSE_WAYS: [Way; 4] = [
    ((1, 0), &[(2, 1), (2, -1)]),
    ((0, 1), &[(1, 2), (-1, 2)]),
    ((-1, 0), &[(-2, 1), (-2, -1)]),
    ((0, -1), &[(1, -2), (-1, -2)]),
];

/// Seen from the target, a horse's leg is a diagonal neighbour.
const HORSE_TO_WAYS: [Way; 4] = [
    ((1, 1), &[(2, 1), (1, 2)]),
    ((1, -1), &[(2, -1), (1, -2)]),
    ((-1, 1), &[(-2, 1), (-1, 2)]),
    ((-1, -1), &[(-2, -1), (-1, -2)]),
];

const ELEPHANT_WAYS: [Way; 4] =
    [((1, 1), &[(2, 2)]), ((1, -1), &[(2, -2)]), ((-1, 1), &[(-2, 2)]), ((-1, -1), &[(-2, -2)])];

#[allow(clippy::large_stack_arrays, reason = "it is evaluated when compiling")]
const fn table(ways: &[Way; 4], board: Bitboard) -> [Blockable; Square::COUNT] {
    let mut table = [const { Blockable { blockers: Bitboard::EMPTY, gather: Bitboard::EMPTY, reach: [Bitboard::EMPTY; 16] } };
        Square::COUNT];
    let mut index = 0;
    while index < Square::COUNT {
        table[index] = Blockable::new(Square::at(index), ways, board);
        index += 1;
    }
    table
}

pub(super) static HORSE: [Blockable; Square::COUNT] = table(&HORSE_WAYS, Bitboard::ALL);

pub(super) static HORSE_TO: [Blockable; Square::COUNT] = table(&HORSE_TO_WAYS, Bitboard::ALL);

/// The legs of the horses that could reach each point.
pub(super) const HORSE_TO_BLOCKERS: [Bitboard; Square::COUNT] = {
    let mut blockers = [Bitboard::EMPTY; Square::COUNT];
    let mut index = 0;
    while index < Square::COUNT {
        blockers[index] = Blockable::new(Square::at(index), &HORSE_TO_WAYS, Bitboard::ALL).blockers;
        index += 1;
    }
    blockers
};

pub(super) static ELEPHANT: [Blockable; Square::COUNT] = table(
    &ELEPHANT_WAYS,
    HOME[Piece::new(Color::Red, PieceKind::Elephant).index()]
        .or(HOME[Piece::new(Color::Black, PieceKind::Elephant).index()]),
);

#[cfg(test)]
mod tests {
    use super::*;

    fn check(table: &[Blockable; Square::COUNT], ways: &[Way; 4], board: Bitboard) {
        for square in board {
            for subset in 0..16_u32 {
                // Once the subset alone, once with every non-blocker occupied: those must be
                // ignored.
                let blockers: Vec<_> = ways.iter().map(|way| offset(square, way.0.0, way.0.1)).collect();
                let strangers = blockers.iter().flatten().fold(Bitboard::ALL, |set, blocker| set.without(*blocker));
                let blocking = (0..4).filter(|way| subset >> way & 1 == 1).filter_map(|way| blockers[way]).collect();
                let expected: Bitboard = (0..4)
                    .filter(|way| subset >> way & 1 == 0)
                    .flat_map(|way| ways[way].1)
                    .filter_map(|(files, ranks)| offset(square, *files, *ranks))
                    .filter(|to| board.contains(*to))
                    .collect();
                for occupied in [blocking, strangers | blocking] {
                    assert_eq!(table[square.index()].look_up(occupied), expected, "{square} {occupied:?}");
                }
            }
        }
    }

    #[test]
    fn look_up_equals_asking_each_blocker() {
        check(&HORSE, &HORSE_WAYS, Bitboard::ALL);
        check(&HORSE_TO, &HORSE_TO_WAYS, Bitboard::ALL);
        let home = HOME[Piece::RedElephant.index()] | HOME[Piece::BlackElephant.index()];
        check(&ELEPHANT, &ELEPHANT_WAYS, home);
    }

    #[test]
    fn horse_to_is_horse_read_backwards() {
        for to in Square::all() {
            for blocker in Square::all() {
                let occupied = Bitboard::of(blocker);
                let back: Bitboard =
                    Square::all().filter(|from| HORSE[from.index()].look_up(occupied).contains(to)).collect();
                assert_eq!(HORSE_TO[to.index()].look_up(occupied), back);
            }
        }
    }
}
