//! The clock. All time is read here, so that tests can control it.

use std::{
    env, fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

/// Milliseconds since 1970, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

/// One second in milliseconds.
pub const SECOND: i64 = 1_000;
/// One hour in milliseconds.
pub const HOUR: i64 = 3_600 * SECOND;
/// One day in milliseconds.
pub const DAY: i64 = 24 * HOUR;

impl Time {
    /// Adds milliseconds.
    #[must_use]
    pub const fn after(self, milliseconds: i64) -> Self {
        Self(self.0.saturating_add(milliseconds))
    }

    /// Days since 1970.
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

/// A source of the time.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The system clock.
    System,
    /// The system clock plus the milliseconds in this file.
    Ahead(PathBuf),
    /// A test's clock.
    Set(Arc<AtomicI64>),
}

impl Clock {
    /// The system clock. Debug builds add the offset in the file that `CHUHE_TEST_CLOCK` names.
    #[must_use]
    pub fn of_this_process() -> Self {
        let file = if cfg!(debug_assertions) { env::var_os("CHUHE_TEST_CLOCK") } else { None };
        file.map_or(Self::System, |file| Self::Ahead(file.into()))
    }

    /// A clock that moves only by [`Self::advance`].
    #[must_use]
    pub fn manual(time: Time) -> Self {
        Self::Set(Arc::new(AtomicI64::new(time.0)))
    }

    /// Returns the current time.
    #[must_use]
    pub fn now(&self) -> Time {
        match self {
            Self::System => system_now(),
            Self::Ahead(file) => {
                let ahead = fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok());
                system_now().after(ahead.unwrap_or(0))
            }
            Self::Set(time) => Time(time.load(Ordering::SeqCst)),
        }
    }

    /// The clock to compare with the database's: the system clock only.
    #[must_use]
    pub fn to_compare(&self) -> Option<&Self> {
        Some(self).filter(|clock| matches!(clock, Self::System))
    }

    /// Moves a test's clock; does nothing to the others.
    pub fn advance(&self, milliseconds: i64) {
        if let Self::Set(time) = self {
            time.fetch_add(milliseconds, Ordering::SeqCst);
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "this is the one place that asks")]
fn system_now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Time(since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX)))
}
