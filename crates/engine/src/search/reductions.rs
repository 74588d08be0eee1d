//! The base of late move reductions (LMR): logarithmic in depth and move number.

/// 1024 × ln(index). A table, since the platform's `ln` may differ in its last bits.
const LOGARITHMS: [i32; 64] = [
    0, 0, 710, 1125, 1420, 1648, 1835, 1993, 2129, 2250, 2358, 2455, 2545, 2627, 2702, 2773, 2839, 2901, 2960, 3015,
    3068, 3118, 3165, 3211, 3254, 3296, 3336, 3375, 3412, 3448, 3483, 3516, 3549, 3580, 3611, 3641, 3670, 3698, 3725,
    3751, 3777, 3803, 3827, 3851, 3875, 3898, 3921, 3943, 3964, 3985, 4006, 4026, 4046, 4066, 4085, 4104, 4122, 4140,
    4158, 4175, 4193, 4210, 4226, 4243,
];

/// Returns the reduction of the `count`-th move, in 1/1024 of a ply.
pub(super) fn base(depth: i32, count: usize) -> i32 {
    let log = |index: usize| LOGARITHMS[index.min(LOGARITHMS.len() - 1)];
    // ln(depth) * ln(count) / 2.3 + 0.45
    log(depth.max(0) as usize) * log(count) / 1024 * 10 / 23 + 460
}
