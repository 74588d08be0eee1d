//! The base of late move reductions (LMR): logarithmic in depth and move number.

use crate::tune::Parameters;

/// 1024 × ln(index). A table, since the platform's `ln` may differ in its last bits.
const LOGARITHMS: [i32; 64] = [
    0, 0, 710, 1125, 1420, 1648, 1835, 1993, 2129, 2250, 2358, 2455, 2545, 2627, 2702, 2773, 2839, 2901, 2960, 3015,
    3068, 3118, 3165, 3211, 3254, 3296, 3336, 3375, 3412, 3448, 3483, 3516, 3549, 3580, 3611, 3641, 3670, 3698, 3725,
    3751, 3777, 3803, 3827, 3851, 3875, 3898, 3921, 3943, 3964, 3985, 4006, 4026, 4046, 4066, 4085, 4104, 4122, 4140,
    4158, 4175, 4193, 4210, 4226, 4243,
];

/// The reductions by depth and move number, in 1/1024 of a ply.
pub(crate) struct Reductions(Box<[[i16; LOGARITHMS.len()]; LOGARITHMS.len()]>);

impl Reductions {
    /// Builds the table: ln(depth) * ln(count) / divisor + base.
    pub(crate) fn new(tune: &Parameters) -> Self {
        let row =
            |depth: i32| LOGARITHMS.map(|count| (depth * count / 1024 * 100 / tune.lmr_divisor + tune.lmr_base) as i16);
        Self(Box::new(LOGARITHMS.map(row)))
    }

    /// Returns the reduction of the `count`-th move.
    pub(super) fn base(&self, depth: i32, count: usize) -> i32 {
        let last = LOGARITHMS.len() - 1;
        i32::from(self.0[(depth.max(0) as usize).min(last)][count.min(last)])
    }
}
