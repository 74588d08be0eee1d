//! A gate at which threads wait, to hold back a disk or a server.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A gate, open at first.
#[derive(Debug, Default)]
pub struct Gate {
    state: Mutex<State>,
    condvar: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_closed: bool,
    waiting: usize,
}

impl Gate {
    /// Opens the gate.
    pub fn open(&self) {
        self.lock().is_closed = false;
        self.condvar.notify_all();
    }

    /// Closes the gate.
    pub fn close(&self) {
        self.lock().is_closed = true;
    }

    /// Passes the gate as soon as it is open.
    pub fn pass(&self) {
        let mut state = self.lock();
        state.waiting += 1;
        let mut state = self.condvar.wait_while(state, |state| state.is_closed).unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
    }

    /// Returns the number of threads that wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.lock().waiting
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
