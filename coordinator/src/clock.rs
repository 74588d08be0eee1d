//! The time. Nothing asks a database or a processor for it but what is here, so that tests can say it.

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
    /// The machine, ahead of its time by as many milliseconds as the file says.
    Ahead(PathBuf),
    /// A test.
    Set(Arc<AtomicI64>),
}

impl Clock {
    /// The machine's; in a program built for tests, ahead of it by what the file says that `CHUHE_TEST_CLOCK` names.
    #[must_use]
    pub fn of_this_process() -> Self {
        let file = if cfg!(debug_assertions) { env::var_os("CHUHE_TEST_CLOCK") } else { None };
        file.map_or(Self::System, |file| Self::Ahead(file.into()))
    }

    /// A clock that stands until it is set.
    #[must_use]
    pub fn standing(time: Time) -> Self {
        Self::Set(Arc::new(AtomicI64::new(time.0)))
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Time {
        match self {
            Self::System => of_the_machine(),
            Self::Ahead(file) => {
                let ahead = fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok());
                of_the_machine().after(ahead.unwrap_or(0))
            }
            Self::Set(time) => Time(time.load(Ordering::SeqCst)),
        }
    }

    /// What a database's clock is held against: the machine's, and no test's.
    #[must_use]
    pub fn to_compare(&self) -> Option<&Self> {
        Some(self).filter(|clock| matches!(clock, Self::System))
    }

    /// Moves a clock that stands; the others go on as they do.
    pub fn advance(&self, milliseconds: i64) {
        if let Self::Set(time) = self {
            time.fetch_add(milliseconds, Ordering::SeqCst);
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "this is the one place that asks")]
fn of_the_machine() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Time(since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX)))
}
