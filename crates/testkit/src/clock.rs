//! Time that passes faster.

use std::time::Duration;

use client::{Clock, SystemClock};

/// A clock on which so many seconds pass in one.
#[derive(Clone, Copy, Debug)]
pub struct FastClock {
    clock: SystemClock,
    began: Duration,
    times: u32,
}

impl FastClock {
    /// A clock that runs so many times as fast.
    #[must_use]
    pub fn new(times: u32) -> Self {
        let clock = SystemClock::default();
        Self { clock, began: clock.since_1970(), times: times.max(1) }
    }
}

impl Clock for FastClock {
    fn now(&self) -> Duration {
        self.clock.now() * self.times
    }

    fn since_1970(&self) -> Duration {
        self.began + self.now()
    }

    fn real(&self, time: Duration) -> Duration {
        time / self.times
    }
}
