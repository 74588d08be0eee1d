//! Numbers and times for people.

use super::words::{Language, fill};
use crate::clock::{DAY, HOUR, SECOND, Time};

/// A whole number, in groups of three: a thin space holds them together in both languages.
pub(crate) fn number(number: impl Into<i64>) -> String {
    let number = number.into();
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    if number < 0 { format!("−{text}") } else { text }
}

/// A number with so many digits after the point; a minus is a minus.
pub(crate) fn decimal(number: f64, places: usize) -> String {
    if !number.is_finite() {
        return "–".to_owned();
    }
    stats::Rounded { number, places }.to_string().replace('-', "−")
}

/// The same with a sign in any case.
pub(crate) fn signed(number: f64, places: usize) -> String {
    let text = decimal(number, places);
    let is_plain = text.starts_with('−') || text.starts_with('–') || !text.bytes().any(|b| matches!(b, b'1'..=b'9'));
    if is_plain { text } else { format!("+{text}") }
}

/// A large number in few letters.
pub(crate) fn short(number: i64) -> String {
    let number = number as f64;
    match number.abs() {
        size if size >= 1e9 => format!("{}\u{202f}G", decimal(number / 1e9, 1)),
        size if size >= 1e6 => format!("{}\u{202f}M", decimal(number / 1e6, 1)),
        size if size >= 1e4 => format!("{}\u{202f}k", decimal(number / 1e3, 1)),
        _ => self::number(number as i64),
    }
}

/// A length of a file.
pub(crate) fn bytes(bytes: i64) -> String {
    let size = bytes as f64;
    match size {
        _ if size >= 1e9 => format!("{}\u{202f}GB", decimal(size / 1e9, 1)),
        _ if size >= 1e6 => format!("{}\u{202f}MB", decimal(size / 1e6, 1)),
        _ if size >= 1e3 => format!("{}\u{202f}kB", decimal(size / 1e3, 1)),
        _ => format!("{bytes}\u{202f}B"),
    }
}

/// A share, in percent.
pub(crate) fn percent(part: i64, whole: i64) -> String {
    if whole == 0 { "–".to_owned() } else { format!("{}\u{202f}%", decimal(100.0 * part as f64 / whole as f64, 1)) }
}

/// How long something takes.
pub(crate) fn duration(language: Language, milliseconds: i64) -> String {
    let words = &language.words().main;
    match milliseconds.max(0) {
        time if time >= 2 * DAY => fill(words.days, time / DAY),
        time if time >= 2 * HOUR => fill(words.hours, time / HOUR),
        time if time >= 120 * SECOND => fill(words.minutes, time / (60 * SECOND)),
        time => fill(words.seconds, time / SECOND),
    }
}

/// How long ago something was.
pub(crate) fn ago(language: Language, now: Time, then: i64) -> String {
    let words = &language.words().main;
    match (now.0 - then).max(0) {
        time if time >= 2 * DAY => fill(words.day_ago, time / DAY),
        time if time >= 2 * HOUR => fill(words.hour_ago, time / HOUR),
        time if time >= 120 * SECOND => fill(words.minute_ago, time / (60 * SECOND)),
        time if time >= 5 * SECOND => fill(words.second_ago, time / SECOND),
        _ => words.now.to_owned(),
    }
}

/// A time (UTC), as `2027-01-15 08:00`.
pub(crate) fn time(milliseconds: i64) -> String {
    let (date, rest) = (date(milliseconds.div_euclid(DAY)), milliseconds.rem_euclid(DAY) / (60 * SECOND));
    format!("{date} {:02}:{:02}", rest / 60, rest % 60)
}

/// A day since 1970 as `2027-01-15`: Hinnant's days to civil.
pub(crate) fn date(day: i64) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_by_people() {
        assert_eq!(number(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!((number(-12).as_str(), number(999).as_str()), ("−12", "999"));
        assert_eq!((signed(1.25, 1).as_str(), signed(-0.04, 1).as_str()), ("+1.2", "0.0"));
        assert_eq!(short(12_345_678), "12.3\u{202f}M");
        assert_eq!(percent(1, 0), "–");
    }

    #[test]
    fn days_have_dates() {
        for (day, text) in [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_833, "2027-01-15")] {
            assert_eq!(date(day), text);
        }
        assert_eq!(time(1_800_000_000_000), "2027-01-15 08:00");
    }
}
