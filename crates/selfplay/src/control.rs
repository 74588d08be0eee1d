//! How others hold up, wind down or end a run that others watch over.

use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering::Relaxed},
};

/// Tells a run to pause, to come to an end, or to stop. Clones talk to the same run.
///
/// It is looked at before each move and each game, not within a search: those of self-play are short. What was asked for
/// once, an end or a stop, holds for ever: another run needs another control.
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<State>);

#[derive(Debug, Default)]
struct State {
    wanted: Mutex<Wanted>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Wanted {
    paused: bool,
    finishing: bool,
    stopped: bool,
}

impl Control {
    /// Holds all threads up before their next moves, where they sleep until [`resume`](Self::resume) or
    /// [`stop`](Self::stop).
    pub fn pause(&self) {
        self.want(|wanted| wanted.paused = true);
    }

    /// Goes on after a pause.
    pub fn resume(&self) {
        self.want(|wanted| wanted.paused = false);
    }

    /// Begins no more games. Those at hand are played to their end (after the pause, in a pause) and handed over.
    pub fn finish(&self) {
        self.want(|wanted| wanted.finishing = true);
    }

    /// Abandons the games at hand. Of those that are finished only what comes before them is still handed over.
    pub fn stop(&self) {
        self.want(|wanted| wanted.stopped = true);
    }

    /// Whether the run pauses, or soon will.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.wanted().paused
    }

    /// Whether no more games are begun.
    #[must_use]
    pub fn is_finishing(&self) -> bool {
        let wanted = self.wanted();
        wanted.finishing || wanted.stopped
    }

    /// Whether the games at hand are abandoned.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.wanted().stopped
    }

    fn wanted(&self) -> MutexGuard<'_, Wanted> {
        self.0.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn want(&self, change: impl FnOnce(&mut Wanted)) {
        change(&mut self.wanted());
        self.0.changed.notify_all();
    }
}

/// Whether a thread may go on with its work: its run's control, and whether anybody still wants what comes of it.
pub(crate) struct Leave<'a> {
    control: &'a Control,
    /// Nobody wants more: the receiver has enough or failed.
    unwanted: AtomicBool,
}

impl<'a> Leave<'a> {
    pub(crate) const fn new(control: &'a Control) -> Self {
        Self { control, unwanted: AtomicBool::new(false) }
    }

    /// Nobody wants more. Whoever sleeps in a pause wakes up to hear it.
    pub(crate) fn take(&self) {
        self.control.want(|_| self.unwanted.store(true, Relaxed));
    }

    /// Set once nobody wants more.
    pub(crate) const fn unwanted(&self) -> &AtomicBool {
        &self.unwanted
    }

    /// Whether a game at hand goes on; sleeps as long as there is a pause.
    pub(crate) fn goes_on(&self) -> bool {
        !self.after_pause(|_| false).stopped && !self.unwanted.load(Relaxed)
    }

    /// Whether a game may be begun; sleeps as long as there is a pause.
    pub(crate) fn begins(&self) -> bool {
        let wanted = self.after_pause(|wanted| wanted.finishing);
        !wanted.finishing && !wanted.stopped && !self.unwanted.load(Relaxed)
    }

    fn after_pause(&self, enough: impl Fn(&Wanted) -> bool) -> MutexGuard<'a, Wanted> {
        let pausing =
            |wanted: &mut Wanted| wanted.paused && !wanted.stopped && !self.unwanted.load(Relaxed) && !enough(wanted);
        self.control.0.changed.wait_while(self.control.wanted(), pausing).unwrap_or_else(PoisonError::into_inner)
    }
}
