//! Positions that occur more than once in a training set.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use super::{Filter, Games, TrainingError, WeightedSet, order::BlockId, pool::each_sample};
use crate::shard::Source;

/// Positions whose keys are compared at once, in sixteen bytes each: a gibibyte. Larger sets are
/// decoded once for each such part.
const MAX_COMPARED: u64 = 1 << 26;

/// The positions of some sets that equal an earlier one: of an earlier set, shard, block or game.
/// Positions that a filter leaves out equal none.
#[derive(Debug, Default)]
pub struct Duplicates {
    /// A bit for each position of a block that has some.
    blocks: BTreeMap<BlockId, Vec<u64>>,
    count: u64,
}

impl Duplicates {
    /// Finds the duplicates of all sets with a weight; every block is decoded.
    ///
    /// # Errors
    ///
    /// If a shard cannot be read.
    pub fn find<S>(sets: &[WeightedSet<S>], filter: &Filter, threads: usize) -> Result<Self, TrainingError>
    where
        S: Source + Sync,
    {
        let mut blocks = Vec::new();
        let mut positions = 0;
        for (set, weighted) in (0..).zip(sets).filter(|(_, weighted)| weighted.weight > 0) {
            for (shard, found) in (0..).zip(&weighted.shards) {
                positions += found.positions();
                blocks.extend((0..found.index().len() as u32).map(|block| BlockId { set, shard, block }));
            }
        }
        let passes = positions.div_ceil(MAX_COMPARED);
        let mut duplicates = Self::default();
        for pass in 0..passes {
            let mut keys = keys(sets, filter, &blocks, threads, |key| key % passes == pass)?;
            keys.sort_unstable();
            for pair in keys.array_windows::<2>().filter(|[one, other]| one.key == other.key) {
                duplicates.insert(blocks[pair[1].block as usize], pair[1].number);
            }
        }
        Ok(duplicates)
    }

    /// The number of duplicates.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    fn insert(&mut self, block: BlockId, number: u32) {
        let bits = self.blocks.entry(block).or_default();
        let word = number as usize / 64;
        bits.resize(bits.len().max(word + 1), 0);
        bits[word] |= 1 << (number % 64);
        self.count += 1;
    }

    /// Whether a sample is a duplicate, by its number in its block.
    pub(super) fn contains(&self, block: BlockId, number: u32) -> bool {
        let word = self.blocks.get(&block).and_then(|bits| bits.get(number as usize / 64));
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}

/// A position's key and its place, ordered by key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Keyed {
    key: u64,
    block: u32,
    number: u32,
}

/// The keys of all blocks' samples that are selected.
fn keys<S: Source + Sync>(
    sets: &[WeightedSet<S>],
    filter: &Filter,
    blocks: &[BlockId],
    threads: usize,
    is_selected: impl Fn(u64) -> bool + Sync,
) -> Result<Vec<Keyed>, TrainingError> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut keys = Vec::new();
        loop {
            let block = next.fetch_add(1, Ordering::Relaxed);
            let Some(place) = blocks.get(block) else { return Ok(keys) };
            let shard = &sets[place.set as usize].shards[place.shard as usize];
            each_sample(shard, filter, Games::All, *place, |_, number, key| {
                if is_selected(key) {
                    keys.push(Keyed { key, block: block as u32, number });
                }
            })?;
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let mut keys = Vec::new();
        for thread in threads {
            keys.extend(thread.join().expect("a thread that panics has reported it")?);
        }
        Ok(keys)
    })
}
