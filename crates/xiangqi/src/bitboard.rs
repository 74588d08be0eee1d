//! Bitboards: sets of points.

use std::{
    fmt,
    ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not, Sub},
};

use crate::{Color, Square};

/// The number of points on each bank of the river.
const BANK: usize = 45;

/// A set of points in two words divided by the river: ranks 0 to 4 and ranks 5 to 9.
///
/// A file's bits lie nine apart in both words. One multiplication gathers or spreads half a file,
/// and one word answers whether a piece has crossed the river.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Bitboard {
    pub(crate) south: u64,
    pub(crate) north: u64,
}

impl Bitboard {
    /// No point.
    pub const EMPTY: Self = Self { south: 0, north: 0 };

    /// All ninety points.
    pub const ALL: Self = Self { south: (1 << BANK) - 1, north: (1 << BANK) - 1 };

    /// One point.
    #[must_use]
    pub const fn of(square: Square) -> Self {
        SQUARES[square.index()]
    }

    /// A side's own bank.
    #[must_use]
    pub const fn bank(color: Color) -> Self {
        match color {
            Color::Red => Self { south: Self::ALL.south, north: 0 },
            Color::Black => Self { south: 0, north: Self::ALL.north },
        }
    }

    /// A file, 0 to 8.
    ///
    /// # Panics
    ///
    /// If the board has no such file.
    #[must_use]
    pub const fn file(file: u8) -> Self {
        assert!(file < 9, "the files are 0 to 8");
        let bits = 0x10_0804_0201 << file;
        Self { south: bits, north: bits }
    }

    /// A rank, 0 to 9.
    ///
    /// # Panics
    ///
    /// If the board has no such rank.
    #[must_use]
    pub const fn rank(rank: u8) -> Self {
        assert!(rank < 10, "the ranks are 0 to 9");
        let bits = 0x1ff << (rank % 5 * 9);
        if rank < 5 { Self { south: bits, north: 0 } } else { Self { south: 0, north: bits } }
    }

    /// Whether no point is in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.south | self.north == 0
    }

    /// Whether some point is in the set.
    #[must_use]
    pub const fn any(self) -> bool {
        !self.is_empty()
    }

    /// The number of points in the set.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.south.count_ones() + self.north.count_ones()
    }

    /// Whether the point is in the set.
    #[must_use]
    pub const fn contains(self, square: Square) -> bool {
        self.and(Self::of(square)).any()
    }

    /// Whether the sets share a point.
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.and(other).any()
    }

    /// The lowest point.
    #[must_use]
    pub const fn first(self) -> Option<Square> {
        if self.south != 0 {
            Some(Square::at(self.south.trailing_zeros() as usize))
        } else if self.north != 0 {
            Some(Square::at(BANK + self.north.trailing_zeros() as usize))
        } else {
            None
        }
    }

    /// The set with a point added.
    #[must_use]
    pub const fn with(self, square: Square) -> Self {
        self.or(Self::of(square))
    }

    /// The set with a point removed.
    #[must_use]
    pub const fn without(self, square: Square) -> Self {
        let point = Self::of(square);
        Self { south: self.south & !point.south, north: self.north & !point.north }
    }

    /// Intersection, for constants.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self { south: self.south & other.south, north: self.north & other.north }
    }

    /// Union, for constants.
    pub(crate) const fn or(self, other: Self) -> Self {
        Self { south: self.south | other.south, north: self.north | other.north }
    }
}

const SQUARES: [Bitboard; Square::COUNT] = {
    let mut squares = [Bitboard::EMPTY; Square::COUNT];
    let mut index = 0;
    while index < Square::COUNT {
        squares[index] = if index < BANK {
            Bitboard { south: 1 << index, north: 0 }
        } else {
            Bitboard { south: 0, north: 1 << (index - BANK) }
        };
        index += 1;
    }
    squares
};

