//! The expected remaining length of a test.
//!
//! The LLR is a sum of independent steps, one per observation. Their mean and variance are known
//! from the results so far, so no small-difference formula is needed, and lopsided matches are
//! handled. Between the bounds the sum is approximated as Brownian motion.

use super::brownian::Absorbed;
use super::{Bounds, NoSolution, Sprt, likelihood};
use crate::Counts;
use crate::distribution::Distribution;

/// The outlook of a test, if the observed strength is the true one.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Outlook {
    /// The expected number of further games; 0 once decided.
    pub games_to_go: f64,
    /// The probability of ending with H1, from 0 to 1.
    pub chance_of_h1: f64,
}

impl Sprt {
    /// Returns the outlook of the test, if the true strength is the one observed so far.
    ///
    /// After few results the observed strength is unreliable, and so is the outlook: a live table
    /// better waits for the first batches.
    ///
    /// ```
    /// use stats::{EloModel, Hypotheses, Pentanomial, Sprt};
    ///
    /// let test = Sprt::new(EloModel::Normalized, Hypotheses::new(0.0, 2.0)?);
    /// let outlook = test.outlook(Pentanomial::new([120, 5200, 11400, 5480, 130]))?;
    /// assert_eq!(format!("{:.0}", outlook.games_to_go), "5208");
    /// assert_eq!(format!("{:.3}", outlook.chance_of_h1), "1.000");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Sprt::llr`].
    pub fn outlook(&self, counts: impl Into<Counts>) -> Result<Outlook, NoSolution> {
        let distribution = Distribution::of(counts.into());
        let (drift, variance) = self.step(&distribution)?;
        let llr = distribution.observations() * drift;
        let Bounds { lower, upper } = self.bounds();
        if llr < lower || llr > upper {
            return Ok(Outlook { games_to_go: 0.0, chance_of_h1: if llr > upper { 1.0 } else { 0.0 } });
        }
        let bounds = Bounds { lower: lower - llr, upper: upper - llr };
        let (chance_of_h1, observations) = Absorbed { drift, variance, bounds }.exit();
        Ok(Outlook { games_to_go: observations * distribution.games_per_observation(), chance_of_h1 })
    }

    /// The expected number of games from beginning to end, if results are distributed as in `like`.
    ///
    /// For counts with the Elo of a hypothesis this is the planned cost of the test.
    ///
    /// ```
    /// use stats::{EloModel, Hypotheses, Pentanomial, Sprt};
    ///
    /// let test = Sprt::new(EloModel::Normalized, Hypotheses::new(0.0, 10.0)?);
    /// let equal = Pentanomial::new([40, 220, 480, 220, 40]);
    /// assert_eq!(format!("{:.0}", test.expected_games(equal)?), "6398");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Sprt::llr`].
    pub fn expected_games(&self, like: impl Into<Counts>) -> Result<f64, NoSolution> {
        let distribution = Distribution::of(like.into());
        let (drift, variance) = self.step(&distribution)?;
        let (_, observations) = Absorbed { drift, variance, bounds: self.bounds() }.exit();
        Ok(observations * distribution.games_per_observation())
    }

    /// Mean and variance of the LLR increment of one observation.
    fn step(&self, distribution: &Distribution) -> Result<(f64, f64), NoSolution> {
        let increments = likelihood::increments(distribution, self.model, self.hypotheses)?;
        let mean = distribution.mean_of(&increments);
        let squares = increments.map(|increment| (increment - mean) * (increment - mean));
        Ok((mean, distribution.mean_of(&squares)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EloModel, Hypotheses, Pentanomial, Trinomial};

    fn normalized(elo0: f64, elo1: f64) -> Sprt {
        Sprt::new(EloModel::Normalized, Hypotheses::new(elo0, elo1).expect("hypotheses"))
    }

    #[test]
    fn the_cost_of_a_test_falls_with_the_square_of_its_width() {
        let equal = Pentanomial::new([40, 220, 480, 220, 40]);
        for (width, games) in [(10.0, 6_400.0), (5.0, 25_600.0), (2.0, 160_000.0)] {
            for test in [normalized(0.0, width), normalized(-width, 0.0)] {
                let expected = test.expected_games(equal).expect("a solution");
                assert!((expected / games - 1.0).abs() < 2e-3, "{width}: {expected}");
            }
        }
    }

    #[test]
    fn a_decided_test_has_nothing_before_it() {
        let won = normalized(0.0, 10.0).outlook(Pentanomial::new([0, 1, 0, 0, 300]));
        assert_eq!(won, Ok(Outlook { games_to_go: 0.0, chance_of_h1: 1.0 }));
        let lost = normalized(0.0, 10.0).outlook(Pentanomial::new([300, 0, 0, 1, 0]));
        assert_eq!(lost, Ok(Outlook { games_to_go: 0.0, chance_of_h1: 0.0 }));
    }

    #[test]
    fn halfway_between_the_hypotheses_it_is_even() {
        let test = normalized(-5.0, 5.0);
        for counts in [Trinomial::new([300, 500, 300]), Trinomial::default()] {
            let Outlook { games_to_go, chance_of_h1 } = test.outlook(counts).expect("a solution");
            assert!((chance_of_h1 - 0.5).abs() < 1e-9 && games_to_go > 10_000.0);
        }
    }

    /// A steady lead: after half of the games of the test, half remain.
    #[test]
    fn at_a_steady_lead_time_left_is_lead_left() {
        let test = normalized(0.0, 10.0);
        let llr = |n| test.llr(Pentanomial::new([4 * n, 20 * n, 48 * n, 26 * n, 6 * n])).expect("a solution");
        let (n, upper) = (4, test.bounds().upper);
        let outlook = test.outlook(Pentanomial::new([4 * n, 20 * n, 48 * n, 26 * n, 6 * n])).expect("a solution");
        let straight = 208.0 * n as f64 * (upper - llr(n)) / llr(n);
        assert!(outlook.chance_of_h1 > 0.99 && (outlook.games_to_go / straight - 1.0).abs() < 0.05, "{outlook:?}");
    }
}
