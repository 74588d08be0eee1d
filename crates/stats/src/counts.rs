//! Counts of results.
//!
//! Invariants:
//!
//! * addition is commutative and associative, so order and batches of results leave no trace;
//! * sums saturate at `u64::MAX`, and counts of more games than that are rejected when parsed;
//! * cells are ordered worst to best, as seen by the player under test.

mod pentanomial;
mod result;
mod trinomial;

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

pub use pentanomial::Pentanomial;
pub use result::{GameResult, PairResult};
pub use trinomial::Trinomial;

use crate::distribution::Distribution;

/// The counts of a match, by pairs of games or by single games.
///
/// Pairs carry more information. Both games of a pair share an opening, so their results are not
/// independent, and a test over single games overestimates its noise.
///
/// Parses and prints the format of `chuhe sprt --counts`: `LL,LD,DD,WD,WW` (drawn pairs include
/// win-and-loss) or `L,D,W`.
///
/// ```
/// use stats::{Counts, Pentanomial};
///
/// let counts: Counts = "39,2226,31451,2412,40".parse()?;
/// assert_eq!(counts, Pentanomial::new([39, 2226, 31451, 2412, 40]).into());
/// assert_eq!(counts.games(), 72_336);
/// assert_eq!(format!("{:.2}", counts.logistic_elo()), "0.90 [0.24, 1.57]");
/// # Ok::<(), stats::CountsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "Vec<u64>", try_from = "Vec<u64>")
)]
pub enum Counts {
    /// Results of pairs.
    Pentanomial(Pentanomial),
    /// Results of single games.
    Trinomial(Trinomial),
}

impl Counts {
    /// The counts, from the worst result to the best: five for pairs, three for games.
    #[must_use]
    pub fn cells(&self) -> &[u64] {
        match self {
            Self::Pentanomial(pairs) => pairs.cells(),
            Self::Trinomial(games) => games.cells(),
        }
    }

    /// The number of games.
    #[must_use]
    pub fn games(&self) -> u64 {
        match self {
            Self::Pentanomial(pairs) => pairs.games(),
            Self::Trinomial(games) => games.games(),
        }
    }

    /// The mean score μ of a game, between 0 and 1.
    ///
    /// As in every statistic here, an empty cell counts as a thousandth of a result. So the mean is
    /// ½ for an empty match, and never quite 0 or 1.
    #[must_use]
    pub fn score(&self) -> f64 {
        Distribution::of(*self).mean()
    }

    /// The mean score of the counted games alone, from 0 to 1; ½ for an empty match.
    ///
    /// ```
    /// let sweep = stats::Counts::from(stats::Pentanomial::new([0, 0, 0, 0, 5]));
    /// assert_eq!((sweep.counted_score(), sweep.score() < 1.0), (1.0, true));
    /// ```
    #[must_use]
    pub fn counted_score(&self) -> f64 {
        let cells = self.cells();
        let sum = |value: fn(usize) -> f64| cells.iter().enumerate().map(|(i, &n)| value(i) * n as f64).sum::<f64>();
        let results = sum(|_| 1.0);
        if results == 0.0 { 0.5 } else { sum(|i| i as f64) / (results * (cells.len() - 1) as f64) }
    }

    /// The same match as seen by the opponent.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Pentanomial(pairs) => pairs.reversed().into(),
            Self::Trinomial(games) => games.reversed().into(),
        }
    }
}

impl From<Pentanomial> for Counts {
    fn from(pairs: Pentanomial) -> Self {
        Self::Pentanomial(pairs)
    }
}

impl From<Trinomial> for Counts {
    fn from(games: Trinomial) -> Self {
        Self::Trinomial(games)
    }
}

impl From<Counts> for Vec<u64> {
    fn from(counts: Counts) -> Self {
        counts.cells().to_vec()
    }
}

impl TryFrom<Vec<u64>> for Counts {
    type Error = CountsError;

