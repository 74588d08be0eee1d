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
        Clocks::new([self.clock.time.into(); 2], Duration::from_millis(self.clock.grace_milliseconds.into()))
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
        /// The moves of a period, after which the time at the start is added again; none for one
        /// time for all moves.
        moves: Option<u32>,
    },
}

impl TimeControl {
    /// Returns the limit of a rapid game, which follows a drawn one: a quarter of nodes or time,
    /// and a sixth of the increment. In the Asian rules, 60 minutes and 30 s become 15 and 5 s.
    #[must_use]
    pub fn rapid(self) -> Self {
        match self {
            Self::Nodes(nodes) => Self::Nodes((nodes / 4).max(1)),
            Self::MoveTime(time) => Self::MoveTime(whole_milliseconds(time / 4)),
            Self::Clock { base, increment, moves } => {
                let [base, increment] = [base / 4, increment / 6].map(whole_milliseconds);
                Self::Clock { base, increment, moves }
            }
        }
    }

    /// Returns the limit with two thirds of nodes or time and the same increment. In the decider of
    /// the Asian rules Black has it: 10 minutes against 15.
    #[must_use]
    pub fn two_thirds(self) -> Self {
        match self {
            Self::Nodes(nodes) => Self::Nodes((nodes - nodes.div_ceil(3)).max(1)),
            Self::MoveTime(time) => Self::MoveTime(whole_milliseconds(time * 2 / 3)),
            Self::Clock { base, increment, moves } => {
                Self::Clock { base: whole_milliseconds(base * 2 / 3), increment, moves }
            }
        }
    }
}

/// Rounds a time up to whole milliseconds, the unit of engines.
fn whole_milliseconds(time: Duration) -> Duration {
    Duration::from_millis(time.as_nanos().div_ceil(1_000_000) as u64)
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nodes(nodes) => write!(f, "{nodes} nodes a move"),
            Self::MoveTime(time) => write!(f, "{} s a move", time.as_secs_f64()),
            Self::Clock { base, increment, moves } => {
                if let Some(moves) = moves {
                    write!(f, "{moves}/")?;
                }
                write!(f, "{}+{}", base.as_secs_f64(), increment.as_secs_f64())
            }
        }
    }
}

/// The error for a text that is not a clock.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseClockError {
    /// The time.
    #[error(transparent)]
    Time(#[from] ParseTimeControlError),
    /// The moves of a period.
    #[error("`{0}` is no number of moves from 1 to 999; a clock with periods is moves/seconds, as in `40/60+1`")]
    Moves(String),
}

/// Parses a clock in seconds: `10+0.1`, `60` for sudden death, or `40/60` for periods of 40 moves.
/// Resolution: a millisecond.
impl FromStr for TimeControl {
    type Err = ParseClockError;

    fn from_str(text: &str) -> Result<Self, ParseClockError> {
        let (period, time) = text.split_once('/').map_or((None, text), |(moves, time)| (Some(moves), time));
        let mut control = Self::from(time.parse::<dataset::Time>()?);
        if let (Some(text), Self::Clock { moves, .. }) = (period, &mut control) {
            let digits = text.bytes().all(|byte| byte.is_ascii_digit());
            let number = text.parse().ok().filter(|number| digits && (1..=999).contains(number));
            let error = || ParseClockError::Moves(xiangqi::text::shortened(text));
            *moves = Some(number.ok_or_else(error)?);
        }
        Ok(control)
    }
}

impl From<dataset::Time> for TimeControl {
    fn from(time: dataset::Time) -> Self {
        let duration = |milliseconds: u32| Duration::from_millis(milliseconds.into());
        match time {
            dataset::Time::Move { milliseconds } => Self::MoveTime(duration(milliseconds)),
            dataset::Time::Game { base_milliseconds, increment_milliseconds } => {
                let (base, increment) = (duration(base_milliseconds), duration(increment_milliseconds));
                Self::Clock { base, increment, moves: None }
            }
        }
    }
}

/// The clocks of both sides of a game.
#[derive(Clone, Debug)]
pub(crate) struct Clocks {
    /// The time controls by [`Color::index`].
    controls: [TimeControl; 2],
    /// The moves of each side.
    played: [u32; 2],
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
    pub(crate) fn new(controls: [TimeControl; 2], grace: Duration) -> Self {
        let left = controls.map(|control| match control {
            TimeControl::Clock { base, .. } => base + grace,
            TimeControl::Nodes(_) | TimeControl::MoveTime(_) => grace,
        });
        Self { controls, played: [0; 2], grace, left }
    }

