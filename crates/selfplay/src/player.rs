//! Who plays.

use std::{fmt, time::Duration};

use engine::Score;
use xiangqi::{Move, rules::Game};

/// What a player may use for its next move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowance {
    /// So many nodes.
    Nodes(u64),
    /// So much time.
    MoveTime(Duration),
    /// What is left on the clocks.
    Clock {
        /// The player's own time.
        own: Duration,
        /// The opponent's.
        opponent: Duration,
        /// What each move adds.
        increment: Duration,
    },
}

impl Allowance {
    /// The time after which the move is late; none where no clock runs.
    #[must_use]
    pub const fn time(&self) -> Option<Duration> {
        match *self {
            Self::Nodes(_) => None,
            Self::MoveTime(time) => Some(time),
            Self::Clock { own, .. } => Some(own),
        }
    }
}

/// A player's move, and what it thinks of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The move; whoever asked looks whether it is legal.
    pub mv: Move,
    /// The score for the side that moves, if the player has one.
    pub score: Option<Score>,
    /// How deep it looked; 0 if it does not say.
    pub depth: u32,
    /// How many nodes it looked at; 0 if it does not say.
    pub nodes: u64,
}

/// What a player can do wrong. Each costs the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// It is gone, or closed its output.
    Crash,
    /// It does not answer.
    Stall,
    /// Its move is none, or not legal.
    IllegalMove,
    /// Its move came late.
    TimeLoss,
    /// It holds another position than the game's.
    WrongPosition,
}

impl FaultKind {
    /// The word used in records and reports.
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

/// What a player did wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Of which kind it is.
    pub kind: FaultKind,
    /// One line for people.
    pub detail: String,
}

/// Why a player gave no move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The player's fault: it loses the game, and the match goes on.
    Fault(Fault),
    /// There is no player to play on with: the match ends here.
    Gone(String),
}

impl Trouble {
    /// A fault.
    pub fn fault(kind: FaultKind, detail: impl Into<String>) -> Self {
        Self::Fault(Fault { kind, detail: detail.into() })
    }
}

/// Somebody who plays matches. After a fault it is asked for a new game like after any other.
pub trait Player: Send {
    /// Gets ready for a new game: nothing may remain of the one before.
    ///
    /// # Errors
    ///
    /// If it cannot.
    fn new_game(&mut self) -> Result<(), Trouble>;

    /// Makes sure that it holds the game's position. Before every [`choose`](Self::choose), and not on its time.
    ///
    /// # Errors
    ///
    /// If it does not.
    fn prepare(&mut self, game: &Game) -> Result<(), Trouble> {
        let _ = game;
        Ok(())
    }

    /// Chooses a move in the game's last position, where there is one.
    ///
    /// # Errors
    ///
    /// If it cannot.
    fn choose(&mut self, game: &Game, allowance: &Allowance) -> Result<Choice, Trouble>;
}
