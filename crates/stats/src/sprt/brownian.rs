//! The LLR as Brownian motion between two absorbing bounds.
//!
//! Everything is measured from the start of the motion: `lower < 0 < upper`. Drift and variance are
//! per unit of time, γ = drift/variance, s = variance · time, L = upper − lower.

use std::f64::consts::PI;

use super::Bounds;
use crate::normal;

/// The limits of the eigenfunction series: for s/L² below the first, or |γL| above the second, a
/// single reflection at each bound is used instead.
///
/// In theory the series always holds. In floating point it needs ever more terms for small s, and
/// cancels for large γL. There the reflection form is good, because the motion hardly has the time
/// to touch both bounds.
const SERIES_MIN_SPREAD: f64 = 1e-2;
const SERIES_MAX_DRIFT: f64 = 15.0;

/// From this exponent on, e^(2γ·bound) · Φ(−w) is computed from the tail of Φ, before one factor
/// overflows and the other underflows.
///
/// These three constants are those of the reference. With them intervals agree to nine digits, with
/// better mathematics to four (see the tests).
const TAIL_MIN_EXPONENT: f64 = 10.0;

/// Terms of the series beyond this exponent are negligible.
const NEGLIGIBLE_EXPONENT: f64 = -40.0;

/// Brownian motion with drift, absorbed at two bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Absorbed {
    pub(super) drift: f64,
    pub(super) variance: f64,
    pub(super) bounds: Bounds,
}

impl Absorbed {
    /// The probability that the motion does worse than to be at `value` at `time`: absorbed below
    /// before, or still moving and lower.
    ///
    /// Absorption below is worse the sooner it happens, absorption above the later.
    pub(super) fn chance_of_worse(&self, time: f64, value: f64) -> f64 {
        let width = self.bounds.upper - self.bounds.lower;
        let spread = self.variance * time / (width * width);
        let chance = if spread < SERIES_MIN_SPREAD || (self.gamma() * width).abs() > SERIES_MAX_DRIFT {
            self.by_reflection(time, value)
        } else {
            self.by_series(time, value)
        };
        chance.clamp(0.0, 1.0)
    }

    /// The probability of ever being absorbed above, and the mean time until absorption at either
    /// bound.
    pub(super) fn exit(&self) -> (f64, f64) {
        let Bounds { lower, upper } = self.bounds;
        let above = self.chance_above();
        // Optional stopping: the mean of the motion at its end is drift · time. Without drift that
        // is 0 = 0, and the mean of its square is variance · time.
        let time = if (self.gamma() * (upper - lower)).abs() < 1e-6 {
            -lower * upper / self.variance
        } else {
            (above * upper + (1.0 - above) * lower) / self.drift
        };
        (above, time)
    }

    fn gamma(&self) -> f64 {
        self.drift / self.variance
    }

    /// (1 − e^(2γ·lower))/(1 − e^(−2γL)), in a form without overflow: e^(−2γ·motion) is a
    /// martingale with mean 1.
    fn chance_above(&self) -> f64 {
        let Bounds { lower, upper } = self.bounds;
        let twice_gamma = 2.0 * self.gamma();
        let width = upper - lower;
        if (twice_gamma * width).abs() < 1e-12 {
            -lower / width
        } else if twice_gamma > 0.0 {
            (twice_gamma * lower).exp_m1() / (-twice_gamma * width).exp_m1()
        } else {
            (twice_gamma * upper).exp() * (-twice_gamma * lower).exp_m1() / (twice_gamma * width).exp_m1()
        }
    }

    /// The probability of ever being absorbed below, plus the terms of the eigenfunctions sin(nπ(x
    /// − lower)/L) for the time up to now. Each decays with (γ² + (nπ/L)²) s/2.
    fn by_series(&self, time: f64, value: f64) -> f64 {
        let Bounds { lower, upper } = self.bounds;
        let (gamma, spread, width) = (self.gamma(), self.variance * time, upper - lower);
        let mut sum = 0.0;
        for n in 1u32.. {
            let wave = f64::from(n) * PI / width;
            let exponent = -wave * wave * spread / 2.0;
            if exponent < NEGLIGIBLE_EXPONENT {
                break;
            }
            let (sin, cos) = (wave * (value - lower)).sin_cos();
            let amplitude = (gamma * sin - wave * cos) / (gamma * gamma + wave * wave);
            sum += (-wave * lower).sin() * amplitude * exponent.exp();
        }
        let envelope = 2.0 / width * (gamma * value - gamma * gamma * spread / 2.0).exp();
        1.0 - self.chance_above() + envelope * sum
    }

