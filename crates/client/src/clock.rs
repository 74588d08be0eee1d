//! The clock that waiting code is given.

use std::time::{Duration, Instant, SystemTime};

/// A clock. Tests use faster ones.
pub trait Clock: Send + Sync {
    /// The monotonic time since an arbitrary instant.
    fn now(&self) -> Duration;

    /// The wall-clock time since 1970, which users may set.
    fn since_1970(&self) -> Duration;

    /// Returns the real duration of a sleep in which `time` passes on this clock.
    fn real(&self, time: Duration) -> Duration {
        time
    }
}

/// The system's clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock(Instant);

#[allow(clippy::disallowed_methods, reason = "this is the edge: waiting code is given a clock")]
impl Default for SystemClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

#[allow(clippy::disallowed_methods, reason = "this is the edge: waiting code is given a clock")]
impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn since_1970(&self) -> Duration {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
    }
}
