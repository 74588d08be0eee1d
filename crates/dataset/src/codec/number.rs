//! Integers of any size: their length in bits, then the bits.

use super::{coder::Coder, slots::Slots};

/// Codes a number; `tree` is the first of its 128 slots.
pub(super) fn code<C: Coder>(coder: &mut C, slots: &mut Slots, tree: usize, known: u64) -> u64 {
    let known_length = u64::BITS - known.leading_zeros();
    // No encoder writes more than 64 bits.
    let length = coder.tree(slots, tree, 7, known_length).min(u64::BITS);
    if length == 0 {
        return 0;
    }
    let mut number = 1;
    let mut below = length - 1;
    while below > 0 {
        let bits = below.min(16);
        below -= bits;
        number = number << bits | u64::from(coder.raw(bits, (known >> below) as u32 & ((1 << bits) - 1)));
    }
    number
}
