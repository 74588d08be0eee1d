//! Time: how much of it players have, and who measures it.

use std::{fmt, str::FromStr, time::Duration};

/// A clock that somebody at the edge of the program reads.
pub trait Timer: Sync {
    /// The time since some moment in the past, always the same.
    fn now(&self) -> Duration;
}

/// A clock that stands still: nobody loses on time.
#[derive(Clone, Copy, Debug)]
pub struct NoTimer;

impl Timer for NoTimer {
    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

/// What a player may use for its moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeControl {
    /// So many nodes a move, and no clock.
    Nodes(u64),
    /// So much time a move.
    MoveTime(Duration),
    /// So much time for all moves, and some more after each. Without the latter it is sudden death.
    Clock {
        /// The time at the start.
        base: Duration,
        /// What each move adds.
        increment: Duration,
    },
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nodes(nodes) => write!(f, "{nodes} nodes a move"),
            Self::MoveTime(time) => write!(f, "{} s a move", time.as_secs_f64()),
            Self::Clock { base, increment } => write!(f, "{}+{}", base.as_secs_f64(), increment.as_secs_f64()),
        }
    }
}

/// A text that is no clock.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no clock: seconds, or seconds+increment, as in `10+0.1`")]
pub struct ParseTimeControlError {
    text: String,
}

/// Reads a clock: `10+0.1`, or `60` for sudden death. Seconds, down to the millisecond.
impl FromStr for TimeControl {
    type Err = ParseTimeControlError;

    fn from_str(text: &str) -> Result<Self, ParseTimeControlError> {
        let (base, increment) = text.split_once('+').unwrap_or((text, "0"));
        match (seconds(base), seconds(increment)) {
            (Some(base), Some(increment)) if !base.is_zero() => Ok(Self::Clock { base, increment }),
            _ => Err(ParseTimeControlError { text: xiangqi::text::shortened(text) }),
        }
    }
}

fn seconds(text: &str) -> Option<Duration> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && part.is_empty() || whole.len() > 6 || part.len() > 3 || !digits(whole) || !digits(part) {
        return None;
    }
    let number = |text: &str| if text.is_empty() { Ok(0) } else { text.parse::<u64>() };
    Some(Duration::from_millis(number(whole).ok()? * 1000 + number(&format!("{part:0<3}")).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_read_and_written() {
        let read = |text: &str| text.parse::<TimeControl>();
        let clock = |base, increment| {
            let (base, increment) = (Duration::from_millis(base), Duration::from_millis(increment));
            Ok(TimeControl::Clock { base, increment })
        };
        assert_eq!(read("10+0.1"), clock(10_000, 100));
        assert_eq!(read("60"), clock(60_000, 0));
        assert_eq!(read(".5+.005"), clock(500, 5));
        for bad in ["", "+", "0", "0+1", "1+", "-1", "1e3", "1+-1", "1.2345", "1:00", "10+0.1+1", "９", "9999999"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert_eq!(read("10+0.1").unwrap().to_string(), "10+0.1");
        assert_eq!(TimeControl::MoveTime(Duration::from_millis(100)).to_string(), "0.1 s a move");
    }
}
