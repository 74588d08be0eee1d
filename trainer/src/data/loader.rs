//! Batches that are made while others are learned from.

use std::{
    sync::mpsc::{self, Receiver, SyncSender},
    thread::{self, JoinHandle},
};

use dataset::training::{Place, Reader, TrainingError};

use super::{DataError, Scales};
use crate::batch::{Batch, Features};

/// How many batches may be ready.
const AHEAD: usize = 2;

/// A batch, and where in the data the next one begins.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The positions.
    pub batch: Batch,
    /// Where a loader goes on that has not made the batches up to this one.
    pub next: Place,
}

/// Makes batches in a thread of its own.
pub struct Loader {
    batches: Option<Receiver<Result<Ready, TrainingError>>>,
    used: SyncSender<Batch>,
    thread: Option<JoinHandle<()>>,
}

impl Loader {
    pub(super) fn new(reader: Reader, scales: Scales, length: usize, features: Features) -> Self {
        let (sender, batches) = mpsc::sync_channel(AHEAD);
        // As many as can be on their way, so that giving one back never waits.
        let (used, returned) = mpsc::sync_channel(AHEAD + 2);
        let thread = thread::spawn(move || make(reader, &scales, length, features, &sender, &returned));
        Self { batches: Some(batches), used, thread: Some(thread) }
    }

    /// The next batch.
    ///
    /// # Errors
    ///
    /// If a shard cannot be read, or a filter leaves nothing.
    ///
    /// # Panics
    ///
    /// If the thread that reads has panicked.
    #[allow(clippy::should_implement_trait, reason = "it never ends, and it can fail")]
    pub fn next(&mut self) -> Result<Ready, DataError> {
        let batches = self.batches.as_ref().expect("they end with the loader");
        Ok(batches.recv().expect("the thread lives as long as the loader")?)
    }

    /// Takes back a batch whose memory can be used again.
    pub fn give_back(&self, batch: Batch) {
        // If there are enough, its memory goes.
        let _ = self.used.try_send(batch);
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        // Without anybody who takes batches the thread ends.
        self.batches = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

fn make(
    mut reader: Reader,
    scales: &Scales,
    length: usize,
    features: Features,
    batches: &SyncSender<Result<Ready, TrainingError>>,
    returned: &Receiver<Batch>,
) {
    let mut samples = Vec::new();
    loop {
        let mut batch = returned.try_recv().unwrap_or_default();
        batch.clear();
        let ready = reader.read(&mut samples, length).map(|()| {
            for sample in &samples {
                batch.push(sample, features, scales.of(sample));
            }
            Ready { batch, next: reader.place() }
        });
        let failed = ready.is_err();
        if batches.send(ready).is_err() || failed {
            return;
        }
    }
}
