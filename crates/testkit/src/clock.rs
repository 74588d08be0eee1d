//! Clocks that run faster.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use client::{Clock, SystemClock};

/// A clock that runs a number of times as fast.
#[derive(Clone, Copy, Debug)]
pub struct FastClock {
    clock: SystemClock,
    began: Duration,
    times: u32,
}

impl FastClock {
    /// A clock that runs `times` times as fast.
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

/// A clock that runs normally, and jumps ahead on demand.
#[derive(Debug, Default)]
pub struct JumpingClock {
    clock: SystemClock,
    jumped: Mutex<Duration>,
}

impl JumpingClock {
    /// Advances the clock at once. Waiting code notices within some hundredths of a second.
    pub fn jump(&self, time: Duration) {
        *self.jumped.lock().unwrap_or_else(PoisonError::into_inner) += time;
    }

    fn jumped(&self) -> Duration {
        *self.jumped.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for JumpingClock {
    fn now(&self) -> Duration {
        self.clock.now() + self.jumped()
    }

    fn since_1970(&self) -> Duration {
        self.clock.since_1970() + self.jumped()
    }

    fn real(&self, time: Duration) -> Duration {
        time.min(Duration::from_millis(20))
    }
}
