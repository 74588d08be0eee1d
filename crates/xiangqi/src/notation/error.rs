//! Errors of move parsing.

use super::{Notation, coordinates};
use crate::{Color, Move, PieceKind, Square, text::shortened};

/// An error: the text is no legal move of the position. Each message is one line and quotes the
/// text, shortened if it is long.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum NotationError {
    #[error("`{text}` is not a move in {notation}, which writes `{}`", notation.example())]
    NotAMove { text: String, notation: Notation },
    #[error("`{text}` is not a move in any known notation")]
    NotRecognized { text: String },
    #[error("`{text}`: nothing of {}'s stands on {}", side.name(), coordinates::point(*from, *notation))]
    NothingThere { text: String, notation: Notation, side: Color, from: Square },
    #[error("`{text}`: {}'s own {} stands on {}", side.name(), kind.name(), coordinates::point(*to, *notation))]
    OwnPieceThere { text: String, notation: Notation, side: Color, kind: PieceKind, to: Square },
    #[error(
        "`{text}`: {}'s {} on {} does not go to {}",
        side.name(), kind.name(), coordinates::point(*from, *notation), coordinates::point(*to, *notation)
    )]
    OutOfReach { text: String, notation: Notation, side: Color, kind: PieceKind, from: Square, to: Square },
    #[error("`{text}`: {} has no such piece", side.name())]
    NoSuchPiece { text: String, side: Color },
    #[error("`{text}`: the piece does not go there")]
    NoSuchMove { text: String },
    #[error("`{text}`: it would leave {}'s king in check", side.name())]
    KingInCheck { text: String, side: Color },
    #[error("`{text}`: it could be {one} or {other}")]
    Ambiguous { text: String, one: Move, other: Move },
}

impl NotationError {
    /// The text does not have the notation's form.
    #[cold]
    pub(super) fn not_a_move(text: &str, notation: Notation) -> Self {
        Self::NotAMove { text: shortened(text), notation }
    }

    /// The text has no notation's form.
    #[cold]
    pub(super) fn not_recognized(text: &str) -> Self {
        Self::NotRecognized { text: shortened(text) }
    }
}

#[cfg(test)]
mod tests {
    use crate::Position;

    #[test]
    fn messages_stay_on_one_short_line() {
        let start = Position::start();
        for text in ["h2\ne2", &"车".repeat(100_000), "\u{2028}", "\0\0\0\0", &"\r\n".repeat(1000)] {
            let message = start.parse_move(text).unwrap_err().to_string();
            assert!(message.chars().count() < 300 && !message.contains(['\n', '\r', '\0', '\u{2028}']), "{message}");
        }
    }
}
