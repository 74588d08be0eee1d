//! A case: a game and the verdict it should get.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use xiangqi::{
    Fen, FenError, Move, ParseMoveError,
    notation::NotationError,
    rules::{Game, Outcome, RuleSet, Status},
    text::shortened,
};

/// A line of a batch. Fields that are not named here are left alone.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    /// What a report calls it.
    pub name: String,
    /// Where the game starts.
    pub fen: String,
    /// The moves since.
    #[serde(default)]
    pub moves: Vec<String>,
    /// The verdict it should get.
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
    /// Nobody won.
    Draw,
    /// The game goes on.
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

/// Why a text is no case, or a case no game.
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
        // The reader would take an array for the fields in their order.
        if !line.trim_ascii_start().starts_with('{') {
            return Err(CaseError::NoObject);
        }
        serde_json::from_str(line).map_err(|error| {
            // Its own message ends with the place, as if the line were the file.
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

/// A message that may quote what was read, on one line and not without end.
fn one_line(message: &str) -> String {
    message.chars().take(200).map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}

/// A game, played until the rules ended it or its moves did.
pub(super) struct Played {
    pub(super) game: Game,
    /// How many moves were given for the time after the end. They may be anything that has the form of a move.
    pub(super) moves_after_end: usize,
}

/// Plays until the rules end the game, or the moves do.
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
        // Reading it has shown that it is legal.
        game.push_legal(mv);
    }
    Ok(Played { game, moves_after_end })
}
