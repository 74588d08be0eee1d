//! Time controls, for matches limited by time instead of nodes.
//!
//! Such a game cannot be reproduced: it depends on the machine and its load. So it is not training
//! data, and it proves nothing to those who do not trust the player.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The time control of a match, the same for both players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// The thinking time.
    pub time: Time,
    /// The excess that does not yet lose the game, in milliseconds: per move, or for a whole game's
    /// time over all its moves together.
    #[serde(default)]
    pub grace_milliseconds: u32,
}

/// The thinking time of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Time {
    /// A fixed time per move.
    Move {
        /// The time, in milliseconds.
        milliseconds: u32,
    },
    /// A time for all moves, and an increment after each; without one it is sudden death.
    Game {
        /// The time at the start, in milliseconds.
        base_milliseconds: u32,
        /// The increment per move, in milliseconds.
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

/// The error for a text that is not a time control.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no clock: seconds, or seconds+increment, as in `10+0.1`")]
pub struct ParseTimeControlError {
    text: String,
}

/// Parses a time for all moves: `10+0.1`, or `60` for sudden death. Seconds, down to the
/// millisecond.
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
