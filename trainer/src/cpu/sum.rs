//! The numbers of a net's sums: floating point, or the engine's integers under fake quantisation.
//!
//! Above the transformer both are carried in `f32`, in units in which the engine's numbers are
//! whole. Their sums stay below 2²⁴, so they are exact in any order.

use nnue::architecture::{
    ACTIVATION_ONE, PAIR_SHIFT, SQUARE_SHIFT, SUM_LIMIT, TRANSFORMER_ONE, WEIGHT_ONE, WEIGHT_SHIFT,
};

use super::transformer::Sums;
use crate::model::SUM_ONE;

/// A number of the transformer's sums.
///
/// Rounding is treated as the identity by slopes (straight-through estimator).
pub trait Sum: Copy + Default + Send + Sync + 'static {
    /// The value of 1.0 in an activation.
    const ACTIVATION: f32;
    /// The value of 1.0 in a weight of the layers.
    const WEIGHT: f32;
    /// The upper clipping bound of a layer's sum.
    const LIMIT: f32;

    /// Selects the numbers of this kind.
    fn pick<'a>(floats: &'a [f32], integers: &'a [i16]) -> &'a [Self];

    /// Selects the sums of this kind.
    fn pick_mut<'a>(floats: &'a mut Vec<Sums>, integers: &'a mut Vec<Sums<i16>>) -> &'a mut Vec<Sums<Self>>;

    /// A sum.
    #[must_use]
    fn plus(self, other: Self) -> Self;

    /// The product of a pair of clipped sums.
    fn pair(low: Self, high: Self) -> f32;

    /// The slopes in both sums of a pair, given that in their product.
    fn pair_slopes(low: Self, high: Self, down: f32) -> [f32; 2];

    /// The activation of one of the transformer's sums that is in no pair.
    fn single(self) -> f32;

    /// The slope in such a sum, given that in its activation.
    fn single_slope(self, down: f32) -> f32;

    /// The squared activation of a layer's sum.
    fn squared(sum: f32) -> f32;

    /// The clipped activation of a layer's sum.
    fn clipped(sum: f32) -> f32;
}

impl Sum for f32 {
    const ACTIVATION: f32 = 1.0;
    const WEIGHT: f32 = 1.0;
    const LIMIT: f32 = SUM_LIMIT as f32 / SUM_ONE;

    #[inline(always)]
    fn pick<'a>(floats: &'a [f32], _: &'a [i16]) -> &'a [Self] {
        floats
    }

    #[inline(always)]
    fn pick_mut<'a>(floats: &'a mut Vec<Sums>, _: &'a mut Vec<Sums<i16>>) -> &'a mut Vec<Sums<Self>> {
        floats
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }

    #[inline(always)]
    fn pair(low: Self, high: Self) -> f32 {
        low.clamp(0.0, 1.0) * high.clamp(0.0, 1.0)
    }

    #[inline(always)]
    fn pair_slopes(low: Self, high: Self, down: f32) -> [f32; 2] {
        // A product instead of a branch, so that the loop vectorises.
        let inside = |sum: Self| f32::from(u8::from(sum > 0.0) & u8::from(sum < 1.0));
        [down * high.clamp(0.0, 1.0) * inside(low), down * low.clamp(0.0, 1.0) * inside(high)]
    }

    #[inline(always)]
    fn single(self) -> f32 {
        self.clamp(0.0, 1.0)
    }

    #[inline(always)]
    fn single_slope(self, down: f32) -> f32 {
        if self > 0.0 && self < 1.0 { down } else { 0.0 }
    }

    #[inline(always)]
    fn squared(sum: f32) -> f32 {
        let clipped = sum.abs().min(Self::LIMIT);
        clipped * clipped
    }

    #[inline(always)]
    fn clipped(sum: f32) -> f32 {
        sum.clamp(0.0, Self::LIMIT)
    }
}

impl Sum for i16 {
    const ACTIVATION: f32 = ACTIVATION_ONE as f32;
    const WEIGHT: f32 = WEIGHT_ONE as f32;
    const LIMIT: f32 = SUM_LIMIT as f32;

    #[inline(always)]
    fn pick<'a>(_: &'a [f32], integers: &'a [i16]) -> &'a [Self] {
        integers
    }

    #[inline(always)]
    fn pick_mut<'a>(_: &'a mut Vec<Sums>, integers: &'a mut Vec<Sums<i16>>) -> &'a mut Vec<Sums<Self>> {
        integers
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn pair(low: Self, high: Self) -> f32 {
        let clip = |sum: Self| sum.clamp(0, TRANSFORMER_ONE) as u16;
        f32::from((clip(low) * clip(high)) >> PAIR_SHIFT)
    }

    #[inline(always)]
    fn pair_slopes(low: Self, high: Self, down: f32) -> [f32; 2] {
        let down = down * (1.0 / f32::from(TRANSFORMER_ONE));
        let inside = |sum: Self| sum > 0 && sum < TRANSFORMER_ONE;
        let slope = |other: Self, is_inside: bool| {
            let other = if is_inside { other.clamp(0, TRANSFORMER_ONE) } else { 0 };
            down * f32::from(other)
        };
        [slope(high, inside(low)), slope(low, inside(high))]
    }

    #[inline(always)]
    fn single(self) -> f32 {
        f32::from(self.clamp(0, ACTIVATION_ONE as Self))
    }

    #[inline(always)]
    fn single_slope(self, down: f32) -> f32 {
        if self > 0 && self < ACTIVATION_ONE as Self { down } else { 0.0 }
    }

    #[inline(always)]
    fn squared(sum: f32) -> f32 {
        let whole = sum.abs().min(Self::LIMIT) as i32;
        ((whole * whole) >> SQUARE_SHIFT) as f32
    }

    #[inline(always)]
    fn clipped(sum: f32) -> f32 {
        (sum.clamp(0.0, Self::LIMIT) as i32 >> WEIGHT_SHIFT) as f32
    }
}
