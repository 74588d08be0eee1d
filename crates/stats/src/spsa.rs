//! Simultaneous perturbation stochastic approximation (SPSA) after Spall: tuning of many parameters
//! by games between two perturbed sets.
//!
//! In iteration `k` every parameter is moved by `±c_k`, with a random sign each. The two opposite
//! sets play each other, and the score moves all parameters at once towards the better side. The
//! gains fall by Spall's power laws, `a_k = a / (A + k)^α` and `c_k = c / k^γ`, counted from 1.

/// Spall's exponent of the step gain.
const ALPHA: f64 = 0.602;

/// Spall's exponent of the perturbation.
const GAMMA: f64 = 0.101;

/// Spall's stability constant `A`, as a part of all iterations.
const STABILITY: f64 = 0.1;

/// The gains of a run of a given length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spsa {
    iterations: u64,
    rate: f64,
}

/// The gains of one iteration, as multiples of a parameter's last perturbation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains {
    /// The perturbation.
    pub perturbation: f64,
    /// The step for one won game more than lost.
    pub step: f64,
}

impl Spsa {
    /// A run of so many iterations, at least 1. Its last step is `rate` times the perturbation, for
    /// each won game more than lost.
    #[must_use]
    pub const fn new(iterations: u64, rate: f64) -> Self {
        Self { iterations: if iterations == 0 { 1 } else { iterations }, rate }
    }

    /// The gains of iteration `index`, counted from 0. A perturbation of 1 is that of the last.
    #[must_use]
    pub fn gains(&self, index: u64) -> Gains {
        let (last, now) = (self.iterations as f64, index.saturating_add(1) as f64);
        let stability = STABILITY * last;
        let perturbation = libm::pow(last / now, GAMMA);
        // a_k, relative to the last: the step is a_k / c_k.
        let gain = libm::pow((stability + last) / (stability + now), ALPHA);
        Gains { perturbation, step: self.rate * gain / perturbation }
    }
}

/// A tuned parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuned {
    /// The current value, not rounded.
    pub value: f64,
    /// The perturbation at the end of the run.
    pub perturbation: f64,
    /// The least value.
    pub min: f64,
    /// The greatest value.
    pub max: f64,
}

impl Tuned {
    /// The perturbed whole number. `up` is the sign; `fraction`, from 0 to 1 and the same for both
    /// signs, rounds at random, so that the mean is exact.
    #[must_use]
    pub fn perturbed(&self, gains: Gains, up: bool, fraction: f64) -> i32 {
        let distance = gains.perturbation * self.perturbation;
        let value = if up { self.value + distance } else { self.value - distance };
        libm::floor(value + fraction).clamp(self.min, self.max) as i32
    }

    /// Moves the value by the score of the `up` set: won less lost games.
    pub fn update(&mut self, gains: Gains, up: bool, score: i64) {
        let step = gains.step * self.perturbation * score as f64;
        self.value = (if up { self.value + step } else { self.value - step }).clamp(self.min, self.max);
    }

    /// The nearest whole number.
    #[must_use]
    pub fn rounded(&self) -> i32 {
        libm::round(self.value) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values by Spall's formulas, computed independently in Python.
    #[test]
    fn gains_fall_by_the_power_laws() {
        let run = Spsa::new(1_000, 0.002);
        let close = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
        let last = run.gains(999);
        assert_eq!((last.perturbation, last.step), (1.0, 0.002));
        let first = run.gains(0);
        close(first.perturbation, 2.009_092_812_608_728);
        close(first.step, 0.004_191_282_413_725);
    }

    /// A parameter with a known optimum and noisy games is found.
    #[test]
    fn the_optimum_is_found() {
        let iterations = 4_000;
        let run = Spsa::new(iterations, 0.02);
        let start = |value| Tuned { value, perturbation: 4.0, min: 0.0, max: 200.0 };
        let mut tuned = [start(20.0), start(150.0)];
        let optimum = [90.0, 60.0];
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for index in 0..iterations {
            let gains = run.gains(index);
            let signs = [random() < 0.5, random() < 0.5];
            let loss = |plus: bool, fractions: [f64; 2]| {
                let terms = [0, 1].map(|which: usize| {
                    let value = tuned[which].perturbed(gains, signs[which] == plus, fractions[which]);
                    (f64::from(value) - optimum[which]).powi(2)
                });
                terms.iter().sum::<f64>()
            };
            let fractions = [random(), random()];
            let better = loss(false, fractions) - loss(true, fractions);
            // Games: the better set wins more often, and never surely.
            let wins = 0.5 + (better / 4_000.0).clamp(-0.4, 0.4);
            let score = if random() < wins { 1 } else { -1 };
            for which in [0, 1] {
                tuned[which].update(gains, signs[which], score);
            }
        }
        for (tuned, optimum) in tuned.iter().zip(optimum) {
            assert!((tuned.value - optimum).abs() < 12.0, "{tuned:?}");
        }
    }

    #[test]
    fn values_stay_within_their_range_and_round_evenly() {
        let gains = Gains { perturbation: 1.0, step: 1.0 };
        let mut tuned = Tuned { value: 1.25, perturbation: 2.0, min: 0.0, max: 3.0 };
        assert_eq!([0.0, 0.5, 0.74, 0.76].map(|fraction| tuned.perturbed(gains, true, fraction)), [3, 3, 3, 3]);
        assert_eq!([0.0, 0.5, 0.74, 0.76].map(|fraction| tuned.perturbed(gains, false, fraction)), [0, 0, 0, 0]);
        tuned.max = 10.0;
        assert_eq!([0.0, 0.5, 0.74, 0.76].map(|fraction| tuned.perturbed(gains, true, fraction)), [3, 3, 3, 4]);
        tuned.update(gains, false, 100);
        assert_eq!((tuned.value, tuned.rounded()), (0.0, 0));
        tuned.update(gains, true, 2);
        assert_eq!(tuned.rounded(), 4);
    }
}
