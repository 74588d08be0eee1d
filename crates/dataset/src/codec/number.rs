//! Whole numbers of any size: how many bits, then the bits.

use super::{coder::Coder, slots::Slots};

/// A number; `tree` is where its 128 slots begin.
pub(super) fn code<C: Coder>(coder: &mut C, slots: &mut Slots, tree: usize, known: u64) -> u64 {
    let known_length = u64::BITS - known.leading_zeros();
    // More than 64 bits nobody writes.
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
