//! The clock, for commands that report a speed. No result depends on it.

use std::time::{Duration, Instant};

/// Runs `work` and measures its time.
#[allow(clippy::disallowed_methods, reason = "this is the edge: a speed is reported, nothing depends on it")]
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

/// Items per second, as a whole number; 0 if the time is too short to measure.
pub(crate) fn rate(count: u64, time: Duration) -> u64 {
    if time.is_zero() { 0 } else { (count as f64 / time.as_secs_f64()) as u64 }
}

/// A clock that starts when it is created.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

#[allow(clippy::disallowed_methods, reason = "this is the edge: games under time need the time")]
impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }
}

#[allow(clippy::disallowed_methods, reason = "this is the edge: games under time need the time")]
impl selfplay::Timer for Stopwatch {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}
