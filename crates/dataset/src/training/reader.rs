//! The reader: threads that read pools ahead, and a place to go on from.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
};

use super::{
    Filter, Games, Rejected, Sample, WeightedSet,
    order::{BlockPlace, Order},
    pool::{self, Cache, Pool},
};
use crate::shard::{ShardError, Source};

/// What is read, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What decides the order.
    pub seed: u64,
    /// How many blocks are mixed with each other: what memory allows; a block has some 9,000 positions of 56 bytes.
    pub blocks_in_pool: usize,
    /// Which games are read.
    pub games: Games,
    /// Which positions are left out.
    pub filter: Filter,
    /// How many bytes of what was read may be kept, so that it need not be read in every round. It changes nothing but
    /// the speed.
    pub cache_bytes: usize,
    /// How many threads read. They change nothing but the speed.
    pub threads: usize,
}

/// Where a reader stands: how many samples of which pool were handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The pool's number.
    pub pool: u64,
    /// How many of its samples were handed out.
    pub sample: u64,
}

/// Why there are no samples.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum TrainingError {
    #[error("a set without games, no set with a weight, or more than 65,536 of sets or of shards in one")]
    Empty,
    #[error("set {set}, shard {shard}: {cause}")]
    Shard { set: u32, shard: u32, cause: ShardError },
    #[error("the filter left nothing of {pools} pools in a row ({rejected} positions)")]
    NothingLeft { pools: u64, rejected: u64 },
    #[error("there is no sample {} in pool {} to go on from", .0.sample, .0.pool)]
    NoSuchPlace(Place),
}

struct Task {
    number: u64,
    blocks: Vec<BlockPlace>,
}

type Answer = (u64, Result<Pool, TrainingError>);

/// An endless stream of samples.
pub struct Reader {
    order: Order,
    blocks_in_pool: usize,
    tasks: Option<Sender<Task>>,
    answers: Receiver<Answer>,
    /// Pools that came before their turn.
    early: BTreeMap<u64, Result<Pool, TrainingError>>,
    threads: Vec<JoinHandle<()>>,
    next_task: u64,
    place: Place,
    current: Option<Pool>,
    rejected: Rejected,
}

/// After so many pools without a sample nothing more is to be hoped for.
const MOST_EMPTY: u64 = 1_000;

impl Reader {
    /// A reader that goes on from a place; the default one is the beginning.
    ///
    /// # Errors
    ///
    /// If there is nothing to read, or something that was played under a clock.
    pub fn new<S>(sets: Vec<WeightedSet<S>>, plan: &Plan, place: Place) -> Result<Self, TrainingError>
    where
        S: Source + Send + Sync + 'static,
    {
        for (set, found) in (0..).zip(&sets) {
            let timed = found.shards.iter().position(|shard| shard.header().clock.is_some());
            if let Some(shard) = timed {
                return Err(TrainingError::Shard { set, shard: shard as u32, cause: ShardError::Timed });
            }
        }
        let mut order = Order::new(&sets, plan.seed).ok_or(TrainingError::Empty)?;
        let blocks_in_pool = plan.blocks_in_pool.max(1);
        for _ in 0..place.pool.saturating_mul(blocks_in_pool as u64) {
            order.draw();
        }
        let sets = Arc::new(sets);
        let cache = Arc::new(Cache::new(plan.cache_bytes));
        let (tasks, receiver) = mpsc::channel::<Task>();
        let receiver = Arc::new(Mutex::new(receiver));
        let (sender, answers) = mpsc::channel();
        let threads = (0..plan.threads.max(1)).map(|_| {
            let (sets, cache) = (Arc::clone(&sets), Arc::clone(&cache));
            let (receiver, sender) = (Arc::clone(&receiver), sender.clone());
            let plan = *plan;
            thread::spawn(move || work(&sets, &plan, &cache, &receiver, &sender))
        });
        let threads = threads.collect();
        let mut reader = Self {
            order,
            blocks_in_pool,
            tasks: Some(tasks),
            answers,
            early: BTreeMap::new(),
            threads,
            next_task: place.pool,
            place: Place { sample: 0, ..place },
            current: None,
            rejected: Rejected::default(),
        };
        for _ in 0..=plan.threads.max(1) {
            reader.order_pool();
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
        let blocks = (0..self.blocks_in_pool).map(|_| self.order.draw()).collect();
        if let Some(tasks) = &self.tasks {
            // Without threads the answer will be missing, which is noticed there.
            let _ = tasks.send(Task { number: self.next_task, blocks });
        }
        self.next_task += 1;
    }

    /// The pool at the place.
    fn pool(&mut self) -> Result<&Pool, TrainingError> {
        let pool = match self.current.take() {
            Some(pool) => pool,
            None => self.receive()?,
        };
        Ok(self.current.insert(pool))
    }

    fn receive(&mut self) -> Result<Pool, TrainingError> {
        loop {
            if let Some(pool) = self.early.remove(&self.place.pool) {
                self.order_pool();
                let pool = pool?;
                self.rejected.add(&pool.rejected);
                return Ok(pool);
            }
            // The threads live as long as the reader.
            let (number, pool) = self.answers.recv().map_err(|_| TrainingError::Empty)?;
            self.early.insert(number, pool);
        }
    }

    /// Puts the next so many samples into `samples`, which is emptied first.
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
                self.place = Place { pool: self.place.pool + 1, sample: 0 };
                self.current = None;
                empty = if none { empty + 1 } else { 0 };
                if empty == MOST_EMPTY {
                    return Err(TrainingError::NothingLeft { pools: empty, rejected: self.rejected.total() });
                }
            }
        }
        Ok(())
    }

    /// Puts what is left of the pool at the place into `samples`, which is emptied first; that may be nothing.
    ///
    /// # Errors
    ///
    /// If a shard cannot be read.
    pub fn read_pool(&mut self, samples: &mut Vec<Sample>) -> Result<(), TrainingError> {
        samples.clear();
        let from = self.place.sample as usize;
        samples.extend_from_slice(&self.pool()?.samples[from..]);
        self.place = Place { pool: self.place.pool + 1, sample: 0 };
        self.current = None;
        Ok(())
    }

    /// Where it stands: a reader with the same plan and sets that starts there hands out what comes next here.
    #[must_use]
    pub const fn place(&self) -> Place {
        self.place
    }

    /// What was left out of the pools so far.
    #[must_use]
    pub const fn rejected(&self) -> &Rejected {
        &self.rejected
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.tasks = None;
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

fn work<S: Source>(
    sets: &[WeightedSet<S>],
    plan: &Plan,
    cache: &Cache,
    tasks: &Mutex<Receiver<Task>>,
    answers: &Sender<Answer>,
) {
    loop {
        let task = match tasks.lock() {
            Ok(tasks) => tasks.recv(),
            Err(_) => return,
        };
        let Ok(Task { number, blocks }) = task else { return };
        let pool = pool::read(sets, plan, cache, &blocks, number);
        if answers.send((number, pool)).is_err() {
            return;
        }
    }
}
