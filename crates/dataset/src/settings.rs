//! How games are played: what, beside net, rules and seed, a game is a function of.

use serde::{Deserialize, Serialize};

use crate::{adjudication::Adjudication, digest::Digest, record::Score};

/// How games are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameSettings {
    /// The size of the transposition table, in mebibytes.
    pub hash_mebibytes: usize,
    /// No new iteration of a search after so many nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soft_nodes: Option<u64>,
    /// No search has more nodes.
    pub hard_nodes: u64,
    /// When games end by their scores.
    #[serde(default)]
    pub adjudication: Adjudication,
    /// After how many plies, its opening included, a game ends in a draw.
    pub ply_cap: u32,
}

/// A short search that tells whether an opening is even enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationFilter {
    /// How many nodes the search has.
    pub nodes: u64,
    /// How far from even the score may be.
    pub bound: Score,
}

/// From where games start, how many random moves they begin with, and which of these are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpeningPolicy {
    /// The SHA-256 of the book from whose positions walks start; none where all start from the starting position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub book: Option<Digest>,
    /// How many random moves are made.
    pub plies: u32,
    /// Which walks are kept; all, if there is none. A player applies it: it needs an engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<EvaluationFilter>,
}
