//! The lease of a training, kept alive by a heartbeat thread until it is dropped or lost.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

use client::{Backoff, Client, JitterRng};
use protocol::api::{problem::Code, training::Progress};

use super::{stop_reason::StopReason, stop_signal::StopSignal};

/// Heartbeat interval.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(30);

/// The lease of a training. Heartbeats end when it is dropped.
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
    /// Why the lease is lost.
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
        let shared_with_thread = Arc::clone(&shared);
        let thread = thread::spawn(move || send_heartbeats(&client, &training, &shared_with_thread));
        Self { shared, thread: Some(thread) }
    }

    /// Sets the planned number of steps.
    pub(super) fn set_steps(&self, steps: u64) {
        self.shared.state().progress.steps = steps;
    }

    /// Sets the progress of the next heartbeat.
    pub(super) fn set_progress(&self, progress: Progress) {
        self.shared.state().progress = progress;
    }

    /// Whether the lease is lost.
    pub(super) fn is_lost(&self) -> bool {
        self.shared.state().lost.is_some()
    }

    /// Fails if the lease is lost or a stop is requested.
    pub(super) fn check(&self, stop: &StopSignal) -> Result<(), StopReason> {
        if let Some(why) = self.shared.state().lost.clone() {
            return Err(StopReason::LeaseLost(why));
        }
        if stop.is_requested() { Err(StopReason::Requested) } else { Ok(()) }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.shared.state().is_over = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panicked thread sends no more heartbeats; nothing else depends on it.
            let _ = thread.join();
        }
    }
}

fn send_heartbeats(client: &Client, training: &str, shared: &Shared) {
    let mut backoff =
        Backoff::new(Duration::from_secs(2), HEARTBEAT_INTERVAL, JitterRng::new(getrandom::u64().unwrap_or_default()));
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
                HEARTBEAT_INTERVAL
            }
            // The coordinator may return at any time; meanwhile training continues.
            Err(error) if error.is_transient() => backoff.after_failure(error.retry_after()),
            Err(error) => {
                // Rejected figures alone do not end the training.
                if error.code() == Some(Code::Invalid) {
                    HEARTBEAT_INTERVAL
                } else {
                    shared.state().lost = Some(error.to_string());
                    return;
                }
            }
        };
    }
}
