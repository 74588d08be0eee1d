//! The wall clock.

use std::time::{Duration, Instant};

use crate::limits::Clock;

/// A clock that runs from its creation.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts a clock.
    #[must_use]
    #[allow(clippy::disallowed_methods, reason = "the program's edge: time controls need the clock")]
    pub fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for Stopwatch {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
