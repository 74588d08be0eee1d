//! The request to stop an agent.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use client::Clock;

use super::stop_reason::StopReason;

/// Whether a stop was requested. Clones share one flag.
#[derive(Clone, Debug, Default)]
pub struct StopSignal(Arc<AtomicBool>);

/// Polling interval of [`StopSignal::wait`].
const POLL_INTERVAL: Duration = Duration::from_millis(100);

impl StopSignal {
    /// Requests a stop at the next checkpoint. Returns whether it was already requested.
    #[must_use]
    pub fn request(&self) -> bool {
        self.0.swap(true, Ordering::Relaxed)
    }

    /// Whether a stop was requested.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Sleeps for `time`, or until a stop is requested.
    pub(super) fn wait(&self, clock: &dyn Clock, time: Duration) -> Result<(), StopReason> {
        let deadline = clock.now() + time;
        loop {
            if self.is_requested() {
                return Err(StopReason::Requested);
            }
            let left = deadline.saturating_sub(clock.now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(clock.real(left).min(POLL_INTERVAL));
        }
    }
}
