//! A case: a game and its expected verdict.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use xiangqi::{
    Fen, FenError, Move, ParseMoveError,
    notation::NotationError,
    rules::{Game, Outcome, RuleSet, Status},
    text::shortened,
};

/// A line of a batch. Unknown fields are ignored.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    /// The name in reports.
    pub name: String,
    /// The starting position.
    pub fen: String,
    /// The moves from there.
    #[serde(default)]
    pub moves: Vec<String>,
    /// The expected verdict.
    pub expected: Expected,
}

/// A verdict as case files write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// Black won.
    RedLoses,
    /// Red won.
    BlackLoses,
    /// A draw.
    Draw,
    /// The game continues.
    None,
}

impl From<&Status> for Expected {
    fn from(status: &Status) -> Self {
        match status.ending().map(|ending| ending.outcome) {
            None => Self::None,
            Some(Outcome::RedWins) => Self::BlackLoses,
            Some(Outcome::BlackWins) => Self::RedLoses,
            Some(Outcome::Draw) => Self::Draw,
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::RedLoses => "red_loses",
            Self::BlackLoses => "black_loses",
            Self::Draw => "draw",
            Self::None => "none",
        })
    }
}

/// An error of a case's text or of its game.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum CaseError {
    #[error("not a case: not an object, which begins with `{{`")]
    NoObject,
    #[error("not a case: {fault}, column {column}")]
    Json { fault: String, column: usize },
    #[error(transparent)]
    Fen(#[from] FenError),
    #[error("move {number}: {error}")]
    Move { number: usize, error: NotationError },
    #[error("move {number}, after the end of the game: `{text}`: {error}")]
    Form { number: usize, text: String, error: ParseMoveError },
}

impl FromStr for Case {
    type Err = CaseError;

    fn from_str(line: &str) -> Result<Self, CaseError> {
        // The parser would also accept an array of the fields in order.
        if !line.trim_ascii_start().starts_with('{') {
            return Err(CaseError::NoObject);
        }
        serde_json::from_str(line).map_err(|error| {
            // The parser's message ends with the position, as if the line were the file.
            let (fault, column) = (error.to_string(), error.column());
            let fault = fault.rsplit_once(" at line ").map_or(fault.as_str(), |(fault, _)| fault);
            CaseError::Json { fault: one_line(fault), column }
        })
    }
}

impl Case {
    pub(super) fn play(&self, rules: RuleSet) -> Result<Played, CaseError> {
        play(&self.fen, self.moves.iter().map(String::as_str), rules)
    }
}

/// Sanitises a message that may quote input: one line of limited length.
fn one_line(message: &str) -> String {
    message.chars().take(200).map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}

/// A game, played until the rules or its moves ended it.
pub(super) struct Played {
    pub(super) game: Game,
    /// The number of moves given after the end. They need only have the form of a move.
    pub(super) moves_after_end: usize,
}

/// Plays until the rules or the moves end the game.
pub(super) fn play<'a>(fen: &str, moves: impl Iterator<Item = &'a str>, rules: RuleSet) -> Result<Played, CaseError> {
    let mut game = Game::new(fen.parse::<Fen>()?, rules);
    let mut moves_after_end = 0;
    for (index, text) in moves.enumerate() {
        let number = index + 1;
        if game.status().ending().is_some() {
            let _: Move = text.parse().map_err(|error| CaseError::Form { number, text: shortened(text), error })?;
            moves_after_end += 1;
            continue;
        }
        let mv = game.position().parse_move(text).map_err(|error| CaseError::Move { number, error })?;
        // Parsing has checked its legality.
        game.push_legal(mv);
    }
    Ok(Played { game, moves_after_end })
}
