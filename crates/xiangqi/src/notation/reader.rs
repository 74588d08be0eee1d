//! Reads whole games: lists of moves, engine commands, and games in PGN.
//!
//! One reader serves every notation. A text may hold a position: a FEN, `startpos` or a PGN tag. It
//! may hold moves with or without numbers, results in English or Chinese, comments, variations and
//! glyphs.
//!
//! Nothing is dropped silently. [`Tokens`] assigns every byte of a text to exactly one token, and
//! [`Transcript::skipped`] lists what is neither position, move, number nor result. A word that is
//! nothing of this is an error, which names its place.
//!
//! ```
//! use xiangqi::{notation::reader::Transcript, rules::RuleSet};
//!
//! let transcript = Transcript::read("", "1. C2=5, H8+7; 2. H2+3 {solid} R9=8; 3. 车一平二")?;
//! assert_eq!(transcript.moves.len(), 5);
//! assert_eq!(transcript.skipped[0].to_string(), "comment `{solid}` at line 1, column 24");
//! let replay = transcript.play(RuleSet::Cxr)?;
//! assert_eq!(replay.game.moves().last().map(|mv| mv.to_string()).as_deref(), Some("i0h0"));
//! # Ok::<(), xiangqi::notation::reader::ReadError>(())
//! ```

mod error;
mod resolve;
mod tokens;
mod words;

pub use error::{ReadError, ReadErrorKind};
pub(super) use resolve::parse_in;
pub use resolve::resolve;
pub use tokens::{Token, TokenKind, Tokens};

use std::fmt;

use super::chinese;
use crate::{
    Color, Fen,
    rules::{Game, Outcome, RuleSet},
    text::shortened,
};

/// A place in a text, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

impl Place {
    /// The beginning of a text.
    pub const START: Self = Self { line: 1, column: 1 };

