//! The exact log-likelihood ratio: constrained maximum likelihood.
//!
//! For each hypothesis, the distribution q with the hypothesis' Elo is sought that best explains
//! the observed one, p: it maximises Σ p ln q. Lagrange's condition gives q = p/(1 + xφ), with φ
//! the gradient of the constraint and x such that Σ qφ = 0. The result of one game or pair then
//! moves the LLR by ln(q1/q0) of its cell.

use super::{Hypotheses, NoSolution};
use crate::EloModel;
use crate::distribution::{Distribution, PerCell, mean_and_variance};
use crate::elo::{NORMALIZED_PER_DEVIATION, score_of_elo};

/// The convergence limit of the fixed-point iteration of the normalised model: the largest relative
/// change of a cell of q.
///
/// Usual counts need fewer than ten rounds. Other sites always stop after ten; that is not the
/// maximum yet in nearly drawn matches. For 2,10,191332,10,0 against <-5, 5> ten rounds make an LLR
/// of -1.13, and it is -4.71.
const CONVERGENCE_LIMIT: f64 = 1e-10;

/// The limit on rounds. The slowest of four million random counts and hypotheses within ±120
/// took 642.
const MAX_ROUNDS: usize = 10_000;

/// The limit on steps to find x. Newton's method needs about five, and eighteen for counts of 10¹²
/// beside empty cells.
const MAX_STEPS: usize = 400;

/// The LLR increment of a result in each cell: ln(q1/q0).
pub(super) fn increments(
    distribution: &Distribution,
    model: EloModel,
    hypotheses: Hypotheses,
) -> Result<PerCell, NoSolution> {
    let divisors = |elo| {
        let found = match model {
            EloModel::Logistic => with_score(distribution, score_of_elo(elo)),
            EloModel::Normalized => {
                let scale = distribution.games_per_observation().sqrt() / NORMALIZED_PER_DEVIATION;
                with_normalized_score(distribution, elo * scale)
            }
        };
        found.ok_or(NoSolution { model, elo })
    };
    let (under_h0, under_h1) = (divisors(hypotheses.elo0())?, divisors(hypotheses.elo1())?);
    let mut increments = PerCell::default();
    for i in 0..distribution.p().len() {
        increments[i] = (under_h0[i] / under_h1[i]).ln();
    }
    Ok(increments)
}

/// Divisors p/q of the distribution with mean `score`: the condition Σ q(a − s) = 0 is linear, φ =
/// a − s.
fn with_score(distribution: &Distribution, score: f64) -> Option<PerCell> {
    divisors(distribution.p(), distribution.scores().iter().map(|a| a - score))
}

/// Divisors p/q of the distribution with (μ − ½)/σ = t.
///
/// Fixed-point iteration: φ depends on μ and σ of the unknown distribution. So each round uses φ of
/// the round before, and the first that of the uniform distribution.
fn with_normalized_score(distribution: &Distribution, t: f64) -> Option<PerCell> {
    let (p, scores) = (distribution.p(), distribution.scores());
    let mut q = PerCell::default();
    q[..p.len()].fill(1.0 / p.len() as f64);
    for _ in 0..MAX_ROUNDS {
        let (mean, variance) = mean_and_variance(&q[..p.len()], scores);
        let deviation = variance.sqrt();
        let gradient = |a: &f64| {
            let z = (mean - a) / deviation;
            a - 0.5 - 0.5 * t * deviation * (1.0 + z * z)
        };
        let found = divisors(p, scores.iter().map(gradient))?;
        let mut converged = true;
        for i in 0..p.len() {
            let next = p[i] / found[i];
            converged &= (next / q[i] - 1.0).abs() < CONVERGENCE_LIMIT;
            q[i] = next;
        }
        if converged {
            return Some(found);
        }
    }
    None
}

/// The divisors 1 + xφ for the x at which Σ pφ/(1 + xφ) = 0 and all of them are positive. `None` if
/// φ does not change sign, for then there is no such x.
///
/// The sum falls from +∞ to −∞ between the poles −1/max φ and −1/min φ. For lopsided counts x comes
/// so close to a pole that 1 + xφ would be all rounding. There the unknown is δ, the distance to
/// the pole.
fn divisors(p: &[f64], gradient: impl Iterator<Item = f64>) -> Option<PerCell> {
    let mut phi = PerCell::default();
    phi.iter_mut().zip(gradient).for_each(|(cell, value)| *cell = value);
    let phi = &mut phi[..p.len()];
    // Mirrored if necessary, the root is between 0 and the pole 1/|min φ|.
    if p.iter().zip(&*phi).map(|(p, phi)| p * phi).sum::<f64>() < 0.0 {
        for phi in &mut *phi {
            *phi = -*phi;
        }
    }
    let highest = phi.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (at_pole, lowest) = phi.iter().copied().enumerate().min_by(|one, other| one.1.total_cmp(&other.1))?;
    if !(lowest < 0.0 && 0.0 < highest) {
        return None;
    }
    let pole = -1.0 / lowest;
    let near_zero = Line { p, phi, at_zero: |_| 1.0, direction: 1.0 };
    if near_zero.at(pole / 2.0).1 < 0.0 {
        return Some(near_zero.root(0.0, pole / 2.0, 0.0));
    }
    let near_pole = Line { p, phi, at_zero: |phi| (phi - lowest) / -lowest, direction: -1.0 };
    // At the root the cell at the pole, −p/δ, is balanced by the cells with φ > 0, which sum to at
    // most max φ.
    let least = 0.5 * p[at_pole] / highest;
    Some(near_pole.root(least, pole / 2.0, pole / 2.0))
}

