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
        let power = libm::powf(size, self.exponent - 1.0);
        let slope = self.exponent * power * difference.signum() * share * (1.0 - share) / self.scale;
        (power * size, slope)
    }
}
