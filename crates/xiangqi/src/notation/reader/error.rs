//! Errors of the reader.

use std::fmt;

use super::{Hint, Place};
use crate::{FenError, notation::NotationError};

/// An error in the text of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The place.
    pub place: Place,
    /// Whether the place is in the text of the position.
    pub in_position: bool,
    /// The kind of error.
    pub kind: ReadErrorKind,
    /// A suspicion about the whole text.
    pub hint: Option<Hint>,
}

/// The kind of error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum ReadErrorKind {
    #[error(transparent)]
    Fen(#[from] FenError),
    #[error("move {number}: {error}")]
    Move { number: usize, error: NotationError },
    #[error("move {number}: `{text}` is not a move in any known notation")]
    Unknown { text: String, number: usize },
    #[error("`{text}` is not a tag as in `[Event \"x\"]`")]
    Tag { text: String },
    #[error("the bracket of `{text}` is not closed")]
    Unclosed { text: String },
    #[error("a second position, or a position after moves")]
    SecondPosition,
    #[error("a second result, `{text}`")]
    SecondResult { text: String },
    #[error("a move after the result: `{text}`")]
    AfterResult { text: String },
    #[error("the result `{text}` is not that of the tag, `{tag}`")]
    OtherResult { text: String, tag: String },
    #[error("the tag `{tag}` is not the result before it")]
    TagAfterResult { tag: String },
    #[error("a byte that is neither UTF-8 nor GBK")]
    NotUtf8,
}

impl std::error::Error for ReadError {}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The number of a move is place enough on a single line, and a FEN names its own place.
        let is_placed = match self.kind {
            ReadErrorKind::Move { .. } | ReadErrorKind::Unknown { .. } => self.place.line == 1,
            ReadErrorKind::Fen(_) => true,
            _ => false,
        };
        if !is_placed {
            write!(f, "{}: ", self.place)?;
        }
        write!(f, "{}", self.kind)?;
        self.hint.map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}
