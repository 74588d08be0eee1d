//! The sequential probability ratio test: play until the results themselves say which of two hypotheses holds.
//!
//! H0 says the player is `elo0` stronger, H1 says `elo1`. After every batch the log-likelihood ratio of the two (LLR)
//! is compared with two bounds; leaving them decides, with known chances α and β of being wrong.
//!
//! Invariants: a [`Sprt`] is valid by construction, so A < 0 < B, and every function of it is finite or a typed error.

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

/// The chance of a wrong verdict, either way, unless a test says otherwise.
const USUAL_ERROR_RATE: f64 = 0.05;

/// The smallest chance of error that a test may ask for. Below it a test would in effect never end.
const LEAST_ERROR_RATE: f64 = 1e-9;

/// A sequential test.
///
/// ```
/// use stats::{Decision, EloModel, Hypotheses, Pentanomial, Sprt};
///
/// let gate = Sprt::new(EloModel::Normalized, Hypotheses::new(0.0, 10.0)?).with_error_rates(0.05, 0.01)?;
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
    /// A test of two hypotheses with 5 % chance of error either way.
    #[must_use]
    pub const fn new(model: EloModel, hypotheses: Hypotheses) -> Self {
        Self { model, hypotheses, alpha: USUAL_ERROR_RATE, beta: USUAL_ERROR_RATE }
    }

    /// The same test with other chances of error: `alpha` of accepting H1 though H0 holds, `beta` of accepting H0
    /// though H1 holds.
    ///
    /// # Errors
    ///
    /// When one of them is below 1e-9, ½ or more, or not a number.
    pub fn with_error_rates(self, alpha: f64, beta: f64) -> Result<Self, SprtError> {
        for (name, rate) in [("alpha", alpha), ("beta", beta)] {
            if !(LEAST_ERROR_RATE..0.5).contains(&rate) {
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

    /// What is tested against what.
    #[must_use]
    pub const fn hypotheses(&self) -> Hypotheses {
        self.hypotheses
    }

    /// The chance of accepting H1 though H0 holds.
    #[must_use]
    pub const fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The chance of accepting H0 though H1 holds.
    #[must_use]
    pub const fn beta(&self) -> f64 {
        self.beta
    }

    /// Wald's bounds on the LLR: A = ln(β/(1 − α)) and B = ln((1 − β)/α).
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        Bounds { lower: (self.beta / (1.0 - self.alpha)).ln(), upper: ((1.0 - self.beta) / self.alpha).ln() }
    }

    /// The exact log-likelihood ratio: how much better the most likely distribution with Elo `elo1` explains the
    /// counts than the most likely one with `elo0`.
    ///
    /// Without any results it is not quite zero (some 1e-7 for usual hypotheses), for empty cells count as a thousandth
    /// of a result here too.
    ///
    /// # Errors
    ///
    /// When one of the hypotheses is so extreme that no distribution was found for it.
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

    /// The verdict on an LLR within bounds corrected for overshoot.
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

/// A test as it is stored and sent.
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
