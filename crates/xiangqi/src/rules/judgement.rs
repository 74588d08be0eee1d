//! A list of moves judged, for bindings to other languages.

use super::{Game, Outcome, PushError, Reason, RuleSet};
use crate::{
    Fen, FenError,
    notation::{Notation, NotationError},
};

/// The state of a game after a list of moves.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Judgement {
    /// The position after the last move.
    pub fen: String,
    /// Its legal moves, in the given notation; none after the end of the game.
    pub legal_moves: Vec<String>,
    /// The verdict; none while the game is not over.
    pub verdict: Option<Verdict>,
}

/// The end of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Verdict {
    /// The outcome.
    pub outcome: Outcome,
    /// The rule that ended the game.
    pub reason: Reason,
    /// The number of moves made.
    pub ply: usize,
    /// The explanation in English.
    pub english: String,
    /// The explanation in Chinese.
    pub chinese: String,
}

/// A list of moves that cannot be judged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum JudgeError {
    #[error(transparent)]
    Fen(#[from] FenError),
    #[error("move {number}: {source}")]
    Move { number: usize, source: NotationError },
    #[error(transparent)]
    Push(#[from] PushError),
}

impl Judgement {
    /// Judges the moves from a position, the initial one without a FEN.
    ///
    /// # Errors
    ///
    /// If the position or a move cannot be read, a move is illegal, or it comes after the end.
    pub fn of<M: AsRef<str>>(
        fen: Option<&str>,
        moves: impl IntoIterator<Item = M>,
        rules: RuleSet,
        notation: Notation,
    ) -> Result<Self, JudgeError> {
        let mut game = Game::new(fen.map_or_else(|| Ok(Fen::start()), str::parse)?, rules);
        for (index, text) in moves.into_iter().enumerate() {
            let number = index + 1;
            let mv = game.position().parse_move_in(text.as_ref(), notation);
            let mv = mv.map_err(|source| JudgeError::Move { number, source })?;
            game.push(mv)?;
        }
        let ending = game.status().ending();
        let position = game.position();
        let shown = |mv| position.format_move(mv, notation);
        let legal_moves =
            if ending.is_none() { position.legal_moves().into_iter().map(shown).collect() } else { Vec::new() };
        let verdict = ending.map(|ending| {
            let explanation = game.explain(ending);
            Verdict {
                outcome: ending.outcome,
                reason: ending.reason,
                ply: ending.ply,
                english: explanation.english,
                chinese: explanation.chinese,
            }
        });
        Ok(Self { fen: game.fen().to_string(), legal_moves, verdict })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(fen: Option<&str>, moves: &[&str]) -> Result<Judgement, String> {
        Judgement::of(fen, moves, RuleSet::Cxr, Notation::Uci).map_err(|error| error.to_string())
    }

    #[test]
    fn a_list_of_moves_is_judged() {
        let start = judge(None, &[]).unwrap();
        assert_eq!((start.legal_moves.len(), &start.verdict), (44, &None));
        let mate = judge(Some("4k4/R8/7R1/9/9/9/9/9/9/3K5 w"), &["h7h9"]).unwrap();
        let verdict = mate.verdict.unwrap();
        assert_eq!((verdict.outcome, verdict.reason, verdict.ply), (Outcome::RedWins, Reason::Checkmate, 1));
        assert!(mate.legal_moves.is_empty() && verdict.english.contains("mate"), "{}", verdict.english);
    }

    #[test]
    fn an_error_names_its_move() {
        assert!(judge(Some("x"), &[]).unwrap_err().contains("`x`"));
        assert_eq!(judge(None, &["h2e2", "h2e2"]).unwrap_err(), "move 2: `h2e2`: nothing of Black's stands on h2");
        let after = judge(Some("4k4/R8/7R1/9/9/9/9/9/9/3K5 w"), &["h7h9", "e9e8"]).unwrap_err();
        assert!(after.starts_with("move 2"), "{after}");
    }
}
