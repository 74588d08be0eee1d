//! Prefetching: a thread makes batches while others are trained on.

use std::{
    sync::mpsc::{self, Receiver, SyncSender},
    thread::{self, JoinHandle},
};

use dataset::{
    random::{Stream, Use},
    training::{Reader, ReaderPosition, TrainingError},
};

use super::{DataError, Scales};
use crate::batch::{Batch, Features};

/// Batches that are prefetched.
const PREFETCHED_BATCHES: usize = 2;

/// A batch, and the place of the next one in the data.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The positions.
    pub batch: Batch,
    /// The place from which a loader resumes after this batch.
    pub next: ReaderPosition,
}

/// A loader, which makes batches in a thread of its own.
pub struct Loader {
    batches: Option<Receiver<Result<Ready, TrainingError>>>,
    used: SyncSender<Batch>,
    thread: Option<JoinHandle<()>>,
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
    pub(super) fn new(reader: Reader, making: Making) -> Self {
        let (sender, batches) = mpsc::sync_channel(PREFETCHED_BATCHES);
        // Capacity for all batches in flight, so that recycling never blocks.
        let (used, returned) = mpsc::sync_channel(PREFETCHED_BATCHES + 2);
        let thread = thread::spawn(move || make(reader, &making, &sender, &returned));
        Self { batches: Some(batches), used, thread: Some(thread) }
    }

    /// Returns the next batch.
    ///
    /// # Errors
    ///
    /// If a shard cannot be read, or a filter leaves nothing.
    ///
    /// # Panics
    ///
    /// If the reading thread has panicked.
    #[allow(clippy::should_implement_trait, reason = "it never ends, and it can fail")]
    pub fn next(&mut self) -> Result<Ready, DataError> {
        let batches = self.batches.as_ref().expect("they end with the loader");
        Ok(batches.recv().expect("the thread lives as long as the loader")?)
    }

    /// Recycles the memory of a batch.
    pub fn recycle(&self, batch: Batch) {
        // With enough spare batches the memory is freed.
        let _ = self.used.try_send(batch);
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        // Without a receiver the thread ends.
        self.batches = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed.
            let _ = thread.join();
        }
    }
}

fn make(
    mut reader: Reader,
    making: &Making,
    batches: &SyncSender<Result<Ready, TrainingError>>,
    returned: &Receiver<Batch>,
) {
    let Making { scales, length, features, seed } = making;
    let mut samples = Vec::new();
    loop {
        let mut batch = returned.try_recv().unwrap_or_default();
        batch.clear();
        let ReaderPosition { pool, sample } = reader.place();
        // A function of the place, so that a resumed run draws the same.
        let mut coins = seed.map(|seed| Stream::new(Use::TrainingMirror, seed, pool << 32 | sample));
        let ready = reader.read(&mut samples, *length).map(|()| {
            for sample in &samples {
                let mirrored = coins.as_mut().is_some_and(|coins| coins.below(2) == 1);
                batch.push_image(sample, *features, scales.of(sample), mirrored);
            }
            batch.order_by_stack();
            Ready { batch, next: reader.place() }
        });
        let failed = ready.is_err();
        if batches.send(ready).is_err() || failed {
            return;
        }
    }
}
