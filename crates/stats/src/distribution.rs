//! The empirical distribution of results, the basis of every formula of this crate.
//!
//! Invariants: every probability is positive, they sum to 1 up to rounding, and the scores ascend
//! from 0 to 1 in equal steps. So mean and variance lie strictly inside their ranges, and no
//! formula divides by zero.

use crate::Counts;

/// The count of an empty cell. It is part of the definition of these statistics: the reference
/// values were computed with it, and other testing sites use it too.
const EMPTY_CELL: f64 = 1e-3;

/// The variance of the score of an observation that may have any result: five equally likely ones.
const UNKNOWN_VARIANCE: f64 = 0.125;

/// The upper bound on cells: the five results of a pair.
const MAX_CELLS: usize = 5;

/// A number per cell; cells beyond the last are zero.
pub(crate) type PerCell = [f64; MAX_CELLS];

/// Observed results as a probability distribution over scores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Distribution {
    p: PerCell,
    scores: &'static [f64],
    observations: f64,
    games_per_observation: f64,
}

impl Distribution {
    pub(crate) fn of(counts: Counts) -> Self {
        let (cells, scores, games_per_observation): (&[u64], &'static [f64], f64) = match &counts {
            Counts::Pentanomial(pairs) => (pairs.cells(), &[0.0, 0.25, 0.5, 0.75, 1.0], 2.0),
            Counts::Trinomial(games) => (games.cells(), &[0.0, 0.5, 1.0], 1.0),
        };
        let mut p = PerCell::default();
        for (p, &count) in p.iter_mut().zip(cells) {
            *p = if count == 0 { EMPTY_CELL } else { count as f64 };
        }
        let observations: f64 = p.iter().sum();
        p = p.map(|p| p / observations);
        Self { p, scores, observations, games_per_observation }
    }

    /// The probabilities, one per score.
    pub(crate) fn p(&self) -> &[f64] {
        &self.p[..self.scores.len()]
    }

    /// The possible scores of one observation, from 0 to 1.
    pub(crate) fn scores(&self) -> &'static [f64] {
        self.scores
    }

    /// The number of independent observations: pairs or single games, empty cells included.
    pub(crate) fn observations(&self) -> f64 {
        self.observations
    }

    /// 2 for pairs, 1 for single games.
    pub(crate) fn games_per_observation(&self) -> f64 {
        self.games_per_observation
    }

    /// The mean of a value given per cell.
    pub(crate) fn mean_of(&self, values: &[f64]) -> f64 {
        self.p().iter().zip(values).map(|(p, value)| p * value).sum()
    }

    /// The mean score.
    pub(crate) fn mean(&self) -> f64 {
        self.mean_of(self.scores)
    }

    /// The mean score minus ½, without cancellation.
    pub(crate) fn lead(&self) -> f64 {
        self.p().iter().zip(self.scores).map(|(p, a)| p * (a - 0.5)).sum()
    }

    /// A variance for intervals: at least that of one observation among all whose result is
    /// unknown. Results that are all equal have next to none.
    pub(crate) fn at_least(&self, variance: f64) -> f64 {
        variance.max(UNKNOWN_VARIANCE / self.observations)
    }

    /// The mean and the variance of the score of one observation.
    pub(crate) fn mean_and_variance(&self) -> (f64, f64) {
        mean_and_variance(self.p(), self.scores)
    }
}

/// The mean and the variance of `scores` under the probabilities `p`.
pub(crate) fn mean_and_variance(p: &[f64], scores: &[f64]) -> (f64, f64) {
    let mean: f64 = p.iter().zip(scores).map(|(p, a)| p * a).sum();
    let variance = p.iter().zip(scores).map(|(p, a)| p * (a - mean) * (a - mean)).sum();
    (mean, variance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pentanomial, Trinomial};

    #[test]
    fn empty_counts_are_uniform() {
        let pairs = Distribution::of(Pentanomial::default().into());
        assert_eq!(pairs.p(), [0.2; 5]);
        assert_eq!(pairs.mean_and_variance(), (0.5, 0.125));
        assert_eq!(Distribution::of(Trinomial::default().into()).p().len(), 3);
    }

    #[test]
    fn the_variance_never_vanishes() {
        let draws = Distribution::of(Pentanomial::new([0, 0, u64::MAX, 0, 0]).into());
        assert!(draws.mean_and_variance().1 > 0.0);
    }
}
