//! How wrong a score is.

/// What the score of a net is compared with, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// The difference counts to the power of this.
    pub exponent: f32,
    /// How much of what is aimed at is what the score promised; the rest is what came of it.
    pub lambda: f32,
    /// A score of 1 in the net's own unit, divided by this, is the logarithm of the odds.
    pub scale: f32,
}

/// The share of the point that odds promise: 1 / (1 + e⁻ˣ). In software, so that it is the same everywhere.
#[must_use]
pub fn share(logarithm: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-logarithm))
}

impl Loss {
    /// What is aimed at.
    #[must_use]
    pub fn target(&self, promised: f32, result: f32) -> f32 {
        self.lambda * promised + (1.0 - self.lambda) * result
    }

    /// How wrong a value is, and how that grows with it.
    #[must_use]
    pub fn of(&self, value: f32, target: f32) -> (f32, f32) {
        let share = share(value / self.scale);
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