    /// The probability of being below `value` without bounds, corrected for each bound by the
    /// reflection principle. A motion that touched the lower bound counts although it may have come
    /// back; one that touched the upper bound does not.
    fn by_reflection(&self, time: f64, value: f64) -> f64 {
        let spread = self.variance * time;
        let z = (value - self.drift * time) / spread.sqrt();
        let reflected = |bound: f64, side: f64| {
            let exponent = 2.0 * self.gamma() * bound;
            let w = side * (z - 2.0 * bound / spread.sqrt());
            if exponent < TAIL_MIN_EXPONENT {
                exponent.exp() * normal::cdf(w)
            } else {
                // exponent − w²/2 without cancellation.
                let at_z = -z * z / 2.0 - 2.0 * bound * (bound - value) / spread;
                at_z.exp() * normal::tail(-w)
            }
        };
        normal::cdf(z) + reflected(self.bounds.lower, -1.0) - reflected(self.bounds.upper, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ln Φ(x), far below the underflow of Φ itself.
    fn ln_cdf(x: f64) -> f64 {
        if x > -30.0 {
            return normal::cdf(x).ln();
        }
        let r = 1.0 / (x * x);
        let series = 1.0 - r + 3.0 * r * r - 15.0 * r * r * r + 105.0 * r * r * r * r;
        -x * x / 2.0 + (series / -x / (2.0 * PI).sqrt()).ln()
    }

    /// The probability of worse by all reflections, which holds for every spread (slowly for large
    /// ones).
    fn by_all_reflections(motion: &Absorbed, time: f64, value: f64) -> f64 {
        let Bounds { lower, upper } = motion.bounds;
        let (gamma, spread, width) = (motion.gamma(), motion.variance * time, upper - lower);
        let image = |shift: f64, side: f64| {
            let w = side * (value - shift - gamma * spread) / spread.sqrt();
            (gamma * shift + ln_cdf(w)).exp()
        };
        let mut chance = image(0.0, 1.0);
        for k in 0..30 {
            let far = 2.0 * f64::from(k) * width;
            chance += image(2.0 * lower - far, -1.0) - image(2.0 * upper + far, 1.0);
            if k > 0 {
                chance += image(far, 1.0) - image(-far, -1.0);
            }
        }
        chance
    }

    fn motions() -> impl Iterator<Item = (Absorbed, f64, f64)> {
        let bounds = [(-2.944, 2.944), (-4.595, 2.985), (-1.0, 3.0)];
        let drifts = [-3.0, -1.2, -0.3, -1e-9, 0.0, 1e-9, 0.3, 1.2, 3.0];
        let spreads = [1e-3, 9e-3, 1.1e-2, 5e-2, 0.2, 1.0, 3.0];
        let values = [0.02, 0.3, 0.5, 0.7, 0.98];
        bounds.into_iter().flat_map(move |(lower, upper)| {
            drifts.into_iter().flat_map(move |drift| {
                spreads.into_iter().flat_map(move |spread| {
                    values.into_iter().map(move |value| {
                        let width: f64 = upper - lower;
                        let motion = Absorbed { drift, variance: 1.0, bounds: Bounds { lower, upper } };
                        (motion, spread * width * width, lower + value * width)
                    })
                })
            })
        })
    }

    #[test]
    fn the_series_is_exact() {
        for (motion, time, value) in motions() {
            let width = motion.bounds.upper - motion.bounds.lower;
            if time / (width * width) > SERIES_MIN_SPREAD && (motion.gamma() * width).abs() < SERIES_MAX_DRIFT {
                let (series, exact) = (motion.by_series(time, value), by_all_reflections(&motion, time, value));
                assert!((series - exact).abs() < 1e-9, "{motion:?} {time} {value}: {series}, {exact}");
            }
        }
    }

    #[test]
    fn where_the_series_fails_the_reference_form_is_close() {
        let mut worst = 0.0f64;
        for (motion, time, value) in motions() {
            let (used, exact) = (motion.chance_of_worse(time, value), by_all_reflections(&motion, time, value));
            worst = worst.max((used - exact).abs());
        }
        assert!(worst < 1e-4, "{worst}");
    }

    #[test]
    fn the_exit_agrees_with_its_limits() {
        let bounds = Bounds { lower: -1.0, upper: 3.0 };
        let exit = |drift| Absorbed { drift, variance: 1.0, bounds }.exit();
        assert_eq!(exit(0.0), (0.25, 3.0));
        for drift in [1e-6, 1e-8, 1e-15] {
            for drift in [drift, -drift] {
                let (above, time) = exit(drift);
                assert!((above - 0.25).abs() < 1e-5 && (time - 3.0).abs() < 1e-4, "{drift}: {above}, {time}");
            }
        }
        let (above, time) = exit(1e5);
        assert!((above - 1.0).abs() < 1e-12 && (time - 3e-5).abs() < 1e-12);
        let (above, time) = exit(-1e5);
        assert!(above.abs() < 1e-12 && (time - 1e-5).abs() < 1e-12);
    }

    #[test]
    fn in_the_long_run_the_chance_of_worse_is_that_of_the_lower_exit() {
        for drift in [-1.0, -0.1, 0.0, 0.1, 1.0] {
            let motion = Absorbed { drift, variance: 1.0, bounds: Bounds { lower: -1.0, upper: 3.0 } };
            assert!((motion.chance_of_worse(1e4, 0.5) - (1.0 - motion.exit().0)).abs() < 1e-12);
        }
    }
}
