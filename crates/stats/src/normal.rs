//! The normal distribution.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// The 97.5 % quantile: 95 % of the normal distribution lie within this many deviations of the
/// mean.
pub(crate) const QUANTILE_97_5: f64 = 1.959_963_984_540_054;

/// The probability that a standard normal variable is below `x`.
pub(crate) fn cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// The first two terms of the asymptotic series of Mills' ratio, divided by √(2π): `cdf(-x) ≈
/// exp(-x²/2) · tail(x)`.
///
/// It is too small by at most the third term, 3/x⁴ of the whole.
pub(crate) fn tail(x: f64) -> f64 {
    (1.0 / x - 1.0 / (x * x * x)) / (2.0 * PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantile_belongs_to_the_distribution() {
        assert!((cdf(QUANTILE_97_5) - 0.975).abs() < 1e-15);
        assert!((cdf(-QUANTILE_97_5) - 0.025).abs() < 1e-15);
    }

    #[test]
    fn the_tail_is_as_good_as_it_says() {
        for x in [4.5, 6.0, 10.0, 30.0] {
            let ratio = tail(x) / (cdf(-x) * (x * x / 2.0).exp());
            assert!(ratio < 1.0 && ratio > 1.0 - 3.0 / f64::powi(x, 4), "{x}: {ratio}");
        }
    }
}
