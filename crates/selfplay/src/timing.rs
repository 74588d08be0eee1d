//! Time controls and clocks.

use std::{fmt, str::FromStr, sync::Arc, time::Duration};

use dataset::{Clock, ParseTimeControlError};
use xiangqi::Color;

use crate::player::Allowance;

/// A time source, implemented at the program's edge.
pub trait Timer: Send + Sync {
    /// The time since a fixed instant in the past.
    fn now(&self) -> Duration;
}

/// The clock of a run's games, with its time source.
#[derive(Clone)]
pub struct Timed {
    /// The time control and grace.
    pub clock: Clock,
    /// The time source.
    pub timer: Arc<dyn Timer>,
}

impl fmt::Debug for Timed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timed").field("clock", &self.clock).finish_non_exhaustive()
    }
}

impl Timed {
    /// Creates the clocks of a new game.
    pub(crate) fn clocks(&self) -> Clocks {
        Clocks::new(self.clock.time.into(), Duration::from_millis(self.clock.grace_milliseconds.into()))
    }
}

/// A stopped clock, under which no player loses on time.
#[derive(Clone, Copy, Debug)]
pub struct NoTimer;

impl Timer for NoTimer {
    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

/// A time control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeControl {
    /// Nodes per move, without a clock.
    Nodes(u64),
    /// Time per move.
    MoveTime(Duration),
    /// Time per game with an increment; sudden death if it is zero.
    Clock {
        /// The time at the start.
        base: Duration,
        /// The increment per move.
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

/// Parses a clock in seconds: `10+0.1`, or `60` for sudden death. Resolution: a millisecond.
impl FromStr for TimeControl {
    type Err = ParseTimeControlError;

    fn from_str(text: &str) -> Result<Self, ParseTimeControlError> {
        text.parse::<dataset::Time>().map(Self::from)
    }
}

impl From<dataset::Time> for TimeControl {
    fn from(time: dataset::Time) -> Self {
        let duration = |milliseconds: u32| Duration::from_millis(milliseconds.into());
        match time {
            dataset::Time::Move { milliseconds } => Self::MoveTime(duration(milliseconds)),
            dataset::Time::Game { base_milliseconds, increment_milliseconds } => {
                Self::Clock { base: duration(base_milliseconds), increment: duration(increment_milliseconds) }
            }
        }
    }
}

/// The clocks of both sides of a game.
#[derive(Clone, Debug)]
pub(crate) struct Clocks {
    control: TimeControl,
    /// The tolerated excess: per move, or with a clock, per game.
    grace: Duration,
    /// The time left on each clock, grace included.
    left: [Duration; 2],
}

/// A late move.
pub(crate) struct Late {
    used: Duration,
    max: Duration,
    grace: Duration,
}

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [used, max, grace] = [self.used, self.max, self.grace].map(|time| time.as_millis());
        write!(f, "{used} ms used where {max} were left, a grace of {grace} included")
    }
}

impl Clocks {
    pub(crate) fn new(control: TimeControl, grace: Duration) -> Self {
        let base = if let TimeControl::Clock { base, .. } = control { base } else { Duration::ZERO };
        Self { control, grace, left: [base + grace; 2] }
    }

    /// The allowance reported to a side, without the grace.
    pub(crate) fn allowance(&self, side: Color) -> Allowance {
        let left = |side: Color| self.left[side.index()].saturating_sub(self.grace);
        match self.control {
            TimeControl::Nodes(nodes) => Allowance::Nodes(nodes),
            TimeControl::MoveTime(time) => Allowance::MoveTime(time),
            TimeControl::Clock { increment, .. } => {
                Allowance::Clock { own: left(side), opponent: left(!side), increment }
            }
        }
    }

    /// The time left to each side by [`Color::index`], with a clock per game.
    pub(crate) fn left(&self) -> Option<[Duration; 2]> {
        let runs = matches!(self.control, TimeControl::Clock { .. });
        runs.then(|| self.left.map(|left| left.saturating_sub(self.grace)))
    }

    /// Deducts the time of a move.
    pub(crate) fn press(&mut self, side: Color, used: Duration) -> Result<(), Late> {
        let max = match self.control {
            TimeControl::Nodes(_) => return Ok(()),
            TimeControl::MoveTime(time) => time + self.grace,
            TimeControl::Clock { .. } => self.left[side.index()],
        };
        if used > max {
            return Err(Late { used, max, grace: self.grace });
        }
        if let TimeControl::Clock { increment, .. } = self.control {
            self.left[side.index()] = max.saturating_sub(used) + increment;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_parsed_and_formatted() {
        let clock = "10+0.1".parse::<TimeControl>();
        let (base, increment) = (Duration::from_secs(10), Duration::from_millis(100));
        assert_eq!(clock, Ok(TimeControl::Clock { base, increment }));
        assert_eq!(clock.unwrap().to_string(), "10+0.1");
        assert_eq!(TimeControl::MoveTime(Duration::from_millis(100)).to_string(), "0.1 s a move");
        assert!("10+".parse::<TimeControl>().is_err());
    }
}
