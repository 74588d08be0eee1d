//! The ninety points of the board.

use std::{fmt, str::FromStr};

/// One of the board's ninety points, counted from Red's left corner: `a0` is 0, `i0` is 8, `a1` is
/// 9, `i9` is 89.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Square(u8);

impl Square {
    /// The number of points.
    pub const COUNT: usize = 90;

    /// The point on a file (0 for `a`, from Red's left) and a rank (0 at Red's side), if on the
    /// board.
    #[must_use]
    pub const fn new(file: u8, rank: u8) -> Option<Self> {
        if file < 9 && rank < 10 { Some(Self(rank * 9 + file)) } else { None }
    }

    /// The point with this index, if below ninety.
    #[must_use]
    pub const fn from_index(index: usize) -> Option<Self> {
        if index < Self::COUNT { Some(Self(index as u8)) } else { None }
    }

    /// The unchecked constructor, for indices below ninety by construction.
    pub(crate) const fn at(index: usize) -> Self {
        debug_assert!(index < Self::COUNT);
        Self(index as u8)
    }

    /// The point's index, below ninety.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The file, 0 to 8 from Red's left.
    #[must_use]
    pub const fn file(self) -> u8 {
        self.0 % 9
    }

    /// The rank, 0 to 9 from Red's side.
    #[must_use]
    pub const fn rank(self) -> u8 {
        self.0 / 9
    }

    /// The point mirrored left to right.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        Self(self.rank() * 9 + 8 - self.file())
    }

    /// The point as seen by the other side: the board turned upside down, left staying left.
    #[must_use]
    pub const fn flipped(self) -> Self {
        Self((9 - self.rank()) * 9 + self.file())
    }

    /// Every point, `a0` first.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        (0..Self::COUNT as u8).map(Self)
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", char::from(b'a' + self.file()), self.rank())
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An error: the text names no point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a point is a file a to i and a rank 0 to 9, as in `e0`")]
pub struct ParseSquareError;

impl FromStr for Square {
    type Err = ParseSquareError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.as_bytes() {
            [file @ b'a'..=b'i', rank @ b'0'..=b'9'] => Ok(Self((rank - b'0') * 9 + file - b'a')),
            _ => Err(ParseSquareError),
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Square {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        for square in Square::all() {
            assert_eq!(square.to_string().parse(), Ok(square));
            assert_eq!(Square::new(square.file(), square.rank()), Some(square));
            assert_eq!(square.mirrored().mirrored(), square);
            assert_eq!(square.flipped().flipped(), square);
        }
        for bad in ["", "a", "j0", "a10", "A0", "0a", "a٣"] {
            assert_eq!(bad.parse::<Square>(), Err(ParseSquareError));
        }
    }
}