    fn try_from(cells: Vec<u64>) -> Result<Self, CountsError> {
        Self::try_from(cells.as_slice())
    }
}

impl TryFrom<&[u64]> for Counts {
    type Error = CountsError;

    fn try_from(cells: &[u64]) -> Result<Self, CountsError> {
        let (counts, games_per_result): (Self, u64) = match *cells {
            [ll, ld, even, wd, ww] => (Pentanomial::new([ll, ld, even, wd, ww]).into(), 2),
            [losses, draws, wins] => (Trinomial::new([losses, draws, wins]).into(), 1),
            _ => return Err(CountsError::Cells { found: cells.len() }),
        };
        let games = cells.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count.checked_mul(games_per_result)?));
        games.map(|_| counts).ok_or(CountsError::Games)
    }
}

impl FromStr for Counts {
    type Err = CountsError;

    fn from_str(text: &str) -> Result<Self, CountsError> {
        let count = |(index, cell): (usize, &str)| {
            let cell = cell.trim();
            cell.parse().map_err(|_| CountsError::Count { position: index + 1, found: cell.to_owned() })
        };
        let cells: Vec<u64> = text.split(',').enumerate().map(count).collect::<Result<_, _>>()?;
        cells.try_into()
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_cells(f, self.cells())
    }
}

/// An error: the input is not the counts of a match.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CountsError {
    /// Neither five cells nor three.
    #[error("expected 5 counts (LL,LD,DD,WD,WW) or 3 (L,D,W), found {found}")]
    Cells {
        /// The number of cells.
        found: usize,
    },
    /// A cell that is not a number of results.
    #[error("count {position}: expected a whole number from 0 to 18446744073709551615, found `{found}`")]
    Count {
        /// The cell, from 1.
        position: usize,
        /// The text of the cell.
        found: String,
    },
    /// A sum beyond the counting range.
    #[error("the counts are of more than 18446744073709551615 games")]
    Games,
}

/// The cell-wise sum of two sets of counts.
fn sum_of_cells<const N: usize>(one: [u64; N], other: [u64; N]) -> [u64; N] {
    std::array::from_fn(|i| one[i].saturating_add(other[i]))
}

/// The number of results in all cells.
fn total(cells: &[u64]) -> u64 {
    cells.iter().fold(0, |total, &count| total.saturating_add(count))
}

fn write_cells(f: &mut fmt::Formatter<'_>, cells: &[u64]) -> fmt::Result {
    for (i, count) in cells.iter().enumerate() {
        let separator = if i == 0 { "" } else { "," };
        write!(f, "{separator}{count}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        for text in ["1,2,3,4,5", "0,0,18446744073709551615", "0,0,9223372036854775807,0,0"] {
            assert_eq!(text.parse::<Counts>().unwrap().to_string(), text);
        }
        assert_eq!(" 1, 2,3 ".parse(), Ok(Counts::Trinomial(Trinomial::new([1, 2, 3]))));
    }

    #[test]
    fn bad_text_names_the_place() {
        let cases = [
            ("1,2", "expected 5 counts (LL,LD,DD,WD,WW) or 3 (L,D,W), found 2"),
            ("1,-2,3", "count 2: expected a whole number from 0 to 18446744073709551615, found `-2`"),
            ("", "count 1: expected a whole number from 0 to 18446744073709551615, found ``"),
            (
                "1,2,18446744073709551616",
                "count 3: expected a whole number from 0 to 18446744073709551615, found `18446744073709551616`",
            ),
            ("18446744073709551615,0,1", "the counts are of more than 18446744073709551615 games"),
            ("0,0,9223372036854775808,0,0", "the counts are of more than 18446744073709551615 games"),
            ("9223372036854775807,0,0,0,1", "the counts are of more than 18446744073709551615 games"),
        ];
        for (text, message) in cases {
            assert_eq!(text.parse::<Counts>().unwrap_err().to_string(), message);
        }
    }
}
