//! Outcomes of games and their reasons.

use std::{fmt, str::FromStr};

use super::CycleVerdict;
use crate::Color;

/// The outcome of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Outcome {
    /// Red won.
    RedWins,
    /// Black won.
    BlackWins,
    /// Neither side won.
    Draw,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 3] = [Self::RedWins, Self::BlackWins, Self::Draw];

    /// The outcome in which this side has lost.
    #[must_use]
    pub const fn loss_of(loser: Color) -> Self {
        match loser {
            Color::Red => Self::BlackWins,
            Color::Black => Self::RedWins,
        }
    }

    /// The loser; `None` for a draw.
    #[must_use]
    pub const fn loser(self) -> Option<Color> {
        match self {
            Self::RedWins => Some(Color::Black),
            Self::BlackWins => Some(Color::Red),
            Self::Draw => None,
        }
    }

    /// The name used in commands and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RedWins => "red_wins",
            Self::BlackWins => "black_wins",
            Self::Draw => "draw",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The rule that ended a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Reason {
    /// No legal move, in check.
    Checkmate,
    /// No legal move, not in check; a loss too.
    Stalemate,
    /// The loser attacked the king on every move of a repeated cycle: by checks or, where the rules
    /// forbid it, by threats of mate.
    PerpetualCheck,
    /// The loser attacked the same piece on every move of a repeated cycle.
    PerpetualChase,
    /// A repeated cycle in which neither side offended more than the other.
    Repetition,
    /// Too many plies without a capture.
    MoveLimit,
    /// Neither side has a piece left that could attack a king.
    BareDefenders,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 7] = [
        Self::Checkmate,
        Self::Stalemate,
        Self::PerpetualCheck,
        Self::PerpetualChase,
        Self::Repetition,
        Self::MoveLimit,
        Self::BareDefenders,
    ];

    /// The name used in commands and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Checkmate => "checkmate",
            Self::Stalemate => "stalemate",
            Self::PerpetualCheck => "perpetual_check",
            Self::PerpetualChase => "perpetual_chase",
            Self::Repetition => "repetition",
            Self::MoveLimit => "move_limit",
            Self::BareDefenders => "bare_defenders",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An error: the text names no outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the outcomes are red_wins, black_wins and draw")]
pub struct ParseOutcomeError;

impl FromStr for Outcome {
    type Err = ParseOutcomeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == text).ok_or(ParseOutcomeError)
    }
}

/// An error: the text names no reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the reasons are checkmate, stalemate, perpetual_check, perpetual_chase, repetition, move_limit and bare_defenders"
)]
pub struct ParseReasonError;

impl FromStr for Reason {
    type Err = ParseReasonError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|reason| reason.name() == text).ok_or(ParseReasonError)
    }
}

/// The ending of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The outcome.
    pub outcome: Outcome,
    /// The rule that ended the game.
    pub reason: Reason,
    /// The number of moves made.
    pub ply: usize,
    /// The verdict on the repeated cycle, if one ended the game.
    pub cycle: Option<CycleVerdict>,
}

/// The status of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Not over.
    Ongoing,
    /// Over.
    Over(Ending),
}

impl Status {
    /// The ending; `None` if the game is ongoing.
    #[must_use]
    pub const fn ending(&self) -> Option<&Ending> {
        match self {
            Self::Ongoing => None,
            Self::Over(ending) => Some(ending),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for outcome in Outcome::ALL {
            assert_eq!(outcome.to_string().parse(), Ok(outcome));
        }
        assert_eq!("won".parse::<Outcome>(), Err(ParseOutcomeError));
        assert!(Outcome::ALL.iter().all(|outcome| ParseOutcomeError.to_string().contains(outcome.name())));
        for reason in Reason::ALL {
            assert_eq!(reason.to_string().parse(), Ok(reason));
            assert!(ParseReasonError.to_string().contains(reason.name()));
        }
        assert_eq!("Checkmate".parse::<Reason>(), Err(ParseReasonError));
    }
}
