//! The time. Nothing asks a database or a processor for it but what is here, so that tests can say it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

/// Milliseconds since 1970, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

/// A second.
pub const SECOND: i64 = 1_000;
/// An hour.
pub const HOUR: i64 = 3_600 * SECOND;
/// A day.
pub const DAY: i64 = 24 * HOUR;

impl Time {
    /// So many milliseconds later.
    #[must_use]
    pub const fn after(self, milliseconds: i64) -> Self {
        Self(self.0.saturating_add(milliseconds))
    }

    /// The number of the day.
    #[must_use]
    pub const fn day(self) -> i64 {
        self.0.div_euclid(DAY)
    }

    /// Whole seconds since 1970.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(SECOND)
    }
}

/// Who says what time it is.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The machine.
    System,
    /// A test.
    Set(Arc<AtomicI64>),
}

impl Clock {
    /// A clock that stands until it is set.
    #[must_use]
    pub fn standing(time: Time) -> Self {
        Self::Set(Arc::new(AtomicI64::new(time.0)))
    }

    /// The time.
    #[must_use]
    #[allow(clippy::disallowed_methods, reason = "this is the one place that asks")]
    pub fn now(&self) -> Time {
        match self {
            Self::System => Time(
                SystemTime::now()
                    .duration_since(UNIX_EPOCH)
                    .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX)),
            ),
            Self::Set(time) => Time(time.load(Ordering::SeqCst)),
        }
    }

    /// Moves a clock that stands; the machine's goes on as it does.
    pub fn advance(&self, milliseconds: i64) {
        if let Self::Set(time) = self {
            time.fetch_add(milliseconds, Ordering::SeqCst);
        }
    }
}
