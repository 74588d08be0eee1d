//! The order of blocks or shards.

use crate::{
    random::{Stream, Use},
    shard::{Shard, Source},
};

/// Shards that are sampled together, in proportion to the weight among all sets.
#[derive(Clone, Debug)]
pub struct WeightedSet<S> {
    /// Its shards.
    pub shards: Vec<Shard<S>>,
    /// Its weight among all sets.
    pub weight: u32,
}

/// As [`WeightedSet`], of shards that are opened when they are drawn.
#[derive(Clone, Debug)]
pub struct StreamedSet {
    /// The positions of each shard.
    pub positions: Vec<u64>,
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

/// The address of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShardId {
    pub(super) set: u32,
    pub(super) shard: u32,
}

/// The endless order of all blocks: sets are drawn by their weights, and each set is reshuffled
/// after every round.
#[derive(Debug)]
pub(super) struct BlockOrder {
    seed: u64,
    sets: Vec<Rounds<BlockId>>,
    weights: Vec<u64>,
    choice: Stream,
}

impl BlockOrder {
    /// `None` if a weighted set is empty, all weights are zero, or the sets are too many for a
    /// sample's field.
    pub(super) fn new<S: Source>(sets: &[WeightedSet<S>], seed: u64) -> Option<Self> {
        let orders = sets.iter().enumerate().map(|(set, weighted)| {
            let shards = weighted.shards.iter().enumerate();
            let blocks = shards.flat_map(|(shard, it)| {
                let place = move |block: usize| BlockId { set: set as u32, shard: shard as u32, block: block as u32 };
                (0..it.index().len()).map(place)
            });
            Rounds::new(set, blocks.collect())
        });
        let (orders, weights): (Vec<_>, Vec<u64>) = orders.zip(sets.iter().map(|set| u64::from(set.weight))).unzip();
        let is_empty = |(order, weight): (&Rounds<_>, &u64)| *weight > 0 && order.items.is_empty();
        let sound =
            sets.len() <= 1 << 16 && weights.iter().any(|it| *it > 0) && !orders.iter().zip(&weights).any(is_empty);
        sound.then(|| Self { seed, sets: orders, weights, choice: Stream::new(Use::TrainingSet, seed, 0) })
    }

    /// The next block.
    pub(super) fn draw(&mut self) -> BlockId {
        let mut drawn = self.choice.below(self.weights.iter().sum());
        let mut chosen = 0;
        while drawn >= self.weights[chosen] {
            drawn -= self.weights[chosen];
            chosen += 1;
        }
        self.sets[chosen].draw(self.seed)
    }

    /// At most so many blocks, none of them twice, before any other draw. A set that ends is left
    /// out.
    pub(super) fn distinct(mut self, most: usize) -> Vec<BlockId> {
        let mut blocks = Vec::new();
        while blocks.len() < most && self.weights.iter().any(|weight| *weight > 0) {
            let block = self.draw();
            let set = block.set as usize;
            if self.sets[set].has_ended() {
                self.weights[set] = 0;
            }
            blocks.push(block);
        }
        blocks
    }
}

/// The same of whole shards. The set furthest behind its weight is next, by the positions drawn so
/// far.
#[derive(Debug)]
pub(super) struct ShardOrder {
    seed: u64,
    /// The sets with a weight.
    sets: Vec<ShardsOfSet>,
}

#[derive(Debug)]
struct ShardsOfSet {
    set: u32,
    rounds: Rounds<u32>,
    /// The positions of each shard.
    positions: Vec<u64>,
    weight: u128,
    drawn: u128,
}

impl ShardOrder {
    /// `None` as for blocks.
    pub(super) fn new(sets: Vec<StreamedSet>, seed: u64) -> Option<Self> {
        let is_counted = sets.len() <= 1 << 16;
        let sets = sets.into_iter().enumerate().filter(|(_, streamed)| streamed.weight > 0);
        let sets = sets.map(|(set, StreamedSet { positions, weight })| ShardsOfSet {
            set: set as u32,
            rounds: Rounds::new(set, (0..positions.len() as u32).collect()),
            positions,
            weight: weight.into(),
            drawn: 0,
        });
        let sets: Vec<_> = sets.collect();
        let sound = is_counted && !sets.is_empty() && sets.iter().all(|set| set.positions.iter().any(|it| *it > 0));
        sound.then_some(Self { seed, sets })
    }

    /// The next shards that have so many positions together. A set that ends its round ends the
    /// pool, so that no shard is in it twice.
    pub(super) fn draw(&mut self, positions: u64) -> Vec<ShardId> {
        let (mut shards, mut found) = (Vec::new(), 0);
        while found < positions.max(1) {
            // drawn / weight, compared without division; the first of equals.
            let next =
                self.sets.iter_mut().min_by(|one, other| (one.drawn * other.weight).cmp(&(other.drawn * one.weight)));
            let next = next.expect("there is a set with a weight");
            if next.rounds.has_ended() && shards.iter().any(|it: &ShardId| it.set == next.set) {
                break;
            }
            let shard = next.rounds.draw(self.seed);
            let positions = next.positions[shard as usize];
            next.drawn += u128::from(positions);
            found = found.saturating_add(positions);
            shards.push(ShardId { set: next.set, shard });
        }
        shards
    }
}

/// Items in random order, again and again.
#[derive(Debug)]
struct Rounds<T> {
    set: u64,
    items: Vec<T>,
    begun: u64,
    next: usize,
}

impl<T: Copy + Ord> Rounds<T> {
    fn new(set: usize, items: Vec<T>) -> Self {
        Self { set: set as u64, next: items.len(), items, begun: 0 }
    }

    const fn has_ended(&self) -> bool {
        self.next == self.items.len()
    }

    fn draw(&mut self, seed: u64) -> T {
        if self.has_ended() {
            // Sorted first, so that a round does not depend on those before.
            self.items.sort_unstable();
            Stream::new(Use::TrainingBlocks, seed, self.set << 40 | self.begun).shuffle(&mut self.items);
            self.begun += 1;
            self.next = 0;
        }
        self.next += 1;
        self.items[self.next - 1]
    }
}
