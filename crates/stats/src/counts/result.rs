//! The result of a game, and of a pair of games.

/// The result of a game, as seen by the player under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[repr(u8)]
pub enum GameResult {
    /// 0 points.
    Loss,
    /// ½ point.
    Draw,
    /// 1 point.
    Win,
}

impl GameResult {
    /// Every result, the worst first.
    pub const ALL: [Self; 3] = [Self::Loss, Self::Draw, Self::Win];

    /// The result in half points, which is also its cell in a [`Trinomial`](crate::Trinomial): 0, 1
    /// or 2.
    #[must_use]
    pub const fn half_points(self) -> usize {
        self as usize
    }

    /// The result for the opponent.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::Loss => Self::Win,
            Self::Draw => Self::Draw,
            Self::Win => Self::Loss,
        }
    }
}

/// The result of a pair: two games from the same opening with colours swapped.
///
/// Two draws, and a win with a loss, share one cell: they score the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[repr(u8)]
pub enum PairResult {
    /// LL: both games lost.
    TwoLosses,
    /// LD: a loss and a draw.
    LossAndDraw,
    /// DD or WL: one point of two.
    Even,
    /// WD: a win and a draw.
    WinAndDraw,
    /// WW: both games won.
    TwoWins,
}

impl PairResult {
    /// Every result, the worst first.
    pub const ALL: [Self; 5] = [Self::TwoLosses, Self::LossAndDraw, Self::Even, Self::WinAndDraw, Self::TwoWins];

    /// The result of a pair from those of its games, in either order.
    #[must_use]
    pub const fn of(one: GameResult, other: GameResult) -> Self {
        Self::ALL[one.half_points() + other.half_points()]
    }

    /// The result in half points, which is also its cell in a [`Pentanomial`](crate::Pentanomial):
    /// 0 to 4.
    #[must_use]
    pub const fn half_points(self) -> usize {
        self as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_worth_its_games() {
        for one in GameResult::ALL {
            for other in GameResult::ALL {
                let pair = PairResult::of(one, other);
                assert_eq!(pair.half_points(), one.half_points() + other.half_points());
                assert_eq!(pair, PairResult::of(other, one));
            }
        }
    }
}
