//! The schedules of tournaments.

use std::fmt;

use stats::tournament::{Game, Pairing, berger, knockout, swiss};

/// The kind of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// Every engine meets every other one
    RoundRobin,
    /// The first engine meets every other one
    Gauntlet,
    /// In each round engines meet others with equal points, and none twice
    Swiss,
    /// The loser of a tie is out; engines are seeded in the order given
    Knockout,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RoundRobin => "round robin",
            Self::Gauntlet => "gauntlet",
            Self::Swiss => "Swiss",
            Self::Knockout => "knockout",
        })
    }
}

/// A kind of tournament with its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    pub(super) kind: Kind,
    pub(super) players: usize,
    /// The rounds of a Swiss tournament.
    pub(super) swiss_rounds: usize,
}

impl Schedule {
    /// Returns the pairings of the next round, given one result for each encounter of the earlier
    /// ones; none after the last round.
    pub(super) fn next_round(self, finished: &[Vec<Game>]) -> Vec<Pairing> {
        let round = finished.len();
        match self.kind {
            Kind::RoundRobin => berger(self.players).into_iter().nth(round).unwrap_or_default(),
            Kind::Gauntlet if round + 1 < self.players => vec![Pairing { red: 0, black: round + 1 }],
            Kind::Swiss if round < self.swiss_rounds => swiss(self.players, finished),
            Kind::Gauntlet | Kind::Swiss => Vec::new(),
            Kind::Knockout => knockout(self.players, finished),
        }
    }

    /// The number of encounters in all rounds; none in a knockout, whose number of games depends on
    /// the results.
    pub(super) fn encounters(self) -> Option<usize> {
        match self.kind {
            Kind::RoundRobin => Some(self.players * (self.players - 1) / 2),
            Kind::Gauntlet => Some(self.players - 1),
            Kind::Swiss => Some(self.swiss_rounds * (self.players / 2)),
            Kind::Knockout => None,
        }
    }
}
