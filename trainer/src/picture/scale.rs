//! Axes: the mapping from figures to coordinates, and the ticks.

/// A linear or logarithmic axis.
pub(super) struct Scale {
    least: f64,
    most: f64,
    logarithmic: bool,
    from: f64,
    to: f64,
}

impl Scale {
    /// A linear axis over the figures.
    pub(super) fn even(figures: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let least = figures.clone().fold(f64::INFINITY, f64::min);
        let most = figures.fold(f64::NEG_INFINITY, f64::max);
        Self::between(least, most, from, to)
    }

    /// A linear axis between two figures.
    pub(super) fn between(least: f64, most: f64, from: f64, to: f64) -> Self {
        // A constant lies in the middle.
        let (least, most) = match (least.is_finite() && most.is_finite(), most > least) {
            (false, _) => (0.0, 1.0),
            (true, true) => (least, most),
            (true, false) => (least - least.abs().max(1e-9) / 2.0, most + most.abs().max(1e-9) / 2.0),
        };
        Self { least, most, logarithmic: false, from, to }
    }

    /// A padded axis, logarithmic if the figures span more than a factor of 4.
    pub(super) fn airy(figures: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let mut scale = Self::even(figures, from, to);
        scale.logarithmic = scale.least > 0.0 && scale.most > 4.0 * scale.least;
        if scale.logarithmic {
            let air = libm::pow(scale.most / scale.least, 0.06);
            (scale.least, scale.most) = (scale.least / air, scale.most * air);
        } else {
            let air = (scale.most - scale.least) * 0.08;
            (scale.least, scale.most) = (scale.least - air, scale.most + air);
        }
        scale
    }

    /// The coordinate of a figure.
    pub(super) fn place(&self, figure: f64) -> f64 {
        let part = if self.logarithmic {
            libm::log(figure / self.least) / libm::log(self.most / self.least)
        } else {
            (figure - self.least) / (self.most - self.least)
        };
        self.from + part * (self.to - self.from)
    }

    /// About `about` round ticks.
    pub(super) fn ticks(&self, about: f64) -> Vec<f64> {
        if self.logarithmic {
            let ticks = self.ratios();
            if ticks.len() >= 2 {
                return ticks;
            }
        }
        let step = step((self.most - self.least) / about);
        let first = (self.least / step).ceil() as i64;
        let last = (self.most / step).floor() as i64;
        (first..=last).map(|tick| tidy(tick as f64 * step)).collect()
    }

    /// Ticks at 1, 2 and 5 in every power of ten; only at 1 over a wide range.
    fn ratios(&self) -> Vec<f64> {
        let powers = libm::floor(libm::log10(self.least)) as i32..=libm::ceil(libm::log10(self.most)) as i32;
        let parts: &[f64] = if self.most / self.least > 2_000.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let ticks = powers.flat_map(|power| parts.iter().map(move |part| tidy(part * libm::pow(10.0, power.into()))));
        ticks.filter(|tick| (self.least..=self.most).contains(tick)).collect()
    }
}

/// The least of 1, 2 or 5 times a power of ten that is at least `least`.
fn step(least: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(least)));
    let times = [1.0, 2.0, 5.0].into_iter().find(|times| times * power >= least * 0.999).unwrap_or(10.0);
    times * power
}

/// Removes binary rounding noise.
fn tidy(number: f64) -> f64 {
    format!("{number:.9e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(Scale::between(0.0, 1.0, 0.0, 1.0).ticks(5.0), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(Scale::between(-3.0, 29.0, 0.0, 1.0).ticks(4.0), [0.0, 10.0, 20.0]);
        let figures = [0.011, 0.9];
        assert_eq!(Scale::airy(figures.into_iter(), 0.0, 1.0).ticks(5.0), [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0]);
        assert_eq!(Scale::airy([1e-5, 1.0].into_iter(), 0.0, 1.0).ticks(5.0), [1e-5, 1e-4, 1e-3, 0.01, 0.1, 1.0]);
    }

    #[test]
    fn figures_lie_in_their_order() {
        for scale in [Scale::between(2.0, 4.0, 100.0, 0.0), Scale::airy([2.0, 40.0].into_iter(), 100.0, 0.0)] {
            assert!(scale.place(2.0) > scale.place(3.0) && scale.place(3.0) > scale.place(4.0));
            assert!(scale.place(2.0) <= 100.0 && scale.place(4.0) >= 0.0);
        }
    }

    #[test]
    fn a_constant_lies_in_the_middle() {
        for figure in [0.0, 5.0, -3.0] {
            let scale = Scale::even([figure, figure].into_iter(), 0.0, 100.0);
            assert!((scale.place(figure) - 50.0).abs() < 1e-6);
        }
        assert!((Scale::even(std::iter::empty(), 0.0, 1.0).place(0.5) - 0.5).abs() < 1e-6);
    }
}
