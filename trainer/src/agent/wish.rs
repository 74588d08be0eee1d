//! Somebody wants the agent to end.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use client::Clock;

use super::halt::Halt;

/// Whether somebody wants the agent to end. Clones are of the same wish.
#[derive(Clone, Debug, Default)]
pub struct Wish(Arc<AtomicBool>);

/// Who waits looks up so often.
const NAP: Duration = Duration::from_millis(100);

impl Wish {
    /// Asks the agent to end at the next checkpoint; whether that was asked before.
    #[must_use]
    pub fn stop(&self) -> bool {
        self.0.swap(true, Ordering::Relaxed)
    }

    /// Whether it shall end.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Waits, unless somebody wants it to end.
    pub(super) fn wait(&self, clock: &dyn Clock, time: Duration) -> Result<(), Halt> {
        let until = clock.now() + time;
        loop {
            if self.is_stop() {
                return Err(Halt::Stopped);
            }
            let left = until.saturating_sub(clock.now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(clock.real(left).min(NAP));
        }
    }
}
