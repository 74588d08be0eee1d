//! Encounters: the games of two engines in a round, and their result.

use serde::Serialize;
use stats::{
    GameResult,
    tournament::{Game, Pairing, encounter},
};

use super::journal::{RecordedGame, RecordedPair};

/// A stage of an encounter. Only ties of a knockout have more than the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    /// The pairs at the limits of the tournament.
    Match,
    /// A pair of rapid games.
    Rapid,
    /// One game: Black has two thirds of the rapid limit, and a draw is Black's win.
    Decider,
}

impl Stage {
    pub(super) const ALL: [Self; 3] = [Self::Match, Self::Rapid, Self::Decider];

    /// The number of pairs in an encounter up to the end of this stage; the decider counts as one.
    pub(super) const fn pairs(self, pairs: u64) -> u64 {
        pairs + self as u64
    }
}

/// The encounter of two engines in a round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Encounter {
    /// The round, from 1.
    round: usize,
    #[serde(flatten)]
    pub(super) pairing: Pairing,
    /// The points of both in all games.
    points: [u64; 2],
    /// The stage that decided, and the result.
    decided_by: Stage,
    #[serde(skip)]
    pub(super) result: Game,
}

impl Encounter {
    /// Returns the encounter of a round, from 0, with its recorded games; `pairs` are those of its
    /// first stage.
    pub(super) fn new(round: usize, pairing: Pairing, pairs: u64, recorded: &[RecordedPair]) -> Self {
        let own = || recorded.iter().filter(move |pair| pair.is_of(round, pairing));
        let games = |pairs: &mut dyn Iterator<Item = &RecordedPair>| -> Vec<Game> {
            pairs.flat_map(|pair| &pair.games).map(RecordedGame::result).collect()
        };
        let stage_of = |pair: &RecordedPair| Stage::ALL[pair.pair.saturating_sub(pairs).min(2) as usize];
        let decided_by = own().map(stage_of).next_back().unwrap_or(Stage::Match);
        let all = games(&mut own());
        let result = encounter(pairing, &games(&mut own().filter(|pair| stage_of(pair) == decided_by)));
        let points = [pairing.red, pairing.black].map(|player| {
            all.iter().filter_map(|game| game.result_for(player)).map(|result| result.half_points() as u64).sum()
        });
        Self { round: round + 1, pairing, points, decided_by, result }
    }

    pub(super) fn is_tied(&self) -> bool {
        self.result.red == GameResult::Draw
    }

    /// Describes the encounter: `plain 6:4 published (decider)`.
    pub(super) fn line(&self, names: &[String]) -> String {
        let Pairing { red, black } = self.pairing;
        let [points, opponent] = self.points;
        let stage = match self.decided_by {
            Stage::Match => "",
            Stage::Rapid => " (rapid games)",
            Stage::Decider => " (decider)",
        };
        format!("{} {points}:{opponent} {}{stage}", names[red], names[black])
    }
}
