//! The Elo of a match stopped by its own test.
//!
//! Stopping at a high LLR selects lucky runs: the plain estimate is biased, and its interval too
//! short. So the question is reversed. For which Elo would such a test have ended *worse* than it
//! did with probability 50 % (the estimate), 97.5 % and 2.5 % (the interval)? Outcomes are ordered
//! from an early failure over late ones and late passes to an early pass.
//!
//! The LLR is approximated as Brownian motion, in the form for small steps, with
//!
//! * drift (s − (s0 + s1)/2)(s1 − s0)/v and variance (s1 − s0)²/v per observation, for a true score
//!   s,
//! * s0, s1 the scores of the hypotheses and v the observed variance,
//!
//! observed until it left a bound or until now. The estimate is logistic Elo, whatever the scale of
//! the hypotheses.

use super::brownian::Absorbed;
use super::{Bounds, Sprt};
use crate::distribution::Distribution;
use crate::elo::{MAX_ESTIMATE, NORMALIZED_PER_DEVIATION, lead_of_elo};
use crate::{Counts, EloEstimate, EloModel};

impl Sprt {
    /// Logistic Elo, its 95 % interval and the likelihood of superiority, for a match run under
    /// this test.
    ///
    /// Estimates stay within ±1000.
    ///
    /// ```
    /// use stats::{Counts, EloModel, Hypotheses, Pentanomial, Sprt};
    ///
    /// let test = Sprt::new(EloModel::Normalized, Hypotheses::new(0.5, 2.5)?);
    /// let counts = Counts::from(Pentanomial::new([39, 8843, 26675, 9240, 44]));
    /// // As if the length had been fixed:
    /// assert_eq!(counts.logistic_elo().to_string(), "1.58 [0.55, 2.61]");
    /// assert_eq!(test.estimate(counts).to_string(), "1.43 [0.34, 2.49]");
    /// # Ok::<(), stats::SprtError>(())
    /// ```
    #[must_use]
    pub fn estimate(&self, counts: impl Into<Counts>) -> EloEstimate {
        let walk = Walk::new(self, &Distribution::of(counts.into()));
        EloEstimate {
            elo: walk.elo_at(0.5),
            elo_low: walk.elo_at(0.975),
            elo_high: walk.elo_at(0.025),
            los: walk.chance_of_worse(0.0),
        }
    }
}

/// The path of the LLR in the small-step approximation, cut where it leaves the bounds.
///
/// Scores are represented by their lead, the part above ½. In nearly drawn matches the hypotheses
/// are closer to each other than the numbers next to ½.
struct Walk {
    leads: [f64; 2],
    score_variance: f64,
    bounds: Bounds,
    time: f64,
    llr: f64,
}

impl Walk {
    fn new(test: &Sprt, distribution: &Distribution) -> Self {
        let score_variance = distribution.at_least(distribution.mean_and_variance().1);
        let game_deviation = (score_variance * distribution.games_per_observation()).sqrt();
        let lead_of = |elo: f64| match test.model {
            EloModel::Logistic => lead_of_elo(elo),
            EloModel::Normalized => elo * game_deviation / NORMALIZED_PER_DEVIATION,
        };
        let leads = [test.hypotheses.elo0(), test.hypotheses.elo1()].map(lead_of);
        let bounds = test.bounds();
        let mut walk = Self { leads, score_variance, bounds, time: distribution.observations(), llr: 0.0 };
        let llr = walk.time * walk.drift(distribution.lead());
        walk.llr = llr.clamp(bounds.lower, bounds.upper);
        if llr < bounds.lower || bounds.upper < llr {
            walk.time *= walk.llr / llr;
        }
        walk
    }

    /// The mean step of the LLR for a true score of ½ + `lead`.
    fn drift(&self, lead: f64) -> f64 {
        let [lead0, lead1] = self.leads;
        (lead - f64::midpoint(lead0, lead1)) * (lead1 - lead0) / self.score_variance
    }

    /// The probability of an outcome worse than this one for a player who is `elo` stronger.
    fn chance_of_worse(&self, elo: f64) -> f64 {
        let [lead0, lead1] = self.leads;
        let variance = (lead1 - lead0) * (lead1 - lead0) / self.score_variance;
        let motion = Absorbed { drift: self.drift(lead_of_elo(elo)), variance, bounds: self.bounds };
        motion.chance_of_worse(self.time, self.llr)
    }

    /// The Elo for which a worse outcome has the given probability, by bisection: the probability
    /// falls with Elo.
    fn elo_at(&self, chance: f64) -> f64 {
        let (mut low, mut high) = (-MAX_ESTIMATE, MAX_ESTIMATE);
        if self.chance_of_worse(low) < chance {
            return low;
        }
        if self.chance_of_worse(high) > chance {
            return high;
        }
        loop {
            let middle = f64::midpoint(low, high);
            if high - low < 1e-12 || middle <= low || high <= middle {
                return middle;
            }
            if self.chance_of_worse(middle) > chance { low = middle } else { high = middle }
        }
    }
}
