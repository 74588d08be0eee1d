//! Tournaments of many players: schedules, standings and ratings. Players are numbers from 0.
//!
//! Articles are those of the World Xiangqi Rules (World Xiangqi Federation, 2018).

mod berger;
mod knockout;
mod standings;
mod strength;
mod swiss;

pub use berger::berger;
pub use knockout::{knockout, knockout_places};
pub use standings::{Bye, Row, TieBreak, TieBreaks, standings};
pub use strength::{Score, Strength, strengths};
pub use swiss::{byes, encounter, swiss};

use crate::GameResult;

/// Two players that meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pairing {
    /// The player with Red; in a meeting of several games, in the first.
    pub red: usize,
    /// The player with Black.
    pub black: usize,
}

/// A finished game of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Game {
    /// The players.
    pub pairing: Pairing,
    /// The result for Red.
    pub red: GameResult,
    /// Whether the loser lost by a technical foul.
    pub foul: bool,
}

impl Game {
    /// Returns the result for a player; `None` if it did not play.
    #[must_use]
    pub fn result_for(&self, player: usize) -> Option<GameResult> {
        if player == self.pairing.red {
            Some(self.red)
        } else if player == self.pairing.black {
            Some(self.red.reversed())
        } else {
            None
        }
    }
}
