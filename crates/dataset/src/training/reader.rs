//! The reader: threads that read pools ahead, and a position to resume from.

use std::{
    collections::BTreeMap,
    ops::RangeInclusive,
    sync::{
        Arc, Mutex,
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
};

use super::{
    Duplicates, Filter, Games, Rejected, Sample, Share, StreamedSet, WeightedSet,
    order::{BlockOrder, ShardOrder},
    pool::{self, Cache, Pool},
};
use crate::shard::{Shard, ShardError, Source};

/// The mean number of positions in a block, by which a pool of whole shards is measured.
const POSITIONS_OF_BLOCK: u64 = 9_000;

/// Shards that are opened when they are drawn: of a set that is larger than memory or disk.
pub trait ShardStore: Send + Sync + 'static {
    /// The bytes of a shard.
    type Source: Source;

    /// Opens a shard.
    ///
    /// # Errors
    ///
    /// If it cannot be read or fetched.
    fn open(&self, set: u32, shard: u32) -> Result<Shard<Self::Source>, ShardError>;
}

/// The plan of a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The seed of the order.
    pub seed: u64,
    /// The number of blocks in a pool, bounded by memory: a block has some 9,000 positions of 56
    /// bytes. A pool of whole shards has about as many positions.
    pub blocks_in_pool: usize,
    /// The games to read.
    pub games: Games,
    /// The positions to leave out.
    pub filter: Filter,
    /// Positions that are drawn less often. A position that several describe has the product of
    /// their shares.
    pub shares: Vec<Share>,
    /// The size of the cache of decoded blocks. It changes only the speed.
    pub cache_bytes: usize,
    /// The number of threads, each of which reads a pool ahead. With none, a pool is read when its
    /// turn comes. It changes only the speed.
    pub threads: usize,
}

/// The position of a reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReaderPosition {
    /// The pool's number.
    pub pool: u64,
    /// The number of its samples already handed out.
    pub sample: u64,
}

/// The reason why there are no samples.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum TrainingError {
    #[error("a set without games, no set with a weight, or more than 65,536 sets")]
    Empty,
    #[error("set {set}, shard {shard}: {cause}")]
    Shard { set: u32, shard: u32, cause: ShardError },
    #[error("filter and shares left nothing of {pools} pools in a row ({rejected} positions)")]
    NothingLeft { pools: u64, rejected: u64 },
    #[error("there is no sample {} in pool {} to resume from", .0.sample, .0.pool)]
    NoSuchPlace(ReaderPosition),
}

impl TrainingError {
    /// Whether this machine failed: a shard that it cannot read.
    #[must_use]
    pub fn is_local(&self) -> bool {
        matches!(self, Self::Shard { cause: ShardError::Io(_), .. })
    }
}

/// Reads a pool.
type Read = Box<dyn FnOnce() -> Result<Pool, TrainingError> + Send>;

struct Task {
    number: u64,
    read: Read,
}

type ReadPool = (u64, Result<Pool, TrainingError>);

/// An endless stream of samples.
pub struct Reader {
    /// Draws the next pool, by its number.
    draw: Box<dyn FnMut(u64) -> Read + Send>,
    tasks: Option<Sender<Task>>,
    pools: Receiver<ReadPool>,
    /// Pools that were read before their turn.
    early: BTreeMap<u64, Result<Pool, TrainingError>>,
    threads: Vec<JoinHandle<()>>,
    next_task: u64,
    place: ReaderPosition,
    current: Option<Pool>,
    rejected: Rejected,
}

fn block_order<S: Source>(sets: &[WeightedSet<S>], plan: &Plan) -> Result<BlockOrder, TrainingError> {
    for (set, found) in (0..).zip(sets) {
        let timed = found.shards.iter().position(|shard| shard.header().clock.is_some());
        if let Some(shard) = timed {
            return Err(TrainingError::Shard { set, shard: shard as u32, cause: ShardError::Timed });
        }
    }
    BlockOrder::new(sets, plan.seed).ok_or(TrainingError::Empty)
}

/// The number of pools in a row without a sample after which the filter is taken to leave nothing.
const MAX_EMPTY_POOLS: u64 = 1_000;

impl Reader {
    /// Creates a reader that resumes at a position; the default one is the beginning. It finds the
    /// duplicates first if the filter leaves them out.
    ///
    /// # Errors
    ///
    /// If there is nothing to read, or a shard of games under a clock.
    pub fn new<S>(sets: Vec<WeightedSet<S>>, plan: &Plan, place: ReaderPosition) -> Result<Self, TrainingError>
    where
        S: Source + Send + Sync + 'static,
    {
        let duplicates = if plan.filter.duplicates {
            Duplicates::find(&sets, &plan.filter, plan.threads)?
        } else {
            Duplicates::default()
        };
        Self::without(&Arc::new(duplicates), sets, plan, place)
    }

