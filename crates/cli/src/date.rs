//! The current date, for the headers of game records. No result depends on it.

use std::time::{SystemTime, UNIX_EPOCH};

/// The current time in UTC as PGN writes it: `2026.11.21` and `00:29:58`.
#[allow(clippy::disallowed_methods, reason = "this is the edge: records say when they were made")]
pub(crate) fn now() -> (String, String) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    at(since.as_secs())
}

fn at(seconds: u64) -> (String, String) {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years start in March, so that the leap day comes last; eras of 400 years are alike.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = 400 * era + year + next;
    (format!("{year:04}.{month:02}.{day:02}"), format!("{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60))
}

#[cfg(test)]
mod tests {
    use super::at;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // From `date -u -d @…`.
        let known = [
            (0, "1970.01.01", "00:00:00"),
            (951_782_399, "2000.02.28", "23:59:59"),
            (951_782_400, "2000.02.29", "00:00:00"),
            (951_868_800, "2000.03.01", "00:00:00"),
            (1_735_689_599, "2024.12.31", "23:59:59"),
            (4_107_542_400, "2100.03.01", "00:00:00"),
        ];
        for (seconds, date, time) in known {
            assert_eq!(at(seconds), (date.to_owned(), time.to_owned()));
        }
    }
}
