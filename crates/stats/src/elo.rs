//! Elo: two scales, and the estimates of a match of fixed length.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::Counts;
use crate::distribution::Distribution;
use crate::normal::{self, QUANTILE_97_5};

/// Normalised Elo per unit of (μ − ½)/σ of a single game: 800/ln 10. With it both scales agree for
/// small differences between players who never draw.
pub(crate) const NORMALIZED_PER_DEVIATION: f64 = 800.0 / std::f64::consts::LN_10;

/// The bound of estimates of logistic Elo, so that those of a clean sweep are finite.
pub(crate) const MAX_ESTIMATE: f64 = 1000.0;

/// The scale of a hypothesis such as "5 Elo stronger".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum EloModel {
    /// The Elo of rating lists, a function of the score alone: μ = 1/(1 + 10^(−Elo/400)).
    Logistic,
    /// The score in units of its noise: (μ − ½)/σ · 800/ln 10, σ the deviation of a game (of a pair
    /// times √2). It alone determines the length of a test, whatever the share of draws and the
    /// openings.
    Normalized,
}

impl fmt::Display for EloModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Logistic => "logistic",
            Self::Normalized => "normalized",
        })
    }
}

impl FromStr for EloModel {
    type Err = UnknownEloModel;

    fn from_str(text: &str) -> Result<Self, UnknownEloModel> {
        match text {
            "logistic" => Ok(Self::Logistic),
            "normalized" => Ok(Self::Normalized),
            _ => Err(UnknownEloModel { found: text.to_owned() }),
        }
    }
}

/// An error: the name of no [`EloModel`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("expected `normalized` or `logistic`, found `{found}`")]
pub struct UnknownEloModel {
    /// The text that names no model.
    pub found: String,
}

/// Elo with its error. Prints as `2.28 [0.61, 3.94]`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EloEstimate {
    /// The point estimate.
    pub elo: f64,
    /// The lower end of the 95 % interval.
    pub elo_low: f64,
    /// The upper end of the 95 % interval.
    pub elo_high: f64,
    /// Likelihood of superiority: the probability that Elo is above zero, from 0 to 1.
    pub los: f64,
}

impl EloEstimate {
    /// Half the width of the 95 % interval: the number after ±.
    #[must_use]
    pub fn error(&self) -> f64 {
        (self.elo_high - self.elo_low) / 2.0
    }
}

/// A rounded number for display. A number that rounds to zero has no sign: `-0.00` would claim too
/// much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounded {
    /// The unrounded number.
    pub number: f64,
    /// The number of decimal places.
    pub places: usize,
}

impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.*}", self.places, self.number);
        let is_zero = text.bytes().all(|letter| matches!(letter, b'-' | b'0' | b'.'));
        f.write_str(if is_zero { text.trim_start_matches('-') } else { &text })
    }
}

impl fmt::Display for EloEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = f.precision().unwrap_or(2);
        let [elo, low, high] = [self.elo, self.elo_low, self.elo_high].map(|elo| Rounded { number: elo, places });
        write!(f, "{elo} [{low}, {high}]")
    }
}

/// Estimates for a match of fixed length. A match stopped by its own test is a biased sample: use
/// [`Sprt::estimate`](crate::Sprt::estimate) for it.
impl Counts {
    /// Logistic Elo: the mean score μ ± 1.96 √(v/N), converted, within ±1000.
    ///
    /// ```
    /// let counts = stats::Trinomial::new([600, 800, 700]);
    /// let elo = stats::Counts::from(counts).logistic_elo();
    /// assert_eq!(format!("{:.1} ± {:.1}", elo.elo, elo.error()), "16.6 ± 11.7");
    /// ```
    #[must_use]
    pub fn logistic_elo(&self) -> EloEstimate {
        let distribution = Distribution::of(*self);
        let (mean, variance) = distribution.mean_and_variance();
        let deviation = (distribution.at_least(variance) / distribution.observations()).sqrt();
        EloEstimate {
            elo: elo_of_score(mean),
            elo_low: elo_of_score(mean - QUANTILE_97_5 * deviation),
            elo_high: elo_of_score(mean + QUANTILE_97_5 * deviation),
            los: normal::cdf(distribution.lead() / deviation),
        }
    }

    /// Normalised Elo: t = (μ − ½)/σ in units of 800/ln 10.
    ///
    /// The error is that of t with μ and σ from the same N observations. One observation with z =
    /// (a − μ)/σ moves t by (z − t(z² − 1)/2)/N. Near equality this is the familiar 1/√N.
    #[must_use]
    pub fn normalized_elo(&self) -> EloEstimate {
        let distribution = Distribution::of(*self);
        let (mean, variance) = distribution.mean_and_variance();
        let deviation = variance.sqrt();
        let t = distribution.lead() / deviation;
        let influence_squared = |a: &f64| {
            let z = (a - mean) / deviation;
            (z - t * (z * z - 1.0) / 2.0).powi(2)
        };
        let spread: f64 =
            distribution.p().iter().zip(distribution.scores()).map(|(p, a)| p * influence_squared(a)).sum();
        let error = QUANTILE_97_5 * (spread / distribution.observations()).sqrt();
        let scale = NORMALIZED_PER_DEVIATION / distribution.games_per_observation().sqrt();
        EloEstimate {
            elo: t * scale,
            elo_low: (t - error) * scale,
            elo_high: (t + error) * scale,
            los: self.logistic_elo().los,
        }
    }
}

