//! Pools of positions.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use xiangqi::Move;

use super::{
    Duplicates, Games, PackedPosition, Plan, ShardStore, TrainingError, WeightedSet,
    filter::{Filter, Rejected, result_for},
    order::{BlockId, ShardId},
};
use crate::{
    random::{Stream, Use},
    shard::{Shard, ShardError, Source},
};

/// A position and its labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The position.
    pub position: PackedPosition,
    /// The move that was made.
    pub mv: Move,
    /// The search's score, for the side to move.
    pub score: i16,
    /// 1 if the side to move won, 0 for a draw, −1 if it lost.
    pub result: i8,
    /// The natural limit's counter, at most 255.
    pub limit_counter: u8,
    /// The number of moves before, at most 65,535.
    pub ply: u16,
    /// The index of its set.
    pub set: u16,
    /// The index of its shard in the set: the score is on that shard's scale.
    pub shard: u32,
}

/// The samples in the order in which they are handed out.
#[derive(Debug, Default)]
pub(super) struct Pool {
    pub(super) samples: Vec<Sample>,
    pub(super) rejected: Rejected,
}

/// The samples of a block after the filter.
#[derive(Debug, Default)]
pub(super) struct BlockSamples {
    samples: Vec<Sample>,
    rejected: Rejected,
}

/// Reads a pool of blocks. The result depends on the arguments alone; the cache only saves time.
pub(super) fn read_blocks<S: Source>(
    sets: &[WeightedSet<S>],
    plan: &Plan,
    duplicates: &Duplicates,
    cache: &Cache,
    blocks: &[BlockId],
    number: u64,
) -> Result<Pool, TrainingError> {
    let mut pool = Pool::default();
    for place in blocks {
        let shard = &sets[place.set as usize].shards[place.shard as usize];
        pool.add(&*cache.get_or_read(*place, || read_block(shard, plan, duplicates, *place))?);
    }
    pool.draw(plan, number);
    Ok(pool)
}

/// Reads a pool of whole shards.
pub(super) fn read_shards(
    shards: &impl ShardStore,
    plan: &Plan,
    cache: &Cache,
    drawn: &[ShardId],
    number: u64,
) -> Result<Pool, TrainingError> {
    let mut pool = Pool::default();
    let none = Duplicates::default();
    for ShardId { set, shard } in drawn.iter().copied() {
        let at = |cause| TrainingError::Shard { set, shard, cause };
        let opened = shards.open(set, shard).map_err(at)?;
        if opened.header().clock.is_some() {
            return Err(at(ShardError::Timed));
        }
        for block in 0..opened.index().len() as u32 {
            let place = BlockId { set, shard, block };
            pool.add(&*cache.get_or_read(place, || read_block(&opened, plan, &none, place))?);
        }
    }
    pool.draw(plan, number);
    Ok(pool)
}

impl Pool {
    fn add(&mut self, block: &BlockSamples) {
        self.samples.extend_from_slice(&block.samples);
        self.rejected.add(&block.rejected);
    }

    /// Leaves out the draws that do not count, and shuffles the others.
    fn draw(&mut self, plan: &Plan, number: u64) {
        if !plan.shares.is_empty() {
            let (mut coins, all) = (Stream::new(Use::TrainingShare, plan.seed, number), self.samples.len());
            self.samples.retain(|sample| plan.shares.iter().all(|share| share.keeps(sample, &mut coins)));
            self.rejected.shares += (all - self.samples.len()) as u64;
        }
        Stream::new(Use::TrainingPool, plan.seed, number).shuffle(&mut self.samples);
    }
}

fn read_block<S: Source>(
    shard: &Shard<S>,
    plan: &Plan,
    duplicates: &Duplicates,
    place: BlockId,
) -> Result<BlockSamples, TrainingError> {
    let mut samples = Vec::new();
    let mut repeated = 0;
    let mut rejected = each_sample(shard, &plan.filter, plan.games, place, |sample, number, _| {
        if duplicates.contains(place, number) {
            repeated += 1;
        } else {
            samples.push(sample);
        }
    })?;
    rejected.duplicates += repeated;
    samples.shrink_to_fit();
    Ok(BlockSamples { samples, rejected })
}

/// Reads the samples of a block that the filter keeps, each with its position's number among all of
/// the block, and its key.
pub(super) fn each_sample<S: Source>(
    shard: &Shard<S>,
    filter: &Filter,
    games: Games,
    place: BlockId,
    mut each: impl FnMut(Sample, u32, u64),
) -> Result<Rejected, TrainingError> {
    let mut rejected = Rejected::default();
    let mut game = Vec::new();
    let mut keys = Vec::new();
    let at = |cause| TrainingError::Shard { set: place.set, shard: place.shard, cause };
    let block = shard.block(place.block as usize).map_err(at)?;
    // One closure fills it and the other drains it, never at the same time.
    let pending = RefCell::new((&mut game, &mut keys, &mut rejected));
    let mut number = 0;
    let read = block.read_with(
        |ply| {
            let (game, keys, rejected) = &mut *pending.borrow_mut();
            if filter.keeps(ply, keys, rejected) {
                let sample = Sample {
                    position: ply.position.into(),
                    mv: ply.scored.mv,
                    score: ply.scored.score.map_or(0, |score| score as i16),
                    result: 0,
                    limit_counter: ply.limit.counted().min(255) as u8,
                    ply: (ply.number - 1).min(usize::from(u16::MAX)) as u16,
                    set: place.set as u16,
                    shard: place.shard,
                };
                game.push((sample, number, ply.position.key()));
            }
            number += 1;
            if filter.repeated {
                keys.push(ply.position.key());
            }
        },
        |_, record| {
            let (game, keys, rejected) = &mut *pending.borrow_mut();
            keys.clear();
            if !Filter::labels(&record) {
                rejected.without_label += game.len() as u64;
                game.clear();
            } else if !games.take(record.opening.seed) {
                rejected.other_games += game.len() as u64;
                game.clear();
            }
            let label = filter.label(&record);
            for (mut sample, number, key) in game.drain(..) {
                sample.result = result_for(label, sample.position.turn());
                if filter.contradicts(sample.score.into(), sample.result) {
                    rejected.contradicting += 1;
                } else {
                    each(sample, number, key);
                }
            }
        },
    );
    read.map_err(at)?;
    Ok(rejected)
}

/// A cache of blocks, bounded in bytes: it keeps those that were read first, for later rounds.
pub(super) struct Cache {
    max: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    bytes: usize,
    blocks: BTreeMap<BlockId, Arc<BlockSamples>>,
}

impl Cache {
    pub(super) fn new(bytes: usize) -> Self {
        Self { max: bytes, kept: Mutex::default() }
    }

    fn get_or_read(
        &self,
        place: BlockId,
        read: impl FnOnce() -> Result<BlockSamples, TrainingError>,
    ) -> Result<Arc<BlockSamples>, TrainingError> {
        let known = self.lock().blocks.get(&place).map(Arc::clone);
        if let Some(block) = known {
            return Ok(block);
        }
        let block = Arc::new(read()?);
        let bytes = size_of_val(&*block.samples) + size_of::<BlockSamples>();
        let mut kept = self.lock();
        if kept.bytes + bytes <= self.max && !kept.blocks.contains_key(&place) {
            kept.bytes += bytes;
            kept.blocks.insert(place, Arc::clone(&block));
        }
        drop(kept);
        Ok(block)
    }

    /// Ignores poisoning: no update panics halfway.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
