//! The two hypotheses of a test.

use super::SprtError;

/// No match can show a larger difference. On the logistic scale, expected scores up to here still
/// differ by far more than rounding.
pub(super) const MAX_ELO: f64 = 2_000.0;

/// Hypotheses closer than this would need some 10¹² games, and the difference of their likelihoods
/// would drown in rounding.
pub(super) const MIN_WIDTH: f64 = 1e-3;

/// H0, "the player is `elo0` stronger", against H1, "`elo1` stronger", on the scale of the test's
/// [`EloModel`](crate::EloModel).
///
/// ```
/// use stats::{Hypotheses, SprtError};
///
/// assert_eq!(Hypotheses::new(0.0, 2.0)?.elo1(), 2.0);
/// assert_eq!(Hypotheses::new(2.0, 2.0), Err(SprtError::Order { elo0: 2.0, elo1: 2.0 }));
/// # Ok::<(), SprtError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hypotheses {
    elo0: f64,
    elo1: f64,
}

impl Hypotheses {
    /// Two hypotheses, the weaker first.
    ///
    /// # Errors
    ///
    /// If one is not a number within ±2000, or `elo1` is not at least 0.001 above `elo0`.
    pub fn new(elo0: f64, elo1: f64) -> Result<Self, SprtError> {
        for elo in [elo0, elo1] {
            if !(-MAX_ELO..=MAX_ELO).contains(&elo) {
                return Err(SprtError::Elo { elo });
            }
        }
        if elo1 - elo0 < MIN_WIDTH {
            return Err(SprtError::Order { elo0, elo1 });
        }
        Ok(Self { elo0, elo1 })
    }

    /// The strength under H0.
    #[must_use]
    pub const fn elo0(&self) -> f64 {
        self.elo0
    }

    /// The strength under H1.
    #[must_use]
    pub const fn elo1(&self) -> f64 {
        self.elo1
    }

    /// The hypotheses of the opponent's test: H1 becomes H0, negated.
    #[must_use]
    pub const fn reversed(&self) -> Self {
        Self { elo0: -self.elo1, elo1: -self.elo0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_hypotheses_are_refused() {
        for elo in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e5] {
            assert!(matches!(Hypotheses::new(elo, 1.0), Err(SprtError::Elo { .. })));
            assert!(matches!(Hypotheses::new(0.0, elo), Err(SprtError::Elo { .. })));
        }
        for (elo0, elo1) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1e-300), (5.0, 5.0009)] {
            assert_eq!(Hypotheses::new(elo0, elo1), Err(SprtError::Order { elo0, elo1 }));
        }
    }
}
