//! The arbiter.

use serde::{Deserialize, Serialize};
use xiangqi::{
    Fen,
    rules::{Game, Outcome, Reason, RuleSet, Status},
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

/// What holds of the game.
#[derive(Serialize)]
struct Answer {
    /// The position after the last move.
    fen: String,
    /// Its legal moves; none after the end.
    legal_moves: Vec<String>,
    verdict: Option<Verdict>,
}

#[derive(Serialize)]
struct Verdict {
    outcome: Outcome,
    reason: Reason,
    /// The number of moves after which the game was over.
    ply: usize,
    english: String,
    chinese: String,
}

/// Judges a game, from JSON to JSON. The error is a sentence.
pub(crate) fn judge(question: &[u8]) -> Result<String, String> {
    let question: Question = serde_json::from_slice(question).map_err(|error| error.to_string())?;
    let start = question.fen.map_or_else(|| Ok(Fen::start()), |fen| fen.parse()).map_err(|error| format!("{error}"))?;
    let mut game = Game::new(start, question.rules);
    for (index, text) in question.moves.iter().enumerate() {
        let number = index + 1;
        let mv = game.position().parse_move(text).map_err(|error| format!("move {number}: {error}"))?;
        game.push(mv).map_err(|error| format!("move {number}: {error}"))?;
    }
    let ending = match game.status() {
        Status::Ongoing => None,
        Status::Over(ending) => Some(ending),
    };
    let answer = Answer {
        fen: game.fen().to_string(),
        legal_moves: match ending {
            None => game.position().legal_moves().iter().map(ToString::to_string).collect(),
            Some(_) => Vec::new(),
        },
        verdict: ending.map(|ending| {
            let explanation = game.explain(ending);
            Verdict {
                outcome: ending.outcome,
                reason: ending.reason,
                ply: ending.ply,
                english: explanation.english,
                chinese: explanation.chinese,
            }
        }),
    };
    serde_json::to_string(&answer).map_err(|error| error.to_string())
}
