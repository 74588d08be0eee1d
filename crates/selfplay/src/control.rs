//! Control of running games: pause, finish, stop.

use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering::Relaxed},
};

/// Control of a run: pause, finish or stop. Clones share it.
///
/// It is checked before each move and each game, not within a search, as those of self-play are
/// short. Finish and stop are permanent: another run needs another control.
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<State>);

#[derive(Debug, Default)]
struct State {
    requests: Mutex<Requests>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Requests {
    paused: bool,
    finishing: bool,
    stopped: bool,
}

impl Control {
    /// Pauses all threads before their next moves, until [`resume`](Self::resume) or
    /// [`stop`](Self::stop).
    pub fn pause(&self) {
        self.update(|requests| requests.paused = true);
    }

    /// Resumes after a pause.
    pub fn resume(&self) {
        self.update(|requests| requests.paused = false);
    }

    /// Graceful shutdown: starts no more games. Running games are finished, after a pause if any,
    /// and handed over.
    pub fn finish(&self) {
        self.update(|requests| requests.finishing = true);
    }

    /// Aborts the running games. Finished games are handed over up to the first aborted one.
    pub fn stop(&self) {
        self.update(|requests| requests.stopped = true);
    }

    /// Whether a pause was requested.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.requests().paused
    }

    /// Whether no more games are started.
    #[must_use]
    pub fn is_finishing(&self) -> bool {
        let requests = self.requests();
        requests.finishing || requests.stopped
    }

    /// Whether the running games are aborted.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.requests().stopped
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.0.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update(&self, change: impl FnOnce(&mut Requests)) {
        change(&mut self.requests());
        self.0.changed.notify_all();
    }
}

/// The cancellation token of a thread: the run's control, and a flag that the receiver needs no
/// more results.
pub(crate) struct CancelToken<'a> {
    control: &'a Control,
    /// Set when the receiver is done or has failed.
    cancelled: AtomicBool,
}

impl<'a> CancelToken<'a> {
    pub(crate) const fn new(control: &'a Control) -> Self {
        Self { control, cancelled: AtomicBool::new(false) }
    }

    /// Cancels the work, and wakes paused threads.
    pub(crate) fn cancel(&self) {
        self.control.update(|_| self.cancelled.store(true, Relaxed));
    }

    /// The flag set by [`cancel`](Self::cancel).
    pub(crate) const fn cancelled(&self) -> &AtomicBool {
        &self.cancelled
    }

    /// Whether to continue a running game; blocks during a pause.
    pub(crate) fn should_continue(&self) -> bool {
        !self.wait_while_paused(|_| false).stopped && !self.cancelled.load(Relaxed)
    }

    /// Whether to start another game; blocks during a pause.
    pub(crate) fn may_start(&self) -> bool {
        let requests = self.wait_while_paused(|requests| requests.finishing);
        !requests.finishing && !requests.stopped && !self.cancelled.load(Relaxed)
    }

    fn wait_while_paused(&self, wakes: impl Fn(&Requests) -> bool) -> MutexGuard<'a, Requests> {
        let pausing = |requests: &mut Requests| {
            requests.paused && !requests.stopped && !self.cancelled.load(Relaxed) && !wakes(requests)
        };
        self.control.0.changed.wait_while(self.control.requests(), pausing).unwrap_or_else(PoisonError::into_inner)
    }
}
