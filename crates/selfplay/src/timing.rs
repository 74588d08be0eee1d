//! Time: how much of it players have, and who measures it.

use std::{fmt, str::FromStr, sync::Arc, time::Duration};

use dataset::{Clock, ParseTimeControlError};
use xiangqi::Color;

use crate::player::Allowance;

/// A clock that somebody at the edge of the program reads.
pub trait Timer: Send + Sync {
    /// The time since some moment in the past, always the same.
    fn now(&self) -> Duration;
}

/// Time that is measured in the games of a run: how much there is, and who measures it.
#[derive(Clone)]
pub struct Timed {
    /// How much.
    pub clock: Clock,
    /// Who measures it.
    pub timer: Arc<dyn Timer>,
}

impl fmt::Debug for Timed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timed").field("clock", &self.clock).finish_non_exhaustive()
    }
}

impl Timed {
    /// The clocks at the beginning of a game.
    pub(crate) fn clocks(&self) -> Clocks {
        Clocks::new(self.clock.time.into(), Duration::from_millis(self.clock.grace_milliseconds.into()))
    }
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

/// Reads a clock: `10+0.1`, or `60` for sudden death. Seconds, down to the millisecond.
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

/// What a side of a game may use and has used.
#[derive(Clone, Debug)]
pub(crate) struct Clocks {
    control: TimeControl,
    /// How much more may be used: for each move, or where a clock runs, for all together.
    grace: Duration,
    /// What is left of a clock's time and of the grace, which is one for all of its moves.
    left: [Duration; 2],
}

/// A move that came late.
pub(crate) struct Late {
    used: Duration,
    most: Duration,
    grace: Duration,
}

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [used, most, grace] = [self.used, self.most, self.grace].map(|time| time.as_millis());
        write!(f, "{used} ms used where {most} were left, a grace of {grace} included")
    }
}

impl Clocks {
    pub(crate) fn new(control: TimeControl, grace: Duration) -> Self {
        let base = if let TimeControl::Clock { base, .. } = control { base } else { Duration::ZERO };
        Self { control, grace, left: [base + grace; 2] }
    }

    /// What a side is told that it may use.
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

    /// What is left to each side by [`Color::index`], if their time is one for all moves.
    pub(crate) fn left(&self) -> Option<[Duration; 2]> {
        let runs = matches!(self.control, TimeControl::Clock { .. });
        runs.then(|| self.left.map(|left| left.saturating_sub(self.grace)))
    }

    /// Counts what a move has used.
    pub(crate) fn press(&mut self, side: Color, used: Duration) -> Result<(), Late> {
        let most = match self.control {
            TimeControl::Nodes(_) => return Ok(()),
            TimeControl::MoveTime(time) => time + self.grace,
            TimeControl::Clock { .. } => self.left[side.index()],
        };
        if used > most {
            return Err(Late { used, most, grace: self.grace });
        }
        if let TimeControl::Clock { increment, .. } = self.control {
            self.left[side.index()] = most.saturating_sub(used) + increment;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_read_and_written() {
        let clock = "10+0.1".parse::<TimeControl>();
        let (base, increment) = (Duration::from_secs(10), Duration::from_millis(100));
        assert_eq!(clock, Ok(TimeControl::Clock { base, increment }));
        assert_eq!(clock.unwrap().to_string(), "10+0.1");
        assert_eq!(TimeControl::MoveTime(Duration::from_millis(100)).to_string(), "0.1 s a move");
        assert!("10+".parse::<TimeControl>().is_err());
    }
}
