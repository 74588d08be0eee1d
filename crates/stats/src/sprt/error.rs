//! What can be wrong with a test.

use thiserror::Error;

use super::LEAST_ERROR_RATE;
use super::hypotheses::{LEAST_WIDTH, MOST_ELO};
use crate::EloModel;

/// Why a test cannot be set up.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum SprtError {
    /// A hypothesis is not a strength that a player can have.
    #[error("Elo {elo} is not between -{MOST_ELO} and {MOST_ELO}")]
    Elo {
        /// The strength.
        elo: f64,
    },
    /// H1 is not above H0, or so close that no match could tell them apart.
    #[error("elo1 {elo1} is not at least {LEAST_WIDTH} above elo0 {elo0}")]
    Order {
        /// The strength under H0.
        elo0: f64,
        /// The strength under H1.
        elo1: f64,
    },
    /// A chance of error is not one.
    #[error("{name} {rate} is not at least {LEAST_ERROR_RATE} and below 0.5")]
    ErrorRate {
        /// `alpha` or `beta`.
        name: &'static str,
        /// What was given.
        rate: f64,
    },
}

/// No distribution of results belongs to a hypothesis: it is too extreme to be compared with anything.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("no distribution of results was found with {model} Elo {elo}; the hypothesis is too extreme")]
pub struct NoSolution {
    /// The scale of the hypothesis.
    pub model: EloModel,
    /// The strength that was asked for.
    pub elo: f64,
}
