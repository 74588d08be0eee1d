//! Overshoot correction of the bounds, after Siegmund.
//!
//! Wald's bounds assume that the LLR stops exactly on a bound. Evaluated once per batch it stops
//! beyond, so the test errs less often than it may and plays longer than it needs. The mean
//! overshoot is estimated from the test itself: from the steps by which the LLR exceeded its own
//! records. Each bound is moved inwards by it.
//!
//! The state depends on the order of results and on the ends of batches. It is for tests with fixed
//! batches, evaluated in the order of pair numbers.

use super::Bounds;

/// The overshoot estimate of a test. Call [`observe`](Self::observe) with the LLR after every
/// batch, then [`Sprt::decide_corrected`](super::Sprt::decide_corrected).
///
/// ```
/// use stats::{Decision, EloModel, Hypotheses, Overshoot, PairResult, Pentanomial, Sprt};
///
/// let test = Sprt::new(EloModel::Normalized, Hypotheses::new(0.0, 50.0)?);
/// let (mut counts, mut overshoot) = (Pentanomial::default(), Overshoot::default());
/// let mut batches = 0;
/// let decision = loop {
///     counts += Pentanomial::new([0, 1, 3, 4, 0]);
///     batches += 1;
///     let llr = test.llr(counts)?;
///     overshoot.observe(llr);
///     match test.decide_corrected(llr, &overshoot) {
///         Decision::Continue => {}
///         decision => break decision,
///     }
/// };
/// assert_eq!((decision, batches), (Decision::AcceptH1, 5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Overshoot {
    down: Records,
    up: Records,
}

/// The record of the LLR in one direction, and the steps by which it was broken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Records {
    record: f64,
    sum_of_steps: f64,
    sum_of_squares: f64,
}

impl Overshoot {
    /// Records the LLR after a batch. An LLR that is not finite is ignored.
    pub fn observe(&mut self, llr: f64) {
        if llr.is_finite() {
            if llr < self.down.record {
                self.down.break_record(llr);
            }
            if llr > self.up.record {
                self.up.break_record(llr);
            }
        }
    }

    /// The expected overshoot at the lower bound; 0 as long as the LLR was never below zero.
    #[must_use]
    pub fn below(&self) -> f64 {
        self.down.mean_overshoot()
    }

    /// The expected overshoot at the upper bound; 0 as long as the LLR was never above zero.
    #[must_use]
    pub fn above(&self) -> f64 {
        self.up.mean_overshoot()
    }

    /// The bounds, each moved inwards by its expected overshoot.
    #[must_use]
    pub fn narrow(&self, bounds: Bounds) -> Bounds {
        Bounds { lower: bounds.lower + self.below(), upper: bounds.upper - self.above() }
    }
}

impl Records {
    fn break_record(&mut self, llr: f64) {
        let step = (llr - self.record).abs();
        self.sum_of_steps += step;
        self.sum_of_squares += step * step;
        self.record = llr;
    }

    /// E\[d²\]/(2 E\[d\]), the mean excess of a walk with such steps over a distant bound (renewal
    /// theory).
    fn mean_overshoot(&self) -> f64 {
        if self.sum_of_steps > 0.0 { self.sum_of_squares / (2.0 * self.sum_of_steps) } else { 0.0 }
    }
}
