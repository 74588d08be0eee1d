//! The time, as it is handed to those who wait.

use std::time::{Duration, Instant, SystemTime};

/// A clock. Tests have some that run faster.
pub trait Clock: Send + Sync {
    /// The time since some moment. It never goes back.
    fn now(&self) -> Duration;

    /// The time since 1970, which people may set.
    fn since_1970(&self) -> Duration;

    /// How long one must really sleep until this time has passed here.
    fn real(&self, time: Duration) -> Duration {
        time
    }
}

/// The machine's clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock(Instant);

#[allow(clippy::disallowed_methods, reason = "this is the edge: whoever waits is handed a clock")]
impl Default for SystemClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

#[allow(clippy::disallowed_methods, reason = "this is the edge: whoever waits is handed a clock")]
impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn since_1970(&self) -> Duration {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
    }
}
