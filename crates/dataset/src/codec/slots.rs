//! The coder's model: the probability of a one in each context.
//!
//! Every block begins with the same probabilities, measured once over games of self-play
//! (`examples/tune.rs`); they are part of the format. So blocks can be small and be read alone, and
//! still adapt to their games.

/// The number of slots: a power of two, so that no index needs a check.
pub(super) const COUNT: usize = 1 << 14;

// The first slot of each group; the next line's figure is the group's size.
pub(super) const PIECE: usize = 0;
pub(super) const TARGET: usize = PIECE + 4096;
pub(super) const MAGNITUDE: usize = TARGET + 7 * 5 * 128;
pub(super) const SIGN: usize = MAGNITUDE + 122 * 32;
pub(super) const ZERO: usize = SIGN + 3 * 11 * 9;
pub(super) const AS_OPPONENT: usize = ZERO + 8;
pub(super) const AS_BEFORE: usize = AS_OPPONENT + 8 * 2 * 11;
pub(super) const FRACTION: usize = AS_BEFORE + 8 * 2 * 11;
pub(super) const UNSCORED: usize = FRACTION + 32;
pub(super) const ATTEMPT: usize = UNSCORED + 2;
pub(super) const LENGTH: usize = ATTEMPT + 128;
pub(super) const OUTCOME: usize = LENGTH + 128;
pub(super) const REASON: usize = OUTCOME + 4;
pub(super) const START_TAKEN: usize = REASON + 4 * 16;
pub(super) const START_PIECE: usize = START_TAKEN + 90;
pub(super) const START_TURN: usize = START_PIECE + 16;
pub(super) const START_COUNTER: usize = START_TURN + 1;
const END: usize = START_COUNTER + 2 * 128;

const _: () = assert!(END <= COUNT, "the groups do not fit");

/// The initial probabilities, little-endian; those of unused contexts are one half.
const PRIORS: &[u8; 2 * COUNT] = include_bytes!("priors.bin");

/// The probability of a one in each context, in 65,536ths.
#[derive(Clone)]
pub(super) struct Slots(Box<[u16; COUNT]>);

impl Slots {
    /// The initial probabilities.
    pub(super) fn new() -> Self {
        let zeros = vec![0; COUNT].into_boxed_slice();
        let mut slots = Self(zeros.try_into().expect("the vector has this length"));
        slots.reset();
        slots
    }

    /// Resets the probabilities to the initial ones.
    pub(super) fn reset(&mut self) {
        for (slot, bytes) in self.0.iter_mut().zip(PRIORS.as_chunks().0) {
            *slot = u16::from_le_bytes(*bytes);
        }
    }

    #[inline]
    pub(super) fn at(&mut self, index: usize) -> &mut u16 {
        debug_assert!(index < END, "slot {index}");
        &mut self.0[index % COUNT]
    }
}
