//! A training at hand: a thread shows the coordinator that it gets on, until it is over or lost.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

use client::{Backoff, Client, Dice};
use protocol::api::{problem::Code, training::Progress};

use super::{halt::Halt, wish::Wish};

/// So often progress is shown.
const PERIOD: Duration = Duration::from_secs(30);

/// A training at hand; shown until it is dropped.
pub(super) struct Lease {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    progress: Progress,
    is_over: bool,
    /// Why it is lost.
    lost: Option<String>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lease {
    pub(super) fn begin(client: Client, training: String) -> Self {
        let progress = Progress { step: 0, steps: 0, loss: None, validation_loss: None, positions_per_second: None };
        let state = Mutex::new(State { progress, is_over: false, lost: None });
        let shared = Arc::new(Shared { state, changed: Condvar::new() });
        let theirs = Arc::clone(&shared);
        let thread = thread::spawn(move || show(&client, &training, &theirs));
        Self { shared, thread: Some(thread) }
    }

    /// How many steps there are to make.
    pub(super) fn is_to_make(&self, steps: u64) {
        self.shared.state().progress.steps = steps;
    }

    /// How far it is.
    pub(super) fn set(&self, progress: Progress) {
        self.shared.state().progress = progress;
    }

    /// Whether somebody else has it now.
    pub(super) fn is_lost(&self) -> bool {
        self.shared.state().lost.is_some()
    }

    /// Refuses to go on with a training that is lost, or when somebody wants to end.
    pub(super) fn check(&self, wish: &Wish) -> Result<(), Halt> {
        if let Some(why) = self.shared.state().lost.clone() {
            return Err(Halt::Lost(why));
        }
        if wish.is_stop() { Err(Halt::Stopped) } else { Ok(()) }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.shared.state().is_over = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // One that panicked showed nothing more; that is all.
            let _ = thread.join();
        }
    }
}

fn show(client: &Client, training: &str, shared: &Shared) {
    let mut backoff = Backoff::new(Duration::from_secs(2), PERIOD, Dice::new(getrandom::u64().unwrap_or_default()));
    let mut wait = Duration::ZERO;
    loop {
        let state = shared.state();
        let waited = shared.changed.wait_timeout_while(state, wait, |state| !state.is_over);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.is_over {
            return;
        }
        let progress = state.progress;
        drop(state);
        wait = match client.progress(training, &progress) {
            Ok(_) => {
                backoff.reset();
                PERIOD
            }
            // The coordinator may be back at any moment; what is learned meanwhile is not lost.
            Err(error) if error.may_pass() => backoff.after_failure(error.again_after()),
            Err(error) => {
                // A refusal of the figures alone is no reason to stop.
                if error.code() == Some(Code::Invalid) {
                    PERIOD
                } else {
                    shared.state().lost = Some(error.to_string());
                    return;
                }
            }
        };
    }
}
