//! Counts of pairs.

use std::fmt;
use std::ops::AddAssign;

use super::{PairResult, sum_of_cells, total, write_cells};

/// The number of pairs with each of five results: LL, LD, DD or WL, WD, WW.
///
/// ```
/// use stats::{GameResult::{Draw, Loss, Win}, PairResult, Pentanomial};
///
/// let mut counts = Pentanomial::default();
/// counts.add(PairResult::of(Win, Draw));
/// counts.add(PairResult::of(Loss, Win));
/// assert_eq!(counts, Pentanomial::new([0, 0, 1, 1, 0]));
/// assert_eq!((counts.pairs(), counts.games()), (2, 4));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Pentanomial([u64; 5]);

impl Pentanomial {
    /// Counts in the order LL, LD, DD + WL, WD, WW.
    #[must_use]
    pub const fn new(cells: [u64; 5]) -> Self {
        Self(cells)
    }

    /// The counts in the order LL, LD, DD + WL, WD, WW.
    #[must_use]
    pub const fn cells(&self) -> &[u64; 5] {
        &self.0
    }

    /// Counts a pair.
    pub fn add(&mut self, result: PairResult) {
        let cell = &mut self.0[result.half_points()];
        *cell = cell.saturating_add(1);
    }

    /// The sum of both counts.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        Self(sum_of_cells(self.0, other.0))
    }

    /// The same pairs as seen by the opponent.
    #[must_use]
    pub const fn reversed(self) -> Self {
        let [ll, ld, even, wd, ww] = self.0;
        Self([ww, wd, even, ld, ll])
    }

    /// The number of pairs.
    #[must_use]
    pub fn pairs(self) -> u64 {
        total(&self.0)
    }

    /// The number of games: two per pair.
    #[must_use]
    pub fn games(self) -> u64 {
        self.pairs().saturating_mul(2)
    }

    /// The mean score of a game, as [`Counts::score`](crate::Counts::score).
    #[must_use]
    pub fn score(self) -> f64 {
        crate::Counts::from(self).score()
    }
}

impl AddAssign for Pentanomial {
    fn add_assign(&mut self, other: Self) {
        *self = self.merge(other);
    }
}

impl Extend<PairResult> for Pentanomial {
    fn extend<I: IntoIterator<Item = PairResult>>(&mut self, results: I) {
        results.into_iter().for_each(|result| self.add(result));
    }
}

impl FromIterator<PairResult> for Pentanomial {
    fn from_iter<I: IntoIterator<Item = PairResult>>(results: I) -> Self {
        let mut counts = Self::default();
        counts.extend(results);
        counts
    }
}

/// The format of `chuhe sprt --counts`.
impl fmt::Display for Pentanomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_cells(f, &self.0)
    }
}
