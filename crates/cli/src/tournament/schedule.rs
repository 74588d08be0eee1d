//! The schedules of tournaments.

use stats::tournament::{Pairing, berger};

/// The kind of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// Every engine meets every other one
    RoundRobin,
    /// The first engine meets every other one
    Gauntlet,
}

impl Kind {
    /// Returns the rounds.
    pub(super) fn rounds(self, players: usize) -> Vec<Vec<Pairing>> {
        match self {
            Self::RoundRobin => berger(players),
            Self::Gauntlet => (1..players).map(|black| vec![Pairing { red: 0, black }]).collect(),
        }
    }
}
