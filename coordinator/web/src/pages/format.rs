//! Numbers and times for people.

use coordinator_core::clock::{DAY, HOUR, SECOND, Time};

use super::words::{Language, fill};

/// A whole number in groups of three, separated by thin spaces in both languages.
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

/// A number with `places` decimals, and a true minus sign.
pub(crate) fn decimal(number: f64, places: usize) -> String {
    if !number.is_finite() {
        return "–".to_owned();
    }
    stats::Rounded { number, places }.to_string().replace('-', "−")
}

/// A decimal with its sign.
pub(crate) fn signed(number: f64, places: usize) -> String {
    let text = decimal(number, places);
    let is_plain = text.starts_with('−') || text.starts_with('–') || !text.bytes().any(|b| matches!(b, b'1'..=b'9'));
    if is_plain { text } else { format!("+{text}") }
}

/// A large number in short: by thousands in English, by ten thousands in Chinese.
pub(crate) fn short(language: Language, number: i64) -> String {
    const ENGLISH: [(f64, f64, &str); 3] = [(1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")];
    const CHINESE: [(f64, f64, &str); 2] = [(1e8, 1e8, "亿"), (1e4, 1e4, "万")];
    let units: &[_] = if language == Language::Chinese { &CHINESE } else { &ENGLISH };
    let exact = number as f64;
    let unit = units.iter().find(|(min, ..)| exact.abs() >= *min);
    unit.map_or_else(|| self::number(number), |(_, size, name)| format!("{}\u{202f}{name}", decimal(exact / size, 1)))
}

/// A short number for an axis.
pub(crate) fn tick(language: Language, number: i64) -> String {
    short(language, number).replace(".0\u{202f}", "\u{202f}")
}

/// A file's length.
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
    if whole == 0 { "–".to_owned() } else { hundredths(part as f64 / whole as f64) }
}

/// A share from 0 to 1 in percent. 100.0 % and 0.0 % are exact only.
pub(crate) fn hundredths(share: f64) -> String {
    let text = decimal(share * 100.0, 1);
    match text.as_str() {
        "100.0" if share < 1.0 => ">99.9\u{202f}%".to_owned(),
        "0.0" if share > 0.0 => "<0.1\u{202f}%".to_owned(),
        _ => format!("{text}\u{202f}%"),
    }
}

/// A probability in percent, never 0 or 100.
pub(crate) fn likelihood(share: f64) -> String {
    hundredths(share.clamp(1e-9, 1.0 - 1e-9))
}

/// Formats a duration in milliseconds for people.
pub(crate) fn duration(language: Language, milliseconds: i64) -> String {
    let words = &language.words().main;
    match milliseconds.max(0) {
        time if time >= 2 * DAY => fill(words.days, time / DAY),
        time if time >= 2 * HOUR => fill(words.hours, time / HOUR),
        time if time >= 120 * SECOND => fill(words.minutes, time / (60 * SECOND)),
        time => fill(words.seconds, time / SECOND),
    }
}

/// The time since `then`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_by_people() {
        assert_eq!(number(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!((number(-12).as_str(), number(999).as_str()), ("−12", "999"));
        assert_eq!((signed(1.25, 1).as_str(), signed(-0.04, 1).as_str()), ("+1.2", "0.0"));
        assert_eq!(short(Language::English, 12_345_678), "12.3\u{202f}M");
        assert_eq!(short(Language::Chinese, 12_345_678), "1234.6\u{202f}万");
        assert_eq!(short(Language::Chinese, 200_000_000), "2.0\u{202f}亿");
        assert_eq!(
            (short(Language::Chinese, 9_999).as_str(), short(Language::English, 9_999).as_str()),
            ("9\u{202f}999", "9\u{202f}999")
        );
        assert_eq!(percent(1, 0), "–");
        assert_eq!(tick(Language::English, 20_000).as_str(), "20\u{202f}k");
        assert_eq!(
            (tick(Language::Chinese, 25_000).as_str(), tick(Language::Chinese, 10).as_str()),
            ("2.5\u{202f}万", "10")
        );
    }

    #[test]
    fn only_the_whole_is_a_hundred_percent() {
        assert_eq!(
            (percent(9_999_999, 10_000_000).as_str(), percent(5, 5).as_str()),
            (">99.9\u{202f}%", "100.0\u{202f}%")
        );
        assert_eq!((percent(1, 10_000_000).as_str(), percent(0, 5).as_str()), ("<0.1\u{202f}%", "0.0\u{202f}%"));
        assert_eq!(percent(1, 3), "33.3\u{202f}%");
        assert_eq!((likelihood(1.0).as_str(), likelihood(0.0).as_str()), (">99.9\u{202f}%", "<0.1\u{202f}%"));
    }
}
