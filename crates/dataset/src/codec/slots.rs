//! What the coder has learned: for each circumstance, how likely a yes is.
//!
//! Every block begins with the same odds, counted once over games of self-play (`examples/tune.rs`); they are part of
//! the format. So blocks can be small and be read alone, and a block still learns what is peculiar to its games.

/// All slots: a power of two, so that no index needs a check.
pub(super) const COUNT: usize = 1 << 14;

// Where the groups begin; the figures are how many slots a group has.
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

/// The odds with which every block begins, little-endian; those of unseen circumstances are even.
const PRIORS: &[u8; 2 * COUNT] = include_bytes!("priors.bin");

/// How likely a yes is in each circumstance, in 65,536ths.
#[derive(Clone)]
pub(super) struct Slots(Box<[u16; COUNT]>);

impl Slots {
    /// The odds with which a block begins.
    pub(super) fn new() -> Self {
        let zeros = vec![0; COUNT].into_boxed_slice();
        let mut slots = Self(zeros.try_into().expect("there are so many"));
        slots.reset();
        slots
    }

    /// Forgets what was learned.
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
