//! What is the same for all games of a shard.

mod binary;

use serde::{Deserialize, Serialize};
use xiangqi::rules::RuleSet;

use crate::{
    as_text,
    clock::Clock,
    digest::Digest,
    random::game_seed,
    settings::{GameSettings, OpeningPolicy},
};

pub use binary::HeaderError;

/// Whom a net is compared with, in match games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opponent {
    /// Its net; none for the plain evaluation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub net: Option<Digest>,
    /// It begins no new iteration of a search after so many nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soft_nodes: Option<u64>,
    /// No search of it has more nodes.
    pub hard_nodes: u64,
}

/// What the games of a shard are a function of, beside their numbers. Who played them and when is not in it: equal
/// games make equal files.
///
/// In a match games 2p and 2p+1 are the two of pair p: they have one seed, and so one opening. The header's net and
/// nodes are those of entrant A, who is Red in games with even numbers; the opponent, B, is Red in the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The nodes of the engine's bench: engines with the same play the same games.
    pub bench_signature: u64,
    /// The net that played; none for the plain evaluation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub net: Option<Digest>,
    /// Against whom; none for self-play.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opponent: Option<Opponent>,
    /// Where time is measured in a match, how much of it there is; then no nodes are counted, and their limits are 0.
    /// Such games are no function of anything: whoever plays them again gets others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// The rulebook.
    #[serde(with = "as_text")]
    pub rules: RuleSet,
    /// How games were played.
    pub settings: GameSettings,
    /// From where.
    pub openings: OpeningPolicy,
    /// The seed of the run, from which those of the games come.
    pub seed: u64,
    /// The number of the first game.
    pub first_game: u64,
}

impl Header {
    /// The seed of the game with this number.
    #[must_use]
    pub fn seed_of(&self, number: u64) -> u64 {
        game_seed(self.seed, self.pair_of(number).unwrap_or(number))
    }

    /// To which pair the game with this number belongs; none in self-play.
    #[must_use]
    pub fn pair_of(&self, number: u64) -> Option<u64> {
        self.opponent.map(|_| number / 2)
    }

    /// Whether these are the numbers of the two games of a pair.
    #[must_use]
    pub fn are_pair(&self, one: u64, other: u64) -> bool {
        one != other && self.pair_of(one).is_some_and(|pair| self.pair_of(other) == Some(pair))
    }

    /// How many moves a game can have after its opening.
    #[must_use]
    pub fn most_moves(&self) -> u64 {
        u64::from(self.settings.ply_cap.saturating_sub(self.openings.plies))
    }

    /// The fields in which another header says something else, by their names; the games' numbers are not compared.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<&'static str> {
        let (mine, theirs) = (&self.settings, &other.settings);
        let fields = [
            ("bench_signature", self.bench_signature == other.bench_signature),
            ("net", self.net == other.net),
            ("opponent", self.opponent == other.opponent),
            ("clock", self.clock == other.clock),
            ("rules", self.rules == other.rules),
            ("hash_mebibytes", mine.hash_mebibytes == theirs.hash_mebibytes),
            ("soft_nodes", mine.soft_nodes == theirs.soft_nodes),
            ("hard_nodes", mine.hard_nodes == theirs.hard_nodes),
            ("adjudication", mine.adjudication == theirs.adjudication),
            ("ply_cap", mine.ply_cap == theirs.ply_cap),
            ("openings", self.openings == other.openings),
            ("seed", self.seed == other.seed),
        ];
        fields.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect()
    }
}
