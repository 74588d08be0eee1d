//! Reads whole games: lists of moves, engine commands, and games in PGN.
//!
//! One reader serves every notation. A text may hold a position: a FEN, `startpos` or a PGN tag. It
//! may hold moves with or without numbers, results in English or Chinese, comments, variations and
//! glyphs.
//!
//! Nothing is dropped silently. [`Tokens`] assigns every byte of a text to exactly one token, and
//! [`Transcript::skipped`] lists what is neither position, move, result nor tag. It also lists the
//! numbers that do not count the moves, and the tags that say nothing. A word that is nothing of
//! this is an error, which names its place.
//!
//! [`Games`] splits a file of many games in PGN, and holds one of them in memory.
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

mod collect;
mod error;
mod games;
mod judged;
mod numbers;
mod parts;
mod resolve;
mod results;
mod tokens;
mod words;

pub use error::{ReadError, ReadErrorKind};
pub use games::{GameText, Games, MAX_GAME_BYTES};
pub use judged::{Agreement, DRAW_WINS_BLACK, JudgedGame};
pub use parts::{Place, Skipped, WrittenMove};
pub(super) use resolve::parse_in;
pub use resolve::resolve;
pub use tokens::{Token, TokenKind, Tokens};

use std::fmt;

use super::chinese;
use crate::{
    Color, Fen, Move,
    rules::{Game, Outcome, RuleSet},
};
use collect::Collector;

/// A game as a text holds it. Whether its moves are legal is not yet known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// The position before the first move.
    pub start: Fen,
    /// The moves.
    pub moves: Vec<WrittenMove>,
    /// The result that the text states behind its moves; the inner option is empty for `*`.
    pub result: Option<Option<Outcome>>,
    /// The tags of PGN, with their values.
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
        Self::read_from([Tokens::of_position(position), Tokens::new(moves)], Place::START)
    }

    /// Reads a game whose text begins at this line of a file. All places are those of the file.
    ///
    /// # Errors
    ///
    /// As [`Transcript::read`].
    pub fn read_at(line: usize, game: &str) -> Result<Self, ReadError> {
        Self::read_from([Tokens::new(""), Tokens::new(game)], Place { line, ..Place::START })
    }

    fn read_from(texts: [Tokens<'_>; 2], start: Place) -> Result<Self, ReadError> {
        let mut collector = Collector::default();
        for (index, tokens) in texts.into_iter().enumerate() {
            let mut next = start;
            for token in tokens {
                let place = next;
                next = place.behind(token.text);
                let taken = collector.take(index, place, token);
                taken.map_err(|kind| ReadError { place, in_position: index == 0, kind, hint: None })?;
            }
        }
        Ok(collector.finish())
    }

    /// The value of a tag.
    #[must_use]
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.tags.iter().find(|(tag, _)| tag == name).map(|(_, value)| value.as_str())
    }

    /// The result that the text claims, behind its moves or in its tag; the inner option is empty
    /// if the game is not over.
    #[must_use]
    pub fn claimed(&self) -> Option<Option<Outcome>> {
        self.result.or_else(|| self.tag("Result").map(outcome))
    }

    /// The legal moves at the beginning, and the error of the next one, if there is one.
    #[must_use]
    pub fn legal_moves(&self) -> (Vec<Move>, Option<ReadError>) {
        // A game that names its notation is read in no other.
        let notation = self.tag("Notation").and_then(|name| name.parse().ok());
        let (moves, error) = resolve(&self.start.position, notation, || self.moves.iter().map(|mv| mv.text.as_str()));
        let error = error.zip(self.moves.get(moves.len())).map(|(error, written)| ReadError {
            place: written.place,
            in_position: false,
            kind: ReadErrorKind::Move { number: moves.len() + 1, error },
            hint: self.hint(),
        });
        (moves, error)
    }

    /// Plays the moves until they or the rules end the game.
    ///
    /// # Errors
    ///
    /// If a move before the end is not legal.
    pub fn play(&self, rules: RuleSet) -> Result<Replay, ReadError> {
        let mut game = Game::new(self.start.clone(), rules);
        let (moves, error) = self.legal_moves();
        for mv in moves {
            if game.status().ending().is_some() {
                break;
            }
            game.push_legal(mv);
        }
        let moves_after_end = self.moves.len() - game.len();
        match error {
            Some(error) if game.status().ending().is_none() => Err(error),
            _ => Ok(Replay { game, moves_after_end }),
        }
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
        (sides >= 1).then_some(Hint { first })
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

/// The outcome that a result says; `None` for `*`, or if it is no result.
#[must_use]
pub fn outcome(text: &str) -> Option<Outcome> {
    results::outcome(text)
}

#[cfg(test)]
mod tests;
