//! Monitor: a state behind a mutex, and a condition variable on which threads wait for its changes.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use client::Clock;

/// Waiting threads look at least this often, whatever the clock says.
const MAX_SLEEP: Duration = Duration::from_mins(1);

/// A state that threads share. No file is read or written under its lock.
pub(crate) struct Monitor<T> {
    state: Mutex<T>,
    condvar: Condvar,
    clock: Arc<dyn Clock>,
}

impl<T> Monitor<T> {
    pub(crate) fn new(state: T, clock: Arc<dyn Clock>) -> Self {
        Self { state: Mutex::new(state), condvar: Condvar::new(), clock }
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Reads the state.
    pub(crate) fn read<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        read(&self.lock())
    }

    /// Updates the state and wakes all waiting threads.
    pub(crate) fn update<R>(&self, update: impl FnOnce(&mut T) -> R) -> R {
        let result = update(&mut self.lock());
        self.condvar.notify_all();
        result
    }

    /// Waits until the condition holds or the timeout expires.
    pub(crate) fn wait(&self, timeout: Duration, mut until: impl FnMut(&T) -> bool) {
        self.take(timeout, |state| until(state).then_some(()));
    }

    /// Waits until there is something to take, or the timeout expires.
    pub(crate) fn take<R>(&self, timeout: Duration, mut take: impl FnMut(&mut T) -> Option<R>) -> Option<R> {
        let end = self.clock.now().saturating_add(timeout);
        let mut state = self.lock();
        loop {
            if let Some(taken) = take(&mut state) {
                drop(state);
                self.condvar.notify_all();
                return Some(taken);
            }
            let left = end.saturating_sub(self.clock.now());
            if left.is_zero() {
                return None;
            }
            let sleep = self.clock.real(left).min(MAX_SLEEP);
            state = self.condvar.wait_timeout(state, sleep).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, T> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
