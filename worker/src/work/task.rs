//! Tasks of game threads.

use std::{sync::Arc, time::Duration};

use dataset::Header;
use selfplay::selfplay::{Finished, Run};

use super::job::Job;

/// One game to be played.
pub(crate) struct GameTask {
    pub(crate) job: String,
    pub(crate) number: u64,
    pub(crate) terms: Arc<Header>,
    pub(crate) run: Arc<Run>,
    /// The lease's token, if the game is watched.
    pub(crate) watched: Option<String>,
}

impl GameTask {
    /// Starts the next game of a lease for the thread in this slot, if there is one.
    pub(super) fn start(job: &mut Job, slot: usize) -> Option<Self> {
        if slot >= job.thread_slots {
            return None;
        }
        let run = Arc::clone(job.run.as_ref()?);
        let number = job.open.pop_first()?;
        job.at_hand.insert(number);
        let watched = job.lease.live.then(|| job.lease.token.clone());
        Some(Self { job: job.name.clone(), number, terms: Arc::clone(&job.terms), run, watched })
    }
}

/// The result of one task.
#[allow(clippy::large_enum_variant, reason = "one is made at a time")]
pub(crate) enum TaskOutcome {
    Finished {
        game: Finished,
        /// The game as it is stored.
        encoded: Vec<u8>,
        took: Duration,
    },
    /// Dropped: it is no longer wanted.
    Dropped,
    /// It cannot be played.
    Failed,
}