/// A parametrisation of the range of x from one end inwards: at distance u the divisors are
/// `at_zero` + `direction`·uφ.
struct Line<'a, F> {
    p: &'a [f64],
    phi: &'a [f64],
    at_zero: F,
    direction: f64,
}

impl<F: Fn(f64) -> f64> Line<'_, F> {
    /// The divisors at a distance, Σ pφ/divisor there, and its slope.
    fn at(&self, distance: f64) -> (PerCell, f64, f64) {
        let mut divisors = PerCell::default();
        let (mut sum, mut slope) = (0.0, 0.0);
        for ((divisor, p), &phi) in divisors.iter_mut().zip(self.p).zip(self.phi) {
            *divisor = (self.at_zero)(phi) + self.direction * distance * phi;
            sum += p * phi / *divisor;
            slope -= self.direction * p * (phi / *divisor) * (phi / *divisor);
        }
        (divisors, sum, slope)
    }

    /// The divisors at the root, by Newton's method from `start`, safeguarded by the bracket from
    /// `low` to `high`.
    fn root(&self, mut low: f64, mut high: f64, start: f64) -> PerCell {
        let mut distance = start;
        let mut found = PerCell::default();
        for step in 0..MAX_STEPS {
            let (divisors, sum, slope) = self.at(distance);
            found = divisors;
            let newton = distance - sum / slope;
            if (newton - distance).abs() <= 2.0 * f64::EPSILON * distance {
                break;
            }
            if self.direction * sum > 0.0 {
                low = distance;
            } else {
                high = distance;
            }
            // Safeguard: where Newton's step leaves the bracket, the geometric mean halves the
            // number of open digits, if low is positive.
            let safe = low < newton && newton < high && step % 64 != 63;
            distance = if safe {
                newton
            } else if low > 0.0 {
                (low * high).sqrt()
            } else {
                high / 2.0
            };
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pentanomial, Sprt};

    const CASES: [[u64; 5]; 7] = [
        [120, 5200, 11400, 5480, 130],
        [0, 0, 3787, 341, 3679],
        [0, 1, 0, 0, 300],
        [900, 3, 1, 0, 0],
        [0, 0, 40, 0, 0],
        [2, 10, 191_332, 10, 0],
        [7, 0, 1_000_000_000, 0, 20],
    ];

    fn found(cells: [u64; 5], t: f64) -> (Distribution, PerCell, PerCell) {
        let distribution = Distribution::of(Pentanomial::new(cells).into());
        let divisors = with_normalized_score(&distribution, t).expect("a solution");
        let mut q = PerCell::default();
        (0..5).for_each(|i| q[i] = distribution.p()[i] / divisors[i]);
        (distribution, divisors, q)
    }

    #[test]
    fn solutions_are_distributions_with_the_requested_score() {
        for cells in CASES {
            for t in [-0.1, -0.01, 0.0, 0.004, 0.04] {
                let (distribution, _, q) = found(cells, t);
                let (mean, variance) = mean_and_variance(&q, distribution.scores());
                assert!((q.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{cells:?} {t}");
                assert!(((mean - 0.5) / variance.sqrt() - t).abs() < 1e-9, "{cells:?} {t}: {mean} {variance}");
            }
        }
    }

    /// Values found by a search over every σ, with the best distribution of that mean and variance
    /// for each.
    #[test]
    fn nearly_nothing_but_draws_is_judged_by_the_true_maximum() {
        for (cells, elo0, elo1, expected) in [
            ([2, 10, 191_332, 10, 0], -5.0, 5.0, -4.708_868_634),
            ([0, 2, 29_122, 5, 0], -5.0, -4.0, 3.906_498_145),
            ([0, 2, 12_211, 1, 0], 5.0, 6.0, -1.985_667_967),
        ] {
            let test = Sprt::new(EloModel::Normalized, Hypotheses::new(elo0, elo1).expect("hypotheses"));
            let llr = test.llr(Pentanomial::new(cells)).expect("a solution");
            assert!((llr - expected).abs() < 1e-8, "{cells:?}: {llr}");
        }
    }

    /// Lagrange's condition at the solution: p/q − 1 is a multiple of φ.
    #[test]
    fn solutions_are_most_likely() {
        for cells in CASES {
            for t in [-0.1, -0.01, 0.004, 0.04] {
                let (distribution, divisors, q) = found(cells, t);
                let (mean, variance) = mean_and_variance(&q, distribution.scores());
                let deviation = variance.sqrt();
                let phi = |i: usize| {
                    let a = distribution.scores()[i];
                    a - 0.5 - t * deviation / 2.0 * (1.0 + ((mean - a) / deviation).powi(2))
                };
                let multiplier = (divisors[0] - 1.0) / phi(0);
                for (i, divisor) in divisors.iter().enumerate() {
                    let expected = 1.0 + multiplier * phi(i);
                    assert!((divisor - expected).abs() < 1e-7 * divisor.max(1.0), "{cells:?} {t}: {divisors:?}");
                }
            }
        }
    }

    #[test]
    fn mean_scores_are_met_up_to_the_edge() {
        for cells in CASES {
            for score in [1e-5, 0.1, 0.5, 0.6, 1.0 - 1e-5] {
                let distribution = Distribution::of(Pentanomial::new(cells).into());
                let divisors = with_score(&distribution, score).expect("a solution");
                let mut q = PerCell::default();
                (0..5).for_each(|i| q[i] = distribution.p()[i] / divisors[i]);
                let (mean, _) = mean_and_variance(&q, distribution.scores());
                assert!((mean - score).abs() < 1e-12, "{cells:?} {score}: {mean}");
            }
            let distribution = Distribution::of(Pentanomial::new(cells).into());
            assert!(with_score(&distribution, 0.0).is_none() && with_score(&distribution, 1.0).is_none());
        }
    }
}
