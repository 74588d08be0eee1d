//! Errors of tests.

use thiserror::Error;

use super::MIN_ERROR_RATE;
use super::hypotheses::{MAX_ELO, MIN_WIDTH};
use crate::EloModel;

/// An error: the test is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum SprtError {
    /// A hypothesis beyond the strength that a player can have.
    #[error("Elo {elo} is not between -{MAX_ELO} and {MAX_ELO}")]
    Elo {
        /// The Elo of a hypothesis.
        elo: f64,
    },
    /// H1 not above H0, or too close to it for any match to distinguish them.
    #[error("elo1 {elo1} is not at least {MIN_WIDTH} above elo0 {elo0}")]
    Order {
        /// The strength under H0.
        elo0: f64,
        /// The strength under H1.
        elo1: f64,
    },
    /// A value that is no error rate.
    #[error("{name} {rate} is not at least {MIN_ERROR_RATE} and below 0.5")]
    ErrorRate {
        /// `alpha` or `beta`.
        name: &'static str,
        /// The rejected value.
        rate: f64,
    },
}

/// An error: no distribution of results has the Elo of a hypothesis, which is too extreme.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("no distribution of results was found with {model} Elo {elo}; the hypothesis is too extreme")]
pub struct NoSolution {
    /// The scale of the hypothesis.
    pub model: EloModel,
    /// The strength of the hypothesis.
    pub elo: f64,
}
