//! How often a position may have stood before, cheaply.

/// Slots of the filter. A game has some two hundred positions: few share a slot.
const SLOTS: usize = 4096;

/// Counts positions by the low bits of their keys. Its count of a position is never too low, so "has not stood before"
/// is certain and costs one look; "may have" is settled by comparing keys. A slot counts to 65,535: a game that the
/// arbiter is asked about ends long before.
#[derive(Clone, Debug)]
pub(super) struct Filter(Box<[u16; SLOTS]>);

impl Filter {
    pub(super) fn new() -> Self {
        Self(Box::new([0; SLOTS]))
    }

    #[inline]
    pub(super) fn add(&mut self, key: u64) {
        self.0[slot(key)] += 1;
    }

    #[inline]
    pub(super) fn remove(&mut self, key: u64) {
        self.0[slot(key)] -= 1;
    }

    /// How often the position stood, at most.
    #[inline]
    pub(super) fn at_most(&self, key: u64) -> u32 {
        u32::from(self.0[slot(key)])
    }
}

#[inline]
const fn slot(key: u64) -> usize {
    key as usize & (SLOTS - 1)
}
