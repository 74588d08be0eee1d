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

/// A clock that runs normally or stands still, and jumps ahead on demand.
#[derive(Debug)]
pub struct JumpingClock {
    clock: Option<SystemClock>,
    jumped: Mutex<Duration>,
}

impl Default for JumpingClock {
    fn default() -> Self {
        Self { clock: Some(SystemClock::default()), jumped: Mutex::default() }
    }
}

impl JumpingClock {
    /// A clock that stands still between jumps, so that nothing depends on a machine's speed.
    #[must_use]
    pub fn still() -> Self {
        Self { clock: None, jumped: Mutex::default() }
    }

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
        self.clock.map_or(Duration::ZERO, |clock| clock.now()) + self.jumped()
    }

    fn since_1970(&self) -> Duration {
        self.clock.map_or(Duration::ZERO, |clock| clock.since_1970()) + self.jumped()
    }

    fn real(&self, time: Duration) -> Duration {
        time.min(Duration::from_millis(20))
    }
}
