//! Clocks: what players may use for their moves where time is measured and nodes are not counted.
//!
//! Nobody can play such a game again and get the same: it is a function of the machine and of what else ran on it.
//! So it is no training data, and proves nothing to whoever does not trust the player.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// What both players of a match under time may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// How much.
    pub time: Time,
    /// How much more they may use before they lose: for each move, or where the time is one for all moves, for all of
    /// them together.
    #[serde(default)]
    pub grace_milliseconds: u32,
}

/// How much time a player has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Time {
    /// So much a move.
    Move {
        /// The time.
        milliseconds: u32,
    },
    /// So much for all moves, and some more after each. Without the latter it is sudden death.
    Game {
        /// The time at the start.
        base_milliseconds: u32,
        /// What each move adds.
        #[serde(default)]
        increment_milliseconds: u32,
    },
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |milliseconds: u32| f64::from(milliseconds) / 1_000.0;
        match *self {
            Self::Move { milliseconds } => write!(f, "{} s a move", seconds(milliseconds)),
            Self::Game { base_milliseconds, increment_milliseconds } => {
                write!(f, "{}+{}", seconds(base_milliseconds), seconds(increment_milliseconds))
            }
        }
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, grace {} ms", self.time, self.grace_milliseconds)
    }
}

/// A text that is no clock.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no clock: seconds, or seconds+increment, as in `10+0.1`")]
pub struct ParseTimeControlError {
    text: String,
}

/// Reads a clock for all moves: `10+0.1`, or `60` for sudden death. Seconds, down to the millisecond.
impl FromStr for Time {
    type Err = ParseTimeControlError;

    fn from_str(text: &str) -> Result<Self, ParseTimeControlError> {
        let (base, increment) = text.split_once('+').unwrap_or((text, "0"));
        match (milliseconds(base), milliseconds(increment)) {
            (Some(base_milliseconds), Some(increment_milliseconds)) if base_milliseconds > 0 => {
                Ok(Self::Game { base_milliseconds, increment_milliseconds })
            }
            _ => Err(ParseTimeControlError { text: xiangqi::text::shortened(text) }),
        }
    }
}

fn milliseconds(text: &str) -> Option<u32> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && part.is_empty() || whole.len() > 6 || part.len() > 3 || !digits(whole) || !digits(part) {
        return None;
    }
    let number = |text: &str| if text.is_empty() { Ok(0) } else { text.parse::<u32>() };
    Some(number(whole).ok()? * 1_000 + number(&format!("{part:0<3}")).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_read_and_written() {
        let read = |text: &str| text.parse::<Time>();
        let game =
            |base_milliseconds, increment_milliseconds| Ok(Time::Game { base_milliseconds, increment_milliseconds });
        assert_eq!(read("10+0.1"), game(10_000, 100));
        assert_eq!(read("60"), game(60_000, 0));
        assert_eq!(read(".5+.005"), game(500, 5));
        for bad in ["", "+", "0", "0+1", "1+", "-1", "1e3", "1+-1", "1.2345", "1:00", "10+0.1+1", "９", "9999999"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        let clock = |time| Clock { time, grace_milliseconds: 50 };
        assert_eq!(clock(read("10+0.1").unwrap()).to_string(), "10+0.1, grace 50 ms");
        let each = clock(Time::Move { milliseconds: 100 });
        assert_eq!(each.to_string(), "0.1 s a move, grace 50 ms");
        let text = serde_json::to_string(&each).unwrap();
        assert_eq!(text, r#"{"time":{"move":{"milliseconds":100}},"grace_milliseconds":50}"#);
        assert_eq!(serde_json::from_str::<Clock>(&text).unwrap(), each);
        assert!(serde_json::from_str::<Clock>(&text.replace("seconds\":100", "seconds\":100,\"more\":1")).is_err());
    }
}
