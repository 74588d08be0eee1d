//! Moves and move lists.

use std::{fmt, num::NonZeroU16, str::FromStr};

use arrayvec::ArrayVec;

use crate::Square;

/// A move from one point to another, legal or not. `Option<Move>` is two bytes.
///
/// The moving piece and the capture are known to the [`Position`](crate::Position) only.
///
/// The text form is UCI with ranks 0 to 9 (`h2e2`), parsed without a check of legality. Other
/// notations and checked parsing are in [`notation`](crate::notation).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Move(NonZeroU16);

impl Move {
    /// The move between two points.
    #[must_use]
    pub const fn new(from: Square, to: Square) -> Self {
        let packed = (from.index() as u16) << 1 | (to.index() as u16) << 8 | 1;
        match NonZeroU16::new(packed) {
            Some(packed) => Self(packed),
            None => unreachable!(),
        }
    }

    /// The point that the piece leaves.
    #[must_use]
    pub const fn from(self) -> Square {
        Square::at((self.0.get() >> 1 & 0x7f) as usize)
    }

    /// The point that the piece enters.
    #[must_use]
    pub const fn to(self) -> Square {
        Square::at((self.0.get() >> 8) as usize)
    }

    /// The move packed into fifteen bits, for tables and files; the inverse of [`Move::from_bits`].
    #[must_use]
    pub const fn to_bits(self) -> u16 {
        self.0.get()
    }

    /// The move packed by [`Move::to_bits`]; `None` for invalid bits.
    #[must_use]
    pub const fn from_bits(bits: u16) -> Option<Self> {
        let from = (bits >> 1 & 0x7f) as usize;
        let to = (bits >> 8) as usize;
        match NonZeroU16::new(bits) {
            Some(packed) if bits & 1 == 1 && from < Square::COUNT && to < Square::COUNT => Some(Self(packed)),
            _ => None,
        }
    }

    /// The move mirrored left to right.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        Self::new(self.from().mirrored(), self.to().mirrored())
    }

    /// The move with the board turned upside down.
    #[must_use]
    pub const fn flipped(self) -> Self {
        Self::new(self.from().flipped(), self.to().flipped())
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.from(), self.to())
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An error: the text is no move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a move is two points, files a to i and ranks 0 to 9, as in `h2e2`")]
pub struct ParseMoveError;

impl FromStr for Move {
    type Err = ParseMoveError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let point = |text: Option<&str>| text.and_then(|text| text.parse().ok()).ok_or(ParseMoveError);
        Ok(Self::new(point(text.get(..2))?, point(text.get(2..))?))
    }
}

/// An upper bound on the legal moves of a position. The sum is 119: chariots and cannons 4 × 17,
/// horses 2 × 8, pawns 5 × 3, elephants and advisors 4 × 4, king 4.
pub const MAX_MOVES: usize = 120;

/// A move list on the stack.
pub type MoveList = ArrayVec<Move, MAX_MOVES>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_round_trip() {
        for bits in 0..=u16::MAX {
            if let Some(mv) = Move::from_bits(bits) {
                assert_eq!(mv.to_bits(), bits);
                assert_eq!(Move::new(mv.from(), mv.to()), mv);
                assert_eq!(mv.to_string().parse(), Ok(mv));
            }
        }
        assert_eq!((0..=u16::MAX).filter_map(Move::from_bits).count(), 90 * 90);
        assert_eq!(size_of::<Option<Move>>(), 2);
    }

    #[test]
    fn other_texts_are_no_moves() {
        for text in ["", "h2", "h2e", "h2e2 ", "h2-e2", "H2E2", "j0a0", "a0a10", "é2e2", "h炮", "炮二平五"] {
            assert_eq!(text.parse::<Move>(), Err(ParseMoveError), "{text}");
        }
    }
}
