//! The sequential probability ratio test (SPRT): games are played until the results decide between
//! two hypotheses.
//!
//! Under H0 the player is `elo0` stronger, under H1 `elo1`. After every batch the log-likelihood
//! ratio (LLR) of the two is compared with two bounds. Leaving them decides, with known error rates
//! α and β.
//!
//! Invariants: a [`Sprt`] is valid by construction, so A < 0 < B, and every function of it is
//! finite or a typed error.

mod brownian;
mod decision;
mod error;
mod estimate;
mod hypotheses;
mod likelihood;
mod outlook;
mod overshoot;

pub use decision::{Bounds, Decision};
pub use error::{NoSolution, SprtError};
pub use hypotheses::Hypotheses;
pub use outlook::Outlook;
pub use overshoot::Overshoot;

use crate::distribution::Distribution;
use crate::{Counts, EloModel};

/// The default of both error rates.
const DEFAULT_ERROR_RATE: f64 = 0.05;

/// The smallest accepted error rate. Below it a test would in effect never end.
const MIN_ERROR_RATE: f64 = 1e-9;

/// A sequential test.
///
/// ```
/// use stats::{Decision, EloModel, Hypotheses, Pentanomial, Sprt};
///
/// let hypotheses = Hypotheses::new(0.0, 10.0)?;
/// let gate = Sprt::new(EloModel::Normalized, hypotheses).with_error_rates(0.05, 0.01)?;
/// assert_eq!(gate.decision(Pentanomial::new([0, 1, 0, 0, 300]))?, Decision::AcceptH1);
/// assert_eq!(gate.decision(Pentanomial::default())?, Decision::Continue);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(into = "Terms", try_from = "Terms"))]
pub struct Sprt {
    model: EloModel,
    hypotheses: Hypotheses,
    alpha: f64,
    beta: f64,
}

impl Sprt {
    /// A test of two hypotheses with error rates of 5 %.
    #[must_use]
    pub const fn new(model: EloModel, hypotheses: Hypotheses) -> Self {
        Self { model, hypotheses, alpha: DEFAULT_ERROR_RATE, beta: DEFAULT_ERROR_RATE }
    }

    /// The same test with other error rates: `alpha` for accepting H1 under H0, `beta` for
    /// accepting H0 under H1.
    ///
    /// # Errors
    ///
    /// If one of them is below 1e-9, ½ or more, or not a number.
    pub fn with_error_rates(self, alpha: f64, beta: f64) -> Result<Self, SprtError> {
        for (name, rate) in [("alpha", alpha), ("beta", beta)] {
            if !(MIN_ERROR_RATE..0.5).contains(&rate) {
                return Err(SprtError::ErrorRate { name, rate });
            }
        }
        Ok(Self { alpha, beta, ..self })
    }

    /// The scale of the hypotheses.
    #[must_use]
    pub const fn model(&self) -> EloModel {
        self.model
    }

    /// The two hypotheses.
    #[must_use]
    pub const fn hypotheses(&self) -> Hypotheses {
        self.hypotheses
    }

    /// The probability of accepting H1 under H0.
    #[must_use]
    pub const fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The probability of accepting H0 under H1.
    #[must_use]
    pub const fn beta(&self) -> f64 {
        self.beta
    }

    /// Wald's bounds on the LLR: A = ln(β/(1 − α)) and B = ln((1 − β)/α).
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        Bounds { lower: (self.beta / (1.0 - self.alpha)).ln(), upper: ((1.0 - self.beta) / self.alpha).ln() }
    }

    /// The exact log-likelihood ratio: the likelihood of the counts under the most likely
    /// distribution with Elo `elo1`, relative to that with `elo0`.
    ///
    /// Without results it is not quite zero (some 1e-7 for usual hypotheses), because empty cells
    /// count as a thousandth of a result.
    ///
    /// # Errors
    ///
    /// If a hypothesis is so extreme that no distribution was found for it.
    pub fn llr(&self, counts: impl Into<Counts>) -> Result<f64, NoSolution> {
        let distribution = Distribution::of(counts.into());
        let increments = likelihood::increments(&distribution, self.model, self.hypotheses)?;
        Ok(distribution.observations() * distribution.mean_of(&increments))
    }

    /// The verdict on an LLR.
    #[must_use]
    pub fn decide(&self, llr: f64) -> Decision {
        self.bounds().decide(llr)
    }

    /// The verdict on an LLR, within bounds corrected for overshoot.
    #[must_use]
    pub fn decide_corrected(&self, llr: f64, overshoot: &Overshoot) -> Decision {
        overshoot.narrow(self.bounds()).decide(llr)
    }

    /// The verdict on the counts of a match.
    ///
    /// # Errors
    ///
    /// As [`Sprt::llr`].
    pub fn decision(&self, counts: impl Into<Counts>) -> Result<Decision, NoSolution> {
        Ok(self.decide(self.llr(counts)?))
    }
}

/// The serialised form of a test.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
struct Terms {
    model: EloModel,
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
}

#[cfg(feature = "serde")]
impl From<Sprt> for Terms {
    fn from(Sprt { model, hypotheses, alpha, beta }: Sprt) -> Self {
        Self { model, elo0: hypotheses.elo0(), elo1: hypotheses.elo1(), alpha, beta }
    }
}

#[cfg(feature = "serde")]
impl TryFrom<Terms> for Sprt {
    type Error = SprtError;

    fn try_from(Terms { model, elo0, elo1, alpha, beta }: Terms) -> Result<Self, SprtError> {
        Self::new(model, Hypotheses::new(elo0, elo1)?).with_error_rates(alpha, beta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_rates_are_checked() {
        let test = Sprt::new(EloModel::Logistic, Hypotheses::new(0.0, 5.0).unwrap());
        assert!(test.with_error_rates(1e-9, 0.49).is_ok());
        for rate in [0.0, -0.1, 0.5, 1.0, f64::NAN, f64::INFINITY, 1e-10] {
            assert!(matches!(test.with_error_rates(rate, 0.05), Err(SprtError::ErrorRate { name: "alpha", .. })));
            assert!(matches!(test.with_error_rates(0.05, rate), Err(SprtError::ErrorRate { name: "beta", .. })));
        }
    }

    #[test]
    fn bounds_are_on_either_side_of_zero() {
        let test = Sprt::new(EloModel::Logistic, Hypotheses::new(0.0, 5.0).unwrap());
        for (alpha, beta) in [(1e-9, 0.499), (0.499, 1e-9), (0.499, 0.499), (1e-9, 1e-9)] {
            let Bounds { lower, upper } = test.with_error_rates(alpha, beta).unwrap().bounds();
            assert!(lower < 0.0 && 0.0 < upper && lower.is_finite() && upper.is_finite());
        }
    }
}
