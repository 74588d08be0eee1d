//! Adaptive binary range coder with carry, in integers alone.
//!
//! One function describes a game for both directions: it asks a [`Coder`] for every bit and passes
//! the bit if it is known. An encoder knows it; a decoder returns it. So the two directions cannot
//! drift apart.

use super::slots::Slots;

/// The adaptation rate: the newest bit has the weight 2⁻⁶. On games like those of the tuning a
/// slower rate saves up to 0.006 bytes a position. This one is for the games of later nets.
const RATE_SHIFT: u32 = 6;

/// The lowest probability that a slot reaches.
const MIN_PROBABILITY: i32 = (1 << RATE_SHIFT) - 1;

/// Codes bits one after the other.
pub(super) trait Coder {
    /// Codes a bit with a slot's probability. `known` is the bit, for an encoder.
    fn bit(&mut self, slots: &mut Slots, index: usize, known: bool) -> bool;

    /// Codes a number of `bits` bits, the highest first, each in the context of those before it.
    /// `tree` is its first slot.
    #[inline]
    fn tree(&mut self, slots: &mut Slots, tree: usize, bits: u32, known: u32) -> u32 {
        let mut node = 1;
        for level in (0..bits).rev() {
            node = node << 1 | usize::from(self.bit(slots, tree + node, known >> level & 1 == 1));
        }
        node as u32 - (1 << bits)
    }

    /// Codes a number of at most 16 equiprobable bits.
    fn raw(&mut self, bits: u32, known: u32) -> u32;
}

/// The encoder.
pub(super) struct Encoder {
    low: u64,
    range: u64,
    out: Vec<u8>,
}

impl Encoder {
    pub(super) fn new() -> Self {
        Self { low: 0, range: u64::MAX, out: Vec::new() }
    }

    #[inline]
    fn add(&mut self, offset: u64) {
        let (low, carry) = self.low.overflowing_add(offset);
        self.low = low;
        if carry {
            // Carry propagation: the code is a fraction below one, so some byte takes the carry.
            for byte in self.out.iter_mut().rev() {
                *byte = byte.wrapping_add(1);
                if *byte != 0 {
                    break;
                }
            }
        }
    }

    #[inline]
    fn shift(&mut self) {
        if self.range >> 32 == 0 {
            self.out.extend_from_slice(&((self.low >> 32) as u32).to_be_bytes());
            self.low <<= 32;
            self.range <<= 32;
        }
    }

    /// Returns the bytes. An encoder that shifted n times writes n + 1 words.
    pub(super) fn finish(mut self) -> Vec<u8> {
        // The range is at least 2³², so it contains a number with 32 trailing zero bits, which are
        // not written.
        self.add(u64::from(u32::MAX));
        self.out.extend_from_slice(&((self.low >> 32) as u32).to_be_bytes());
        self.out
    }
}

impl Coder for Encoder {
    #[inline]
    fn bit(&mut self, slots: &mut Slots, index: usize, known: bool) -> bool {
        let slot = slots.at(index);
        let bound = (self.range >> 16) * u64::from(*slot);
        if known {
            self.range = bound;
        } else {
            self.add(bound);
            self.range -= bound;
        }
        learn(slot, known);
        self.shift();
        known
    }

    #[inline]
    fn raw(&mut self, bits: u32, known: u32) -> u32 {
        self.range >>= bits;
        self.add(self.range * u64::from(known));
        self.shift();
        known
    }
}

/// The decoder. Bytes that no encoder wrote decode to arbitrary bits.
pub(super) struct Decoder<'a> {
    code: u64,
    range: u64,
    rest: &'a [u8],
    /// The number of words read past the end.
    missing: u32,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let mut decoder = Self { code: 0, range: u64::MAX, rest: bytes, missing: 0 };
        decoder.code = u64::from(decoder.word()) << 32;
        decoder.code |= u64::from(decoder.word());
        decoder
    }

    #[inline]
    fn word(&mut self) -> u32 {
        if let Some((word, rest)) = self.rest.split_first_chunk() {
            self.rest = rest;
            return u32::from_be_bytes(*word);
        }
        self.word_missing()
    }

    #[cold]
    fn word_missing(&mut self) -> u32 {
        self.missing = self.missing.saturating_add(1);
        0
    }

    /// Whether exactly the bytes of an encoder were read. One word is read ahead.
    pub(super) const fn is_at_end(&self) -> bool {
        self.rest.is_empty() && self.missing == 1
    }

    /// Whether more was read than an encoder can have written.
    pub(super) const fn is_past_end(&self) -> bool {
        self.missing > 1
    }

    #[inline]
    fn shift(&mut self) {
        if self.range >> 32 == 0 {
            self.code = self.code << 32 | u64::from(self.word());
            self.range <<= 32;
        }
    }
}

impl Coder for Decoder<'_> {
    #[inline]
    fn bit(&mut self, slots: &mut Slots, index: usize, _known: bool) -> bool {
        let slot = slots.at(index);
        let bound = (self.range >> 16) * u64::from(*slot);
        let bit = self.code < bound;
        if bit {
            self.range = bound;
        } else {
            self.code = self.code.wrapping_sub(bound);
            self.range -= bound;
        }
        learn(slot, bit);
        self.shift();
        bit
    }

    /// Without branches on the bits: none of them is predictable.
    #[inline]
    fn tree(&mut self, slots: &mut Slots, tree: usize, bits: u32, _known: u32) -> u32 {
        let mut node = 1;
        for _ in 0..bits {
            let slot = slots.at(tree + node);
            let bound = (self.range >> 16) * u64::from(*slot);
            let (below, borrow) = self.code.overflowing_sub(bound);
            let bit = u64::from(borrow);
            let mask = bit.wrapping_neg();
            self.range = (bound & mask) | ((self.range - bound) & !mask);
            self.code = (self.code & mask) | (below & !mask);
            let old = i32::from(*slot);
            let target = MIN_PROBABILITY + (bit as i32) * (i32::from(u16::MAX) - MIN_PROBABILITY);
            *slot = (old + ((target - old) >> RATE_SHIFT)) as u16;
            self.shift();
            node = node << 1 | bit as usize;
        }
        node as u32 - (1 << bits)
    }

    #[inline]
    fn raw(&mut self, bits: u32, _known: u32) -> u32 {
        self.range >>= bits;
        // It may lie beyond in bytes that no encoder wrote.
        let number = (self.code / self.range).min((1 << bits) - 1);
        self.code = self.code.wrapping_sub(self.range * number);
        self.shift();
        number as u32
    }
}

/// Moves the slot's probability of a one, in 65,536ths, towards the bit. Differences below 64 are
/// not moved, so certainty is never reached.
#[inline]
fn learn(slot: &mut u16, bit: bool) {
    let target = if bit { i32::from(u16::MAX) } else { MIN_PROBABILITY };
    let old = i32::from(*slot);
    *slot = (old + ((target - old) >> RATE_SHIFT)) as u16;
}

/// Counts each slot's bits, to measure its initial probability.
#[cfg(feature = "tuning")]
pub(super) struct Tally(pub(super) Vec<[u64; 2]>);

#[cfg(feature = "tuning")]
impl Coder for Tally {
    fn bit(&mut self, _slots: &mut Slots, index: usize, known: bool) -> bool {
        self.0[index][usize::from(known)] += 1;
        known
    }

    fn raw(&mut self, _bits: u32, known: u32) -> u32 {
        known
    }
}
