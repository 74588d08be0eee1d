//! The order of the blocks.

use crate::{
    random::{Stream, Use},
    shard::Shard,
};

/// Shards that are sampled together, in proportion to the weight among all sets.
#[derive(Clone, Debug)]
pub struct WeightedSet<S> {
    /// Its shards.
    pub shards: Vec<Shard<S>>,
    /// Its weight among all sets.
    pub weight: u32,
}

/// The address of a block: set, shard in the set, block in the shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BlockId {
    pub(super) set: u32,
    pub(super) shard: u32,
    pub(super) block: u32,
}

/// The endless order of all blocks: sets drawn by their weights, each set's blocks reshuffled after
/// every round.
#[derive(Debug)]
pub(super) struct Order {
    seed: u64,
    sets: Vec<SetOrder>,
    choice: Stream,
    weight: u64,
}

#[derive(Debug)]
struct SetOrder {
    blocks: Vec<BlockId>,
    weight: u64,
    rounds: u64,
    next: usize,
}

impl Order {
    /// `None` if a weighted set is empty, all weights are zero, or the sets are too many for a
    /// sample's field.
    pub(super) fn new<S: crate::shard::Source>(sets: &[WeightedSet<S>], seed: u64) -> Option<Self> {
        let orders = sets.iter().enumerate().map(|(set, weighted)| {
            let shards = weighted.shards.iter().enumerate();
            let blocks = shards.flat_map(|(shard, it)| {
                let place = move |block: usize| BlockId { set: set as u32, shard: shard as u32, block: block as u32 };
                (0..it.index().len()).map(place)
            });
            let blocks: Vec<_> = blocks.collect();
            SetOrder { next: blocks.len(), blocks, weight: weighted.weight.into(), rounds: 0 }
        });
        let sets: Vec<_> = orders.collect();
        let weight = sets.iter().map(|set| set.weight).sum();
        let sound =
            sets.len() <= 1 << 16 && weight > 0 && sets.iter().all(|set| set.weight == 0 || !set.blocks.is_empty());
        sound.then_some(Self { seed, sets, choice: Stream::new(Use::TrainingSet, seed, 0), weight })
    }

    /// The next block.
    pub(super) fn draw(&mut self) -> BlockId {
        let mut drawn = self.choice.below(self.weight);
        let mut chosen = 0;
        while drawn >= self.sets[chosen].weight {
            drawn -= self.sets[chosen].weight;
            chosen += 1;
        }
        let set = &mut self.sets[chosen];
        if set.next == set.blocks.len() {
            // Sorted first, so that a round does not depend on those before.
            set.blocks.sort_unstable_by_key(|place| (place.shard, place.block));
            let round = (chosen as u64) << 40 | set.rounds;
            Stream::new(Use::TrainingBlocks, self.seed, round).shuffle(&mut set.blocks);
            set.rounds += 1;
            set.next = 0;
        }
        set.next += 1;
        set.blocks[set.next - 1]
    }
}
