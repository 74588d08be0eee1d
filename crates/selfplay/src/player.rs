//! The player interface.

use std::{fmt, time::Duration};

use engine::Score;
use xiangqi::{Move, rules::Game};

/// A player's limits for its next move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowance {
    /// A node limit.
    Nodes(u64),
    /// A time limit.
    MoveTime(Duration),
    /// The clocks of both players.
    Clock {
        /// The player's time left.
        own: Duration,
        /// The opponent's time left.
        opponent: Duration,
        /// The increment per move.
        increment: Duration,
        /// The opponent's increment.
        opponent_increment: Duration,
        /// The moves until the clock gets the time of another period, this one included.
        moves_to_go: Option<u32>,
    },
}

impl Allowance {
    /// The maximum time of the move; none without a clock.
    #[must_use]
    pub const fn time(&self) -> Option<Duration> {
        match *self {
            Self::Nodes(_) => None,
            Self::MoveTime(time) => Some(time),
            Self::Clock { own, .. } => Some(own),
        }
    }
}

/// A player's move with its search result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The move; the caller checks its legality.
    pub mv: Move,
    /// The score for the side that moves, if the player has one.
    pub score: Option<Score>,
    /// The depth; 0 if unknown.
    pub depth: u32,
    /// The nodes; 0 if unknown.
    pub nodes: u64,
    /// The expected line, from this move on; empty if unknown. Its moves need not be legal.
    pub line: Vec<Move>,
}

/// The kind of a fault. Each loses the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// The player exited or closed its output.
    Crash,
    /// The player does not respond.
    Stall,
    /// The move is missing or illegal.
    IllegalMove,
    /// The move was late.
    TimeLoss,
    /// The player's position differs from the game's.
    WrongPosition,
}

impl FaultKind {
    /// The name in records and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Stall => "stall",
            Self::IllegalMove => "illegal_move",
            Self::TimeLoss => "time_loss",
            Self::WrongPosition => "wrong_position",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A fault of a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of fault, such as a crash.
    pub kind: FaultKind,
    /// A line for people.
    pub detail: String,
}

/// An error of a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A fault: the player loses the game, and the match continues.
    Fault(Fault),
    /// The player cannot be recovered: the match is aborted.
    Gone(String),
}

impl Trouble {
    /// Creates a fault.
    pub fn fault(kind: FaultKind, detail: impl Into<String>) -> Self {
        Self::Fault(Fault { kind, detail: detail.into() })
    }
}

/// A player in matches. After a fault it gets a new game like after any other.
pub trait Player: Send {
    /// Prepares a new game; no state may remain of the previous one.
    ///
    /// # Errors
    ///
    /// If it cannot.
    fn new_game(&mut self) -> Result<(), Trouble>;

    /// Verifies the player's position. Called before every [`choose`](Self::choose), off the clock.
    ///
    /// # Errors
    ///
    /// If it does not.
    fn prepare(&mut self, game: &Game) -> Result<(), Trouble> {
        let _ = game;
        Ok(())
    }

    /// Chooses a move in the game's last position, which has one.
    ///
    /// # Errors
    ///
    /// If it cannot.
    fn choose(&mut self, game: &Game, allowance: &Allowance) -> Result<Choice, Trouble>;
}
