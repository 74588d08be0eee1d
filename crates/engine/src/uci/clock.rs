//! The clock of those who play by it.

use std::time::{Duration, Instant};

use crate::limits::Clock;

/// A clock that runs from when it was made.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts one.
    #[must_use]
    #[allow(clippy::disallowed_methods, reason = "this is the edge: whoever plays by the clock must read it")]
    pub fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for Stopwatch {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