macro_rules! operator {
    ($operator:ident $method:ident, $assign:ident $assign_method:ident, $symbol:tt) => {
        impl $operator for Bitboard {
            type Output = Self;

            #[inline]
            fn $method(self, other: Self) -> Self {
                Self { south: self.south $symbol other.south, north: self.north $symbol other.north }
            }
        }

        impl $assign for Bitboard {
            #[inline]
            fn $assign_method(&mut self, other: Self) {
                *self = self.$method(other);
            }
        }
    };
}

operator!(BitAnd bitand, BitAndAssign bitand_assign, &);
operator!(BitOr bitor, BitOrAssign bitor_assign, |);
operator!(BitXor bitxor, BitXorAssign bitxor_assign, ^);

impl Sub for Bitboard {
    type Output = Self;

    /// The points of `self` that are not in `other`.
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self { south: self.south & !other.south, north: self.north & !other.north }
    }
}

impl Not for Bitboard {
    type Output = Self;

    #[inline]
    fn not(self) -> Self {
        Self::ALL - self
    }
}

impl From<Square> for Bitboard {
    fn from(square: Square) -> Self {
        Self::of(square)
    }
}

impl FromIterator<Square> for Bitboard {
    fn from_iter<I: IntoIterator<Item = Square>>(squares: I) -> Self {
        squares.into_iter().fold(Self::EMPTY, Self::with)
    }
}

/// The points of a set, `a0` first.
#[derive(Clone, Debug)]
pub struct Squares(Bitboard);

impl Iterator for Squares {
    type Item = Square;

    #[inline]
    fn next(&mut self) -> Option<Square> {
        let square = self.0.first()?;
        if self.0.south != 0 {
            self.0.south &= self.0.south - 1;
        } else {
            self.0.north &= self.0.north - 1;
        }
        Some(square)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len(), Some(self.len()))
    }

    // One loop per bank: the loop that the optimiser makes of `next` alone tests the bank at every
    // step.
    #[inline]
    fn fold<B, F: FnMut(B, Square) -> B>(self, init: B, mut f: F) -> B {
        let mut accumulator = init;
        let mut word = self.0.south;
        while word != 0 {
            accumulator = f(accumulator, Square::at(word.trailing_zeros() as usize));
            word &= word - 1;
        }
        let mut word = self.0.north;
        while word != 0 {
            accumulator = f(accumulator, Square::at(BANK + word.trailing_zeros() as usize));
            word &= word - 1;
        }
        accumulator
    }
}

impl ExactSizeIterator for Squares {
    fn len(&self) -> usize {
        self.0.count() as usize
    }
}

impl IntoIterator for Bitboard {
    type Item = Square;
    type IntoIter = Squares;

    #[inline]
    fn into_iter(self) -> Squares {
        Squares(self)
    }
}

impl fmt::Debug for Bitboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(*self).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iteration_visits_each_point_once_in_order() {
        let visited: Vec<_> = Bitboard::ALL.into_iter().collect();
        assert_eq!(visited, Square::all().collect::<Vec<_>>());
        let mut folded = Vec::new();
        Bitboard::ALL.into_iter().for_each(|square| folded.push(square));
        assert_eq!(folded, visited);
    }

    #[test]
    fn files_ranks_and_banks_hold_their_points() {
        for square in Square::all() {
            for line in 0..10 {
                assert_eq!(Bitboard::rank(line).contains(square), square.rank() == line);
                assert!(line == 9 || Bitboard::file(line).contains(square) == (square.file() == line));
            }
            assert_eq!(Bitboard::bank(Color::Red).contains(square), square.rank() < 5);
            assert_eq!(Bitboard::bank(Color::Black).contains(square), square.rank() > 4);
            assert_eq!(!Bitboard::of(square), Bitboard::ALL.without(square));
        }
    }

    #[test]
    #[should_panic(expected = "the files are 0 to 8")]
    fn there_is_no_tenth_file() {
        let _ = Bitboard::file(9);
    }

    #[test]
    #[should_panic(expected = "the ranks are 0 to 9")]
    fn there_is_no_eleventh_rank() {
        let _ = Bitboard::rank(10);
    }
}
