//! The shard header: everything that its games have in common.

mod binary;

use serde::{Deserialize, Serialize};
use xiangqi::rules::RuleSet;

use crate::{
    as_text,
    clock::Clock,
    digest::Digest,
    overrides::Overrides,
    random::game_seed,
    settings::{GameSettings, OpeningPolicy},
};

pub use binary::HeaderError;

/// The opponent of the header's net, in match games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opponent {
    /// Its net; none for the plain evaluation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub net: Option<Digest>,
    /// The soft node limit: no new iteration of a search begins after this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soft_nodes: Option<u64>,
    /// The hard node limit of a search.
    pub hard_nodes: u64,
}

/// The parameters of which, with its number, each game of a shard is a function. Player and date
/// are not in it: equal games make equal files.
///
/// In a match, games 2p and 2p+1 are the two of pair p: they share a seed, and so an opening. The
/// header's net and nodes are those of entrant A, which is Red in games with even numbers. The
/// opponent, B, is Red in the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The node count of the engine's bench: engines with equal counts play equal games.
    pub bench_signature: u64,
    /// The net that played; none for the plain evaluation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub net: Option<Digest>,
    /// The opponent; none for self-play.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opponent: Option<Opponent>,
    /// The time control of a match under a clock; the node limits are then 0. Such games cannot be
    /// reproduced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// The overridden parameters of the net's search.
    #[serde(default, skip_serializing_if = "Overrides::is_empty")]
    pub parameters: Overrides,
    /// The overridden parameters of the opponent's search; empty in self-play.
    #[serde(default, skip_serializing_if = "Overrides::is_empty")]
    pub opponent_parameters: Overrides,
    /// The rulebook that decides repetitions.
    #[serde(with = "as_text")]
    pub rules: RuleSet,
    /// The settings of the games.
    pub settings: GameSettings,
    /// The openings of the games.
    pub openings: OpeningPolicy,
    /// The seed of the run, from which the games' seeds are derived.
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

    /// The pair of the game with this number; none in self-play.
    #[must_use]
    pub fn pair_of(&self, number: u64) -> Option<u64> {
        self.opponent.map(|_| number / 2)
    }

    /// Whether these are the numbers of the two games of a pair.
    #[must_use]
    pub fn are_pair(&self, one: u64, other: u64) -> bool {
        one != other && self.pair_of(one).is_some_and(|pair| self.pair_of(other) == Some(pair))
    }

    /// The greatest number of moves of a game after its opening.
    #[must_use]
    pub fn max_moves(&self) -> u64 {
        u64::from(self.settings.ply_cap.saturating_sub(self.openings.plies))
    }

    /// The names of the fields that differ from another header; the games' numbers are not
    /// compared.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<&'static str> {
        let (mine, theirs) = (&self.settings, &other.settings);
        let fields = [
            ("bench_signature", self.bench_signature == other.bench_signature),
            ("net", self.net == other.net),
            ("opponent", self.opponent == other.opponent),
            ("clock", self.clock == other.clock),
            ("parameters", self.parameters == other.parameters),
            ("opponent_parameters", self.opponent_parameters == other.opponent_parameters),
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
