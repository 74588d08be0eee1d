//! Hours in which the worker may play.

use std::{fmt, str::FromStr, time::Duration};

const MINUTES_PER_DAY: u32 = 24 * 60;

/// Spans of the day; empty means always.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hours(Vec<Span>);

/// From one minute of the day to another, possibly over midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    from: u32,
    to: u32,
}

/// Error for a text that is not a list of spans.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no hours: they look like `22:00-07:30`, `0-6,12-13` or `always`")]
pub struct ParseHoursError(String);

impl Hours {
    /// Returns whether playing is allowed at this time (since 1970), in the machine's time zone.
    #[must_use]
    pub fn allows(&self, since_1970: Duration) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let Ok(time) = jiff::Timestamp::from_second(since_1970.as_secs().cast_signed()) else { return true };
        let time = time.to_zoned(jiff::tz::TimeZone::system());
        self.allows_at(time.hour().unsigned_abs().into(), time.minute().unsigned_abs().into())
    }

    fn allows_at(&self, hour: u32, minute: u32) -> bool {
        let now = hour * 60 + minute;
        self.0.iter().any(
            |&Span { from, to }| {
                if from < to { (from..to).contains(&now) } else { now >= from || now < to }
            },
        )
    }
}

impl FromStr for Hours {
    type Err = ParseHoursError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || ParseHoursError(text.to_owned());
        let text = text.trim();
        if text == "always" {
            return Ok(Self::default());
        }
        let span = |part: &str| {
            let (from, to) = part.split_once('-')?;
            let (from, to) = (minutes(from)?, minutes(to)?);
            (from != to && from < MINUTES_PER_DAY).then_some(Span { from, to })
        };
        let spans: Option<_> = text.split(',').map(span).collect();
        spans.map(Self).ok_or_else(bad)
    }
}

fn minutes(text: &str) -> Option<u32> {
    let text = text.trim();
    let (hour, minute) = text.split_once(':').unwrap_or((text, "0"));
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u32>().ok())?;
    let (hour, minute) = (number(hour)?, number(minute)?);
    let sum = hour * 60 + minute;
    (hour <= 24 && minute < 60 && sum <= MINUTES_PER_DAY).then_some(sum)
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("always");
        }
        for (index, Span { from, to }) in self.0.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_are_read_and_written() {
        for (text, whole) in [
            ("always", "always"),
            ("22-7", "22:00-07:00"),
            ("22:15-7:05", "22:15-07:05"),
            (" 0-6, 12:30 - 13", "00:00-06:00,12:30-13:00"),
            ("0-24", "00:00-24:00"),
        ] {
            let hours: Hours = text.parse().unwrap();
            assert_eq!(hours.to_string(), whole);
            assert_eq!(whole.parse::<Hours>().unwrap(), hours);
        }
        for bad in ["", "22", "22-22", "25-1", "1-2-3", "1:60-2", "24-3", "-1-3", "1-+3", "a-b", "1-2,"] {
            assert!(bad.parse::<Hours>().is_err(), "{bad}");
        }
    }

    #[test]
    fn spans_may_cross_midnight() {
        let hours: Hours = "22:30-7,12-13".parse().unwrap();
        for (hour, minute, allowed) in [
            (22, 29, false),
            (22, 30, true),
            (0, 0, true),
            (6, 59, true),
            (7, 0, false),
            (12, 59, true),
            (13, 0, false),
        ] {
            assert_eq!(hours.allows_at(hour, minute), allowed, "{hour}:{minute}");
        }
        let whole: Hours = "0-24".parse().unwrap();
        assert!((0..24).all(|hour| whole.allows_at(hour, 30)));
        assert!(Hours::default().allows(Duration::ZERO));
    }
}
