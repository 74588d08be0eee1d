//! A case: a game and its expected verdict.

use std::{fmt, str::FromStr};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error, SeqAccess, Visitor},
};
use xiangqi::{
    notation::reader::{ReadError, Replay, Transcript},
    rules::{Outcome, RuleSet, Status},
};

/// A line of a batch. Unknown fields are ignored.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    /// The name in reports.
    pub name: String,
    /// The starting position, and moves as some write them behind it; by default a game's start.
    #[serde(default)]
    pub fen: String,
    /// The moves from there: one text, or a list of texts.
    #[serde(default, deserialize_with = "one_or_many")]
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
        Self::from(status.ending().map(|ending| ending.outcome))
    }
}

impl From<Option<Outcome>> for Expected {
    fn from(outcome: Option<Outcome>) -> Self {
        match outcome {
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
    Game(#[from] ReadError),
}

fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Texts;

    impl<'de> Visitor<'de> for Texts {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string or a list of strings")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            Ok(vec![text.to_owned()])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut texts = Vec::new();
            while let Some(text) = list.next_element()? {
                texts.push(text);
            }
            Ok(texts)
        }
    }

    deserializer.deserialize_any(Texts)
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
    pub(super) fn play(&self, rules: RuleSet) -> Result<(Transcript, Replay), ReadError> {
        let transcript = Transcript::read(&self.fen, &self.moves.join(" "))?;
        let replay = transcript.play(rules)?;
        Ok((transcript, replay))
    }
}

/// Sanitises a message that may quote input: one line of limited length.
fn one_line(message: &str) -> String {
    message.chars().take(200).map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}