/// The expected score of a player who is `elo` stronger on the logistic scale.
pub(crate) fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The expected score minus ½, without cancellation: (1/2) tanh(elo · ln 10/800).
pub(crate) fn lead_of_elo(elo: f64) -> f64 {
    0.5 * (elo / NORMALIZED_PER_DEVIATION).tanh()
}

/// The logistic Elo of a score, within ±[`MAX_ESTIMATE`].
fn elo_of_score(score: f64) -> f64 {
    let score = score.clamp(0.0, 1.0);
    (400.0 * (score / (1.0 - score)).log10()).clamp(-MAX_ESTIMATE, MAX_ESTIMATE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pentanomial, Trinomial};

    #[test]
    fn scores_and_elo_are_inverse() {
        for elo in [-990.0, -50.0, 0.0, 1.0, 200.0, 990.0] {
            assert!((elo_of_score(score_of_elo(elo)) - elo).abs() < 1e-9);
            assert!((score_of_elo(elo) - 0.5 - lead_of_elo(elo)).abs() < 1e-15);
        }
    }

    #[test]
    fn both_scales_agree_near_equality_without_draws() {
        let counts = Counts::from(Trinomial::new([499_000, 0, 501_000]));
        let (logistic, normalized) = (counts.logistic_elo(), counts.normalized_elo());
        assert!((logistic.elo - normalized.elo).abs() < 1e-3);
        assert!((logistic.error() - normalized.error()).abs() < 1e-3);
    }

    #[test]
    fn a_sweep_and_an_empty_match_are_finite() {
        for cells in [[0; 5], [0, 0, 0, 0, 7], [7, 0, 0, 0, 0], [0, 0, u64::MAX, 0, 0]] {
            let counts = Counts::from(Pentanomial::new(cells));
            for EloEstimate { elo, elo_low, elo_high, los } in [counts.logistic_elo(), counts.normalized_elo()] {
                assert!(elo_low <= elo && elo <= elo_high && (0.0..=1.0).contains(&los), "{cells:?}");
                assert!(elo_low.is_finite() && elo_high.is_finite(), "{cells:?}");
            }
        }
    }

    #[test]
    fn all_estimates_have_one_bound() {
        let test = crate::Sprt::new(EloModel::Normalized, crate::Hypotheses::new(0.0, 10.0).unwrap());
        let counts = Counts::from(Pentanomial::new([0, 0, 1, 0, 0]));
        for estimate in [counts.logistic_elo(), test.estimate(counts)] {
            assert_eq!(format!("{estimate:.0}"), "0 [-1000, 1000]");
        }
    }

    /// A few equal results do not prove that all would be equal.
    #[test]
    fn a_tiny_match_has_a_wide_interval() {
        let test = crate::Sprt::new(EloModel::Normalized, crate::Hypotheses::new(0.0, 10.0).unwrap());
        let error = |cells| {
            let counts = Counts::from(Pentanomial::new(cells));
            [counts.logistic_elo(), test.estimate(counts)].map(|elo| elo.error())
        };
        for [plain, sequential] in [error([0, 0, 1, 0, 0]), error([0, 0, 5, 0, 0]), error([0, 0, 0, 0, 2])] {
            assert!(plain > 80.0 && sequential > 80.0, "{plain} {sequential}");
        }
        let [plain, _] = error([0, 0, 1_000, 0, 0]);
        assert!((0.1..1.0).contains(&plain), "{plain}");
        let usual = Counts::from(Pentanomial::new([1, 2, 6, 3, 1])).logistic_elo();
        assert_eq!(format!("{:.1} ± {:.1}", usual.elo, usual.error()), "13.4 ± 96.7", "real noise is greater");
    }

    #[test]
    fn values_that_round_to_zero_have_no_sign() {
        let rounded = |number, places| Rounded { number, places }.to_string();
        assert_eq!(rounded(-0.00004, 4), "0.0000");
        assert_eq!(rounded(-0.00005001, 4), "-0.0001");
        assert_eq!([rounded(-0.4, 0), rounded(-10.0, 0), rounded(0.0, 1)], ["0", "-10", "0.0"]);
        assert_eq!(rounded(f64::NEG_INFINITY, 2), "-inf");
        let estimate = EloEstimate { elo: -0.001, elo_low: -1.0, elo_high: 0.0, los: 0.5 };
        assert_eq!(estimate.to_string(), "0.00 [-1.00, 0.00]");
    }

    #[test]
    fn names_round_trip() {
        for model in [EloModel::Logistic, EloModel::Normalized] {
            assert_eq!(model.to_string().parse(), Ok(model));
        }
        assert!("bayes".parse::<EloModel>().is_err());
    }
}