    /// As [`new`](Self::new), with duplicates that were found before.
    ///
    /// # Errors
    ///
    /// If there is nothing to read, or a shard of games under a clock.
    pub fn without<S>(
        duplicates: &Arc<Duplicates>,
        sets: Vec<WeightedSet<S>>,
        plan: &Plan,
        place: ReaderPosition,
    ) -> Result<Self, TrainingError>
    where
        S: Source + Send + Sync + 'static,
    {
        let mut order = block_order(&sets, plan)?;
        let context = Arc::new((sets, plan.clone(), Arc::clone(duplicates), Cache::new(plan.cache_bytes)));
        let count = plan.blocks_in_pool.max(1);
        Self::start(plan.threads, place, move |number| {
            let blocks: Vec<_> = (0..count).map(|_| order.draw()).collect();
            let context = Arc::clone(&context);
            Box::new(move || {
                let (sets, plan, duplicates, cache) = &*context;
                pool::read_blocks(sets, plan, duplicates, cache, &blocks, number)
            })
        })
    }

    /// One pool of blocks, none of them twice, with duplicates that were found before.
    ///
    /// # Errors
    ///
    /// If there is nothing to read, or a shard of games under a clock.
    pub fn distinct<S: Source>(
        duplicates: &Duplicates,
        sets: &[WeightedSet<S>],
        plan: &Plan,
    ) -> Result<Vec<Sample>, TrainingError> {
        let blocks = block_order(sets, plan)?.distinct(plan.blocks_in_pool);
        Ok(pool::read_blocks(sets, plan, duplicates, &Cache::new(0), &blocks, 0)?.samples)
    }

    /// Creates a reader of whole shards, which are opened when they are drawn. Each set is drawn by
    /// its weight in positions; duplicates are not left out.
    ///
    /// # Errors
    ///
    /// If there is nothing to read.
    pub fn streamed(
        shards: &Arc<impl ShardStore>,
        sets: Vec<StreamedSet>,
        plan: &Plan,
        place: ReaderPosition,
    ) -> Result<Self, TrainingError> {
        let mut order = ShardOrder::new(sets, plan.seed).ok_or(TrainingError::Empty)?;
        let context = Arc::new((Arc::clone(shards), plan.clone(), Cache::new(plan.cache_bytes)));
        let positions = plan.blocks_in_pool.max(1) as u64 * POSITIONS_OF_BLOCK;
        Self::start(plan.threads, place, move |number| {
            let (drawn, context) = (order.draw(positions), Arc::clone(&context));
            Box::new(move || {
                let (shards, plan, cache) = &*context;
                pool::read_shards(&**shards, plan, cache, &drawn, number)
            })
        })
    }

    /// Reads the shards that are drawn first, until there are as many samples as the end of
    /// `wanted`. Its start is enough once the shards have so many positions. The end of a set ends
    /// them too, so that no shard comes twice.
    ///
    /// # Errors
    ///
    /// If there is nothing to read, or a shard cannot be read.
    pub fn first(
        shards: &Arc<impl ShardStore>,
        sets: &[StreamedSet],
        plan: &Plan,
        wanted: RangeInclusive<usize>,
        positions: u64,
    ) -> Result<Vec<Sample>, TrainingError> {
        let mut order = ShardOrder::new(sets.to_vec(), plan.seed).ok_or(TrainingError::Empty)?;
        let (mut samples, mut read) = (Vec::new(), 0_u64);
        for (number, drawn) in (0..).zip(order.draw(u64::MAX)) {
            let enough = if read < positions { wanted.end() } else { wanted.start() };
            if samples.len() >= *enough {
                break;
            }
            samples.append(&mut pool::read_shards(&**shards, plan, &Cache::new(0), &[drawn], number)?.samples);
            read = read.saturating_add(sets[drawn.set as usize].positions[drawn.shard as usize]);
        }
        Ok(samples)
    }

