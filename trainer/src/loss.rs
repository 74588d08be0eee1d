//! The loss: the distance of a net's expected result from its target, in WDL space.

/// The parameters of the loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// The exponent of the absolute error.
    pub exponent: f32,
    /// The weight of the score in the target; the rest is the weight of the game's result.
    pub lambda: f32,
    /// The sigmoid's scale: a value divided by it is the log-odds.
    pub scale: f32,
}

/// The expected result of a score (WDL sigmoid): 1 / (1 + e⁻ˣ). Computed in software, so that every
/// machine gets the same bits.
#[must_use]
pub fn wdl_from_score(log_odds: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-log_odds))
}

impl Loss {
    /// The target: a blend of the score's expected result and the game's result.
    #[must_use]
    pub fn target(&self, score_target: f32, result: f32) -> f32 {
        self.lambda * score_target + (1.0 - self.lambda) * result
    }

    /// Returns the loss of a value, and its derivative.
    #[must_use]
    pub fn of(&self, value: f32, target: f32) -> (f32, f32) {
        let share = wdl_from_score(value / self.scale);
        let difference = share - target;
        let size = difference.abs();
        if size == 0.0 {
            return (0.0, 0.0);
        }
        let power = power(size, self.exponent - 1.0);
        let slope = self.exponent * power * difference.signum() * share * (1.0 - share) / self.scale;
        (power * size, slope)
    }
}

/// A power; that of the default exponent is a product and a root.
#[allow(clippy::float_cmp, reason = "the default is exact")]
fn power(size: f32, exponent: f32) -> f32 {
    if exponent == 1.5 { size * size.sqrt() } else { libm::powf(size, exponent) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOSS: Loss = Loss { exponent: 2.5, lambda: 0.7, scale: 0.75 };

    #[test]
    fn lambda_is_the_weight_of_the_score() {
        assert!((LOSS.target(0.9, 0.0) - 0.63).abs() < 1e-6);
        assert!((LOSS.target(0.1, 1.0) - 0.37).abs() < 1e-6);
        assert!(wdl_from_score(2.0) > 0.88 && wdl_from_score(-2.0) < 0.12);
    }

    /// A step against the slope moves the value towards its target.
    #[test]
    fn values_move_towards_their_targets() {
        for exponent in [2.0, 2.5, 3.0] {
            let loss = Loss { exponent, ..LOSS };
            for (value, target) in [(0.0, 0.8), (-1.0, 0.5), (1.0, 0.2), (2.0, 0.0)] {
                let (size, slope) = loss.of(value, target);
                let towards = (target - wdl_from_score(value / loss.scale)).signum();
                let by = 1e-2;
                let rise = (loss.of(value + by, target).0 - loss.of(value - by, target).0) / (2.0 * by);
                assert!(size > 0.0 && slope * towards < 0.0, "{value} {target}: {slope}");
                assert!((rise - slope).abs() < 0.01 * slope.abs(), "{value} {target}: {slope} is {rise}");
            }
        }
    }

    #[test]
    fn the_default_exponent_needs_no_power_function() {
        for size in [1e-6_f32, 0.01, 0.3, 0.999] {
            let (fast, slow) = (power(size, 1.5), libm::powf(size, 1.5));
            assert!((fast - slow).abs() <= 2.0 * f32::EPSILON * slow, "{size}: {fast} {slow}");
        }
    }
}
