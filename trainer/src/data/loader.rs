//! Prefetching: threads make batches while others are trained on.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, SyncSender},
    },
    thread::{self, JoinHandle},
};

use dataset::{
    random::{Stream, Use},
    training::{Reader, ReaderPosition, Sample, TrainingError},
};

use super::{DataError, Order, Scales};
use crate::batch::{Batch, Features};

/// Batches that each thread makes ahead.
const PREFETCHED_BATCHES: usize = 2;

/// The positions of a step.
#[derive(Clone, Debug)]
pub enum Drawn {
    /// In memory.
    Batch(Batch),
    /// Their numbers among those that the device keeps.
    Numbers(Vec<i64>),
}

impl Drawn {
    /// The number of positions.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::Batch(batch) => batch.len(),
            Self::Numbers(numbers) => numbers.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The batch, if it is one.
    #[must_use]
    pub const fn batch(&self) -> Option<&Batch> {
        match self {
            Self::Batch(batch) => Some(batch),
            Self::Numbers(_) => None,
        }
    }
}

/// The positions of a step, and the place of the next ones in the data.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The positions.
    pub drawn: Drawn,
    /// The place from which a loader resumes after this batch.
    pub next: ReaderPosition,
}

/// A loader. One thread draws the samples of batches in turn, and others make them.
pub struct Loader {
    /// The batches of each thread, which makes every n-th one.
    lanes: Vec<Receiver<Made>>,
    /// The lane of the next batch.
    lane: usize,
    spare: Spare,
    threads: Vec<JoinHandle<()>>,
}

type Made = Result<Ready, TrainingError>;

/// Memory of batches that were trained on.
type Spare = Arc<Mutex<Vec<Batch>>>;

/// The samples of a batch, their place in the data, and that of the next ones.
struct Read {
    samples: Vec<Sample>,
    place: ReaderPosition,
    next: ReaderPosition,
}

/// How batches are made.
pub(super) struct Making {
    pub(super) scales: Scales,
    pub(super) length: usize,
    pub(super) features: Features,
    /// The seed by which positions are mirrored, if any are.
    pub(super) seed: Option<u64>,
}

impl Loader {
    pub(super) fn new(reader: Reader, making: Making, threads: usize) -> Self {
        let (making, spare) = (Arc::new(making), Spare::default());
        let (mut senders, mut lanes, mut handles) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..threads.max(1) {
            let (sender, drawn) = mpsc::sync_channel(1);
            let (made, lane) = mpsc::sync_channel(PREFETCHED_BATCHES);
            let (making, spare) = (Arc::clone(&making), Arc::clone(&spare));
            handles.push(thread::spawn(move || make(&making, &drawn, &made, &spare)));
            senders.push(sender);
            lanes.push(lane);
        }
        let length = making.length;
        handles.push(thread::spawn(move || draw(reader, length, &senders)));
        Self { lanes, lane: 0, spare, threads: handles }
    }

    /// Draws positions that a device keeps.
    pub(super) fn of_resident(order: Order, length: usize, from: ReaderPosition) -> Self {
        let (made, lane) = mpsc::sync_channel(PREFETCHED_BATCHES);
        let handle = thread::spawn(move || {
            let mut sample = from.sample;
            loop {
                let numbers = (sample..sample + length as u64).map(|draw| order.number(draw) as i64).collect();
                sample += length as u64;
                let next = ReaderPosition { sample, ..from };
                if made.send(Ok(Ready { drawn: Drawn::Numbers(numbers), next })).is_err() {
                    return;
                }
            }
        });
        Self { lanes: vec![lane], lane: 0, spare: Spare::default(), threads: vec![handle] }
    }

    /// Returns the next batch.
    ///
    /// # Errors
    ///
    /// If a shard cannot be read, or a filter leaves nothing.
    ///
    /// # Panics
    ///
    /// If a thread has panicked.
    #[allow(clippy::should_implement_trait, reason = "it never ends, and it can fail")]
    pub fn next(&mut self) -> Result<Ready, DataError> {
        let made = self.lanes[self.lane].recv().expect("the threads live as long as the loader");
        self.lane = (self.lane + 1) % self.lanes.len();
        Ok(made?)
    }

    /// Recycles the memory of a batch.
    pub fn recycle(&self, drawn: Drawn) {
        if let Drawn::Batch(batch) = drawn {
            self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(batch);
        }
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        // Without receivers the threads end.
        self.lanes.clear();
        for thread in self.threads.drain(..) {
            // A panic of the thread has been printed.
            let _ = thread.join();
        }
    }
}

/// Draws the samples of batches, and hands them to the makers in turn.
fn draw(mut reader: Reader, length: usize, makers: &[SyncSender<Result<Read, TrainingError>>]) {
    for maker in makers.iter().cycle() {
        let (mut samples, place) = (Vec::new(), reader.place());
        let drawn = reader.read(&mut samples, length).map(|()| Read { samples, place, next: reader.place() });
        let failed = drawn.is_err();
        if maker.send(drawn).is_err() || failed {
            return;
        }
    }
}

fn make(
    making: &Making,
    drawn: &Receiver<Result<Read, TrainingError>>,
    made: &SyncSender<Made>,
    spare: &Mutex<Vec<Batch>>,
) {
    let Making { scales, features, seed, .. } = making;
    for drawn in drawn {
        let ready = drawn.map(|Read { samples, place: ReaderPosition { pool, sample }, next }| {
            let mut batch = spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
            batch.clear();
            // A function of the place, so that a resumed run draws the same.
            let mut coins = seed.map(|seed| Stream::new(Use::TrainingMirror, seed, pool << 32 | sample));
            for sample in &samples {
                let mirrored = coins.as_mut().is_some_and(|coins| coins.below(2) == 1);
                batch.push_image(sample, *features, scales.of(sample), mirrored);
            }
            batch.order_by_stack();
            Ready { drawn: Drawn::Batch(batch), next }
        });
        if made.send(ready).is_err() {
            return;
        }
    }
}
