//! The two sides of a match.

use xiangqi::Color;

/// One of the two engines whose strength is compared. Results are seen from A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entrant {
    /// The engine under test.
    A,
    /// The reference.
    B,
}

impl Entrant {
    /// The entrant that is Red in the first or second game of a pair: A in the first.
    #[must_use]
    pub const fn red_in(second: bool) -> Self {
        if second { Self::B } else { Self::A }
    }

    /// The entrant that plays a colour in the first or second game of a pair.
    #[must_use]
    pub fn playing(color: Color, second: bool) -> Self {
        if (color == Color::Red) == second { Self::B } else { Self::A }
    }
}
