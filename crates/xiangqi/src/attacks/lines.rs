//! Sliders: the reach of chariots and cannons along ranks and files.

use crate::{Bitboard, Square};

/// The points reached along one rank and along one file, by position on the line and occupancy of
/// its inner points.
///
/// The two end points are not part of the index: a piece there blocks nothing.
pub(super) struct Reach {
    rank: [[u16; 128]; 9],
    file: [[u16; 256]; 10],
}

pub(super) static CHARIOT: Reach = Reach { rank: line_table(0), file: line_table(0) };

pub(super) static CANNON: Reach = Reach { rank: line_table(1), file: line_table(1) };

/// For each position on the line and inner occupancy, the points behind exactly `screens` pieces.
const fn line_table<const PLACES: usize, const OCCUPANCIES: usize>(screens: u32) -> [[u16; OCCUPANCIES]; PLACES] {
    let mut table = [[0; OCCUPANCIES]; PLACES];
    let mut place = 0;
    while place < PLACES {
        let mut inner = 0;
        while inner < OCCUPANCIES {
            let occupied = inner << 1;
            let mut reached = 0_u16;
            let mut direction = 0;
            while direction < 2 {
                let mut passed = 0;
                let mut point = place;
                while passed <= screens && (direction == 0 && point > 0 || direction == 1 && point + 1 < PLACES) {
                    point = if direction == 0 { point - 1 } else { point + 1 };
                    if passed == screens {
                        reached |= 1 << point;
                    }
                    passed += (occupied >> point & 1) as u32;
                }
                direction += 1;
            }
            table[place][inner] = reached;
            inner += 1;
        }
        place += 1;
    }
    table
}

/// The first file's points of one bank.
const FILE: u64 = 0x10_0804_0201;

/// Gathers five bits that lie nine apart. Bit 9i goes to 36 + i through the term 36 - 8i; no two
/// products meet, since 9i - 8j identifies i and j.
#[inline]
const fn gather(spread: u64) -> u64 {
    spread.wrapping_mul(0x10_1010_1010) >> 36 & 0x1f
}

/// The inverse of [`gather`]: bit i meets the term 8i at 9i.
#[inline]
const fn spread(bits: u64) -> u64 {
    bits.wrapping_mul(0x1_0101_0101) & FILE
}

#[inline]
pub(super) fn reach(table: &Reach, from: Square, occupied: Bitboard) -> Bitboard {
    let (file, rank) = (from.file(), from.rank());

    let on_file = gather(occupied.south >> file & FILE) | gather(occupied.north >> file & FILE) << 5;
    let along_file = u64::from(table.file[usize::from(rank)][(on_file >> 1 & 0xff) as usize]);
    let mut reached = Bitboard { south: spread(along_file & 0x1f) << file, north: spread(along_file >> 5) << file };

    if rank < 5 {
        let shift = rank * 9;
        let along_rank = table.rank[usize::from(file)][(occupied.south >> shift >> 1 & 0x7f) as usize];
        reached.south |= u64::from(along_rank) << shift;
    } else {
        let shift = (rank - 5) * 9;
        let along_rank = table.rank[usize::from(file)][(occupied.north >> shift >> 1 & 0x7f) as usize];
        reached.north |= u64::from(along_rank) << shift;
    }
    reached
}

/// The rank and the file of a point, without the point.
#[inline]
pub(crate) const fn cross(square: Square) -> Bitboard {
    CROSS[square.index()]
}

const CROSS: [Bitboard; Square::COUNT] = {
    let mut cross = [Bitboard::EMPTY; Square::COUNT];
    let mut index = 0;
    while index < Square::COUNT {
        let square = Square::at(index);
        cross[index] = Bitboard::file(square.file()).or(Bitboard::rank(square.rank())).without(square);
        index += 1;
    }
    cross
};

/// The points strictly between two points of one line; empty if they share none.
#[must_use]
#[inline]
pub fn between(a: Square, b: Square) -> Bitboard {
    BETWEEN[a.index()][b.index()]
}

static BETWEEN: [[Bitboard; Square::COUNT]; Square::COUNT] = {
    let mut between = [[Bitboard::EMPTY; Square::COUNT]; Square::COUNT];
    let mut a = 0;
    while a < Square::COUNT {
        // Outwards along the rank, then along the file.
        let mut step = 1;
        while step <= 9 {
            let end = if step == 1 { (a / 9 + 1) * 9 } else { Square::COUNT };
            let mut passed = Bitboard::EMPTY;
            let mut b = a + step;
            while b < end {
                between[a][b] = passed;
                between[b][a] = passed;
                passed = passed.with(Square::at(b));
                b += step;
            }
            step += 8;
        }
        a += 1;
    }
    between
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks the four lines point by point.
    fn walked(from: Square, occupied: Bitboard, screens: u32) -> Bitboard {
        let mut reached = Bitboard::EMPTY;
        for (files, ranks) in [(0, 1), (0, -1), (1, 0), (-1, 0)] {
            let mut passed = 0;
            let mut at = from;
            while let Some(next) = super::super::steps::offset(at, files, ranks) {
                at = next;
                if passed == screens {
                    reached = reached.with(at);
                }
                passed += u32::from(occupied.contains(at));
            }
        }
        reached
    }

    #[test]
    fn reach_equals_walking_on_every_occupancy_of_a_cross() {
        for from in Square::all() {
            let rank = Bitboard::rank(from.rank()).without(from);
            let file = Bitboard::file(from.file()).without(from);
            for line in [rank, file] {
                let points: Vec<_> = line.into_iter().collect();
                for subset in 0..1_u32 << points.len() {
                    let occupied =
                        (0..points.len()).filter(|bit| subset >> bit & 1 == 1).map(|bit| points[bit]).collect();
                    assert_eq!(reach(&CHARIOT, from, occupied), walked(from, occupied, 0));
                    assert_eq!(reach(&CANNON, from, occupied), walked(from, occupied, 1));
                }
            }
        }
    }

    #[test]
    fn between_holds_the_points_a_chariot_crosses() {
        for a in Square::all() {
            for b in Square::all() {
                let expected = if cross(a).contains(b) {
                    let both = Bitboard::of(a).with(b);
                    reach(&CHARIOT, a, both) & reach(&CHARIOT, b, both) & (cross(a) - both) & cross(b)
                } else {
                    Bitboard::EMPTY
                };
                assert_eq!(between(a, b), expected, "{a} {b}");
            }
        }
    }
}
