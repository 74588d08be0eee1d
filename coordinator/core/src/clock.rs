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

    /// The time (UTC) for people, as `2027-01-15 08:00`.
    #[must_use]
    pub fn to_text(self) -> String {
        let minutes = self.0.rem_euclid(DAY) / (60 * SECOND);
        format!("{} {:02}:{:02}", date(self.day()), minutes / 60, minutes % 60)
    }

    /// Whole seconds since 1970.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(SECOND)
    }
}

/// A day since 1970 as `2027-01-15`: Hinnant's days to civil.
#[must_use]
pub fn date(day: i64) -> String {
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        for (day, text) in [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_833, "2027-01-15")] {
            assert_eq!(date(day), text);
        }
        assert_eq!(Time(1_800_000_000_000).to_text(), "2027-01-15 08:00");
    }
}
