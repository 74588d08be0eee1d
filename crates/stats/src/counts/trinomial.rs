//! Counts of games.

use std::fmt;
use std::ops::AddAssign;

use super::{GameResult, sum_of_cells, total, write_cells};

/// The numbers of games lost, drawn and won.
///
/// ```
/// use stats::{GameResult::{Draw, Loss, Win}, Trinomial};
///
/// let counts: Trinomial = [Win, Draw, Win, Loss].into_iter().collect();
/// assert_eq!(counts, Trinomial::new([1, 1, 2]));
/// assert_eq!(counts.games(), 4);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Trinomial([u64; 3]);

impl Trinomial {
    /// Counts in the order losses, draws, wins.
    #[must_use]
    pub const fn new(cells: [u64; 3]) -> Self {
        Self(cells)
    }

    /// The counts in the order losses, draws, wins.
    #[must_use]
    pub const fn cells(&self) -> &[u64; 3] {
        &self.0
    }

    /// Counts a game.
    pub fn add(&mut self, result: GameResult) {
        let cell = &mut self.0[result.half_points()];
        *cell = cell.saturating_add(1);
    }

    /// The sum of both counts.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        Self(sum_of_cells(self.0, other.0))
    }

    /// The same games as seen by the opponent.
    #[must_use]
    pub const fn reversed(self) -> Self {
        let [losses, draws, wins] = self.0;
        Self([wins, draws, losses])
    }

    /// The number of games.
    #[must_use]
    pub fn games(self) -> u64 {
        total(&self.0)
    }

    /// The mean score of a game, as [`Counts::score`](crate::Counts::score).
    #[must_use]
    pub fn score(self) -> f64 {
        crate::Counts::from(self).score()
    }
}

impl AddAssign for Trinomial {
    fn add_assign(&mut self, other: Self) {
        *self = self.merge(other);
    }
}

impl Extend<GameResult> for Trinomial {
    fn extend<I: IntoIterator<Item = GameResult>>(&mut self, results: I) {
        results.into_iter().for_each(|result| self.add(result));
    }
}

impl FromIterator<GameResult> for Trinomial {
    fn from_iter<I: IntoIterator<Item = GameResult>>(results: I) -> Self {
        let mut counts = Self::default();
        counts.extend(results);
        counts
    }
}

/// The format of `chuhe sprt --counts`.
impl fmt::Display for Trinomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_cells(f, &self.0)
    }
}