    /// The allowance reported to a side, without the grace.
    pub(crate) fn allowance(&self, side: Color) -> Allowance {
        let left = |side: Color| self.left[side.index()].saturating_sub(self.grace);
        match self.controls[side.index()] {
            TimeControl::Nodes(nodes) => Allowance::Nodes(nodes),
            TimeControl::MoveTime(time) => Allowance::MoveTime(time),
            TimeControl::Clock { increment, moves, .. } => {
                // An opponent without a clock is reported with the same one.
                let (opponent, opponent_increment) = match self.controls[(!side).index()] {
                    TimeControl::Clock { increment, .. } => (left(!side), increment),
                    TimeControl::Nodes(_) | TimeControl::MoveTime(_) => (left(side), increment),
                };
                let moves_to_go = moves.map(|moves| moves - self.played[side.index()] % moves);
                Allowance::Clock { own: left(side), opponent, increment, opponent_increment, moves_to_go }
            }
        }
    }

    /// The time left to each side by [`Color::index`], with a clock per game.
    pub(crate) fn left(&self) -> Option<[Duration; 2]> {
        let runs = self.controls.iter().all(|control| matches!(control, TimeControl::Clock { .. }));
        runs.then(|| self.left.map(|left| left.saturating_sub(self.grace)))
    }

    /// Deducts the time of a move.
    pub(crate) fn press(&mut self, side: Color, used: Duration) -> Result<(), Late> {
        let max = match self.controls[side.index()] {
            TimeControl::Nodes(_) => return Ok(()),
            TimeControl::MoveTime(time) => time + self.grace,
            TimeControl::Clock { .. } => self.left[side.index()],
        };
        if used > max {
            return Err(Late { used, max, grace: self.grace });
        }
        if let TimeControl::Clock { base, increment, moves } = self.controls[side.index()] {
            let played = &mut self.played[side.index()];
            *played += 1;
            let period_ends = moves.is_some_and(|moves| played.is_multiple_of(moves));
            let added = if period_ends { base + increment } else { increment };
            self.left[side.index()] = max.saturating_sub(used) + added;
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
        assert_eq!(clock, Ok(TimeControl::Clock { base, increment, moves: None }));
        assert_eq!(clock.unwrap().to_string(), "10+0.1");
        assert_eq!(TimeControl::MoveTime(Duration::from_millis(100)).to_string(), "0.1 s a move");
        assert!("10+".parse::<TimeControl>().is_err());
        let period = "40/10+0.1".parse::<TimeControl>();
        assert_eq!(period, Ok(TimeControl::Clock { base, increment, moves: Some(40) }));
        assert_eq!(period.unwrap().to_string(), "40/10+0.1");
        for bad in ["/10", "0/10", "1000/10", "+4/10", "x/10", "4/", "4/10/10", "4/0"] {
            assert!(bad.parse::<TimeControl>().is_err(), "{bad}");
        }
        assert_eq!(
            "900+5".parse::<TimeControl>().unwrap().two_thirds(),
            "600+5".parse().unwrap(),
            "the rulebook's decider"
        );
        assert_eq!("3600+30".parse::<TimeControl>().unwrap().rapid(), "900+5".parse().unwrap(), "and its rapid game");
        assert_eq!(
            (TimeControl::Nodes(1000).rapid(), TimeControl::Nodes(3).rapid()),
            (TimeControl::Nodes(250), TimeControl::Nodes(1))
        );
        assert_eq!(TimeControl::Nodes(1000).two_thirds(), TimeControl::Nodes(666));
        assert_eq!(TimeControl::Nodes(1).two_thirds(), TimeControl::Nodes(1));
    }

    #[test]
    fn a_period_adds_its_time_and_counts_its_moves() {
        let clock = |text: &str| text.parse::<TimeControl>().unwrap();
        let second = Duration::from_secs;
        let mut clocks = Clocks::new([clock("2/10+1"), clock("5")], Duration::ZERO);
        let seen = |clocks: &Clocks| match clocks.allowance(Color::Red) {
            Allowance::Clock { own, opponent, increment, opponent_increment, moves_to_go } => {
                assert_eq!((increment, opponent, opponent_increment), (second(1), second(5), second(0)));
                (own, moves_to_go)
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(seen(&clocks), (second(10), Some(2)));
        assert!(clocks.press(Color::Red, second(4)).is_ok());
        assert_eq!(seen(&clocks), (second(7), Some(1)));
        assert!(clocks.press(Color::Red, second(7)).is_ok());
        assert_eq!(seen(&clocks), (second(11), Some(2)));
        assert!(clocks.press(Color::Red, second(12)).is_err());
        let mixed = Clocks::new([clock("10"), TimeControl::Nodes(5)], Duration::ZERO);
        assert_eq!((mixed.allowance(Color::Black), mixed.left()), (Allowance::Nodes(5), None));
    }
}
