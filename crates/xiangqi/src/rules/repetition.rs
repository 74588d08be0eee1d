//! A cheap upper bound on the occurrences of a position.

/// Slots of the filter. A game has some two hundred positions: few share a slot.
const SLOTS: usize = 4096;

/// A counting filter over the low bits of position keys.
///
/// Its count is never too low, so "has not occurred" is certain and costs one load. "May have
/// occurred" is settled by comparing keys. A slot counts to 65,535; judged games end long before.
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

    /// The upper bound on the occurrences of a position.
    #[inline]
    pub(super) fn at_most(&self, key: u64) -> u32 {
        u32::from(self.0[slot(key)])
    }
}

#[inline]
const fn slot(key: u64) -> usize {
    key as usize & (SLOTS - 1)
}
