//! The arbiter.

use serde::Deserialize;
use xiangqi::{
    notation::Notation,
    rules::{Judgement, RuleSet},
};

/// A game to be judged.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    /// The initial position if missing.
    fen: Option<String>,
    #[serde(default)]
    moves: Vec<String>,
    #[serde(default)]
    rules: RuleSet,
}

/// Judges a game, from JSON to JSON. The error is a sentence.
pub(crate) fn judge(question: &[u8]) -> Result<String, String> {
    let Question { fen, moves, rules } = serde_json::from_slice(question).map_err(|error| error.to_string())?;
    let judged = Judgement::of(fen.as_deref(), &moves, rules, Notation::Uci).map_err(|error| error.to_string())?;
    serde_json::to_string(&judged).map_err(|error| error.to_string())
}
