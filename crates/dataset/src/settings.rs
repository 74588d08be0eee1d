//! Game settings: the parameters of a game besides net, rules and seed.

use serde::{Deserialize, Serialize};

use crate::{adjudication::Adjudication, digest::Digest, record::Score};

/// The settings of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameSettings {
    /// The size of the transposition table, in mebibytes.
    pub hash_mebibytes: usize,
    /// The soft node limit: no new iteration of a search begins after this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soft_nodes: Option<u64>,
    /// The hard node limit of a search.
    pub hard_nodes: u64,
    /// The adjudication rules.
    #[serde(default)]
    pub adjudication: Adjudication,
    /// The ply, the opening counted, after which a game is a draw.
    pub ply_cap: u32,
}

/// The filter of openings: a short search whose score must be near zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationFilter {
    /// The node limit of the search.
    pub nodes: u64,
    /// The greatest accepted distance of the score from zero.
    pub bound: Score,
}

/// The openings of games: their start, their number of random moves, and their filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpeningPolicy {
    /// The SHA-256 of the book; none where all games start from the initial position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub book: Option<Digest>,
    /// The number of random moves.
    pub plies: u32,
    /// The filter of walks; none to accept all. Players apply it, because it needs an engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<EvaluationFilter>,
}