    /// The place behind a text that begins here.
    #[must_use]
    pub fn behind(self, text: &str) -> Self {
        match text.rfind('\n') {
            None => Self { column: self.column + text.chars().count(), ..self },
            Some(end) => {
                let lines = text.bytes().filter(|byte| *byte == b'\n').count();
                Self { line: self.line + lines, column: 1 + text[end + 1..].chars().count() }
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A move as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenMove {
    /// The move's text, without blanks.
    pub text: String,
    /// Its place.
    pub place: Place,
}

/// A part of a text that was recognised and not used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Skipped {
    /// Its kind: a comment, a variation or a glyph.
    pub kind: TokenKind,
    /// Its place.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub place: Place,
    /// Its text, shortened if it is long.
    pub text: String,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}` at {}", self.kind.name(), self.text, self.place)
    }
}

/// A game as a text holds it. Whether its moves are legal is not yet known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// The position before the first move.
    pub start: Fen,
    /// The moves.
    pub moves: Vec<WrittenMove>,
    /// The result that the text states; the inner option is empty for `*`.
    pub result: Option<Option<Outcome>>,
    /// The tags of PGN, with their values as written.
    pub tags: Vec<(String, String)>,
    /// All that was recognised and not used.
    pub skipped: Vec<Skipped>,
}

/// A transcript, played.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The game, until the rules or its moves ended it.
    pub game: Game,
    /// The number of moves written after the end. They only need the form of a move.
    pub moves_after_end: usize,
}

impl Transcript {
    /// Reads a position and moves. Either text may hold both; the starting position is the default.
    ///
    /// # Errors
    ///
    /// If a word has no known form, a bracket is not closed, or a position is invalid. Also if the
    /// texts hold two positions, two results, or moves after a result.
    pub fn read(position: &str, moves: &str) -> Result<Self, ReadError> {
        let mut transcript =
            Self { start: Fen::start(), moves: Vec::new(), result: None, tags: Vec::new(), skipped: Vec::new() };
        let mut has_position = false;
        for (text, tokens) in [(position, Tokens::of_position(position)), (moves, Tokens::new(moves))] {
            let mut next = Place::START;
            for token in tokens {
                let place = next;
                next = place.behind(token.text);
                let in_position = std::ptr::eq(text, position);
                let taken = transcript.take(token, place, &mut has_position);
                taken.map_err(|kind| ReadError { place, in_position, kind, hint: None })?;
            }
        }
        Ok(transcript)
    }

    fn take(&mut self, token: Token<'_>, place: Place, has_position: &mut bool) -> Result<(), ReadErrorKind> {
        let text = token.text;
        let position = match token.kind {
            TokenKind::StartPosition => Some("startpos"),
            TokenKind::Fen => Some(text),
            TokenKind::Tag => match tag(text) {
                Some(("FEN", value)) => Some(value),
                _ => None,
            },
            _ => None,
        };
        if let Some(fen) = position {
            if *has_position || !self.moves.is_empty() {
                return Err(ReadErrorKind::SecondPosition);
            }
            *has_position = true;
            if fen != "startpos" {
                self.start = fen.parse()?;
            }
        }
        match token.kind {
            TokenKind::Result if self.result.is_some() => Err(ReadErrorKind::SecondResult { text: shortened(text) }),
            TokenKind::Move if self.result.is_some() => Err(ReadErrorKind::AfterResult { text: shortened(text) }),
            TokenKind::Result => {
                self.result = Some(outcome(text));
                Ok(())
            }
            TokenKind::Move => {
                self.moves.push(WrittenMove { text: text.split_whitespace().collect(), place });
                Ok(())
            }
            TokenKind::Tag => {
                self.tags.extend(tag(text).map(|(name, value)| (name.to_owned(), value.to_owned())));
                Ok(())
            }
            TokenKind::Comment | TokenKind::Variation | TokenKind::Glyph => {
                self.skipped.push(Skipped { kind: token.kind, place, text: shortened(text) });
                Ok(())
            }
            TokenKind::Unclosed => Err(ReadErrorKind::Unclosed { text: shortened(text) }),
            TokenKind::Unknown => Err(ReadErrorKind::Unknown { text: shortened(text), number: self.moves.len() + 1 }),
            _ => Ok(()),
        }
    }

    /// The value of a tag.
    #[must_use]
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.tags.iter().find(|(tag, _)| tag == name).map(|(_, value)| value.as_str())
    }

    /// Plays the moves until they or the rules end the game.
    ///
    /// # Errors
    ///
    /// If a move before the end is not legal.
    pub fn play(&self, rules: RuleSet) -> Result<Replay, ReadError> {
        let mut game = Game::new(self.start.clone(), rules);
        // A game that names its notation is read in no other.
        let notation = self.tag("Notation").and_then(|name| name.parse().ok());
        let (moves, mut error) =
            resolve(&self.start.position, notation, || self.moves.iter().map(|mv| mv.text.as_str()));
        for index in 0..self.moves.len() {
            if game.status().ending().is_some() {
                return Ok(Replay { game, moves_after_end: self.moves.len() - index });
            }
            if let Some(mv) = moves.get(index) {
                game.push_legal(*mv);
            } else if let Some(error) = error.take() {
                let kind = ReadErrorKind::Move { number: index + 1, error };
                return Err(ReadError { place: self.moves[index].place, in_position: false, kind, hint: self.hint() });
            }
        }
        Ok(Replay { game, moves_after_end: 0 })
    }

    /// A suspicion: every numeral is that of the other side. Red's numbers are Chinese and Black's
    /// are Arabic, so the text may belong to a position with the other side to move.
    #[must_use]
    pub fn hint(&self) -> Option<Hint> {
        let first = self.start.position.turn();
        let mut sides = 0;
        for (index, mv) in self.moves.iter().enumerate() {
            if mv.text.is_ascii() {
                continue;
            }
            let turn = if index % 2 == 0 { first } else { !first };
            if chinese::side_of_numerals(&mv.text) != Some(!turn) {
                return None;
            }
            sides += 1;
        }
        (sides >= 2).then_some(Hint { first })
    }
}

/// The hint that all numerals are those of the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The side that moves first in the position.
    pub first: Color,
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, other) = (self.first.name(), self.first.opponent().name());
        write!(
            f,
            "all numerals are the other side's (Red's are Chinese, Black's Arabic): {first} moves first in the \
             position, and the text begins with {other}"
        )
    }
}

/// The name of a tag, and its value as written. A value with a backslash keeps it.
#[must_use]
pub fn tag(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.strip_prefix('[')?.split_once('"')?;
    let (value, _) = value.rsplit_once('"')?;
    Some((name.trim(), value.trim()))
}

/// The outcome that a result says; `None` for `*`, or if it is no result.
#[must_use]
pub fn outcome(text: &str) -> Option<Outcome> {
    words::outcome(text)
}

#[cfg(test)]
mod tests;