    /// Starts the threads that read pools, and resumes at a place.
    fn start(
        threads: usize,
        place: ReaderPosition,
        mut draw: impl FnMut(u64) -> Read + Send + 'static,
    ) -> Result<Self, TrainingError> {
        for number in 0..place.pool {
            drop(draw(number));
        }
        let (tasks, receiver) = mpsc::channel::<Task>();
        let receiver = Arc::new(Mutex::new(receiver));
        let (sender, pools) = mpsc::channel();
        let threads = (0..threads).map(|_| {
            let (receiver, sender) = (Arc::clone(&receiver), sender.clone());
            thread::spawn(move || work(&receiver, &sender))
        });
        let threads: Vec<_> = threads.collect();
        let ahead = threads.len();
        let mut reader = Self {
            draw: Box::new(draw),
            tasks: Some(tasks),
            pools,
            early: BTreeMap::new(),
            threads,
            next_task: place.pool,
            place: ReaderPosition { sample: 0, ..place },
            current: None,
            rejected: Rejected::default(),
        };
        if ahead > 0 {
            (0..=ahead).for_each(|_| reader.order_pool());
        }
        if place.sample > 0 {
            let found = reader.pool()?.samples.len() as u64;
            if place.sample > found {
                return Err(TrainingError::NoSuchPlace(place));
            }
            reader.place = place;
        }
        Ok(reader)
    }

    fn order_pool(&mut self) {
        let read = (self.draw)(self.next_task);
        if let Some(tasks) = &self.tasks {
            // If the threads are gone, `receive` reports it.
            let _ = tasks.send(Task { number: self.next_task, read });
        }
        self.next_task += 1;
    }

    /// The pool at the current position.
    fn pool(&mut self) -> Result<&Pool, TrainingError> {
        let pool = match self.current.take() {
            Some(pool) => pool,
            None => self.receive()?,
        };
        Ok(self.current.insert(pool))
    }

    fn receive(&mut self) -> Result<Pool, TrainingError> {
        if self.threads.is_empty() {
            let pool = (self.draw)(self.place.pool)()?;
            self.rejected.add(&pool.rejected);
            return Ok(pool);
        }
        loop {
            if let Some(pool) = self.early.remove(&self.place.pool) {
                self.order_pool();
                let pool = pool?;
                self.rejected.add(&pool.rejected);
                return Ok(pool);
            }
            // The threads live as long as the reader.
            let (number, pool) = self.pools.recv().map_err(|_| TrainingError::Empty)?;
            self.early.insert(number, pool);
        }
    }

    /// Replaces the content of `samples` by the next `count` samples.
    ///
    /// # Errors
    ///
    /// If a shard cannot be read, or the filter leaves nothing.
    pub fn read(&mut self, samples: &mut Vec<Sample>, count: usize) -> Result<(), TrainingError> {
        samples.clear();
        let mut empty = 0;
        while samples.len() < count {
            let from = self.place.sample as usize;
            let pool = self.pool()?;
            let left = &pool.samples[from..];
            let taken = left.len().min(count - samples.len());
            samples.extend_from_slice(&left[..taken]);
            let (finished, none) = (taken == left.len(), pool.samples.is_empty());
            self.place.sample += taken as u64;
            if finished {
                self.place = ReaderPosition { pool: self.place.pool + 1, sample: 0 };
                self.current = None;
                empty = if none { empty + 1 } else { 0 };
                if empty == MAX_EMPTY_POOLS {
                    return Err(TrainingError::NothingLeft { pools: empty, rejected: self.rejected.total() });
                }
            }
        }
        Ok(())
    }

    /// Replaces the content of `samples` by the rest of the current pool, which may be empty.
    ///
    /// # Errors
    ///
    /// If a shard cannot be read.
    pub fn read_pool(&mut self, samples: &mut Vec<Sample>) -> Result<(), TrainingError> {
        samples.clear();
        let from = self.place.sample as usize;
        samples.extend_from_slice(&self.pool()?.samples[from..]);
        self.place = ReaderPosition { pool: self.place.pool + 1, sample: 0 };
        self.current = None;
        Ok(())
    }

    /// The current position: a reader with the same plan and sets resumes there.
    #[must_use]
    pub const fn place(&self) -> ReaderPosition {
        self.place
    }

    /// The number of positions left out of the pools so far.
    #[must_use]
    pub const fn rejected(&self) -> &Rejected {
        &self.rejected
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.tasks = None;
        for thread in self.threads.drain(..) {
            // A thread that panicked has reported it.
            let _ = thread.join();
        }
    }
}

fn work(tasks: &Mutex<Receiver<Task>>, pools: &Sender<ReadPool>) {
    loop {
        let task = match tasks.lock() {
            Ok(tasks) => tasks.recv(),
            Err(_) => return,
        };
        let Ok(Task { number, read }) = task else { return };
        if pools.send((number, read())).is_err() {
            return;
        }
    }
}
