//! The notation of an engine's squares, and its detection.

use std::{fmt, str::FromStr};

use xiangqi::{Fen, Position, notation::Notation};

/// An engine's numbering of ranks, from Red's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// From 0 to 9: `h2e2`.
    FromZero,
    /// From 1 to 10: `h3e3`.
    FromOne,
}

impl Dialect {
    pub(super) const ALL: [Self; 2] = [Self::FromZero, Self::FromOne];

    /// The move notation of this dialect.
    pub(crate) const fn notation(self) -> Notation {
        match self {
            Self::FromZero => Notation::Uci,
            Self::FromOne => Notation::Uci1,
        }
    }

    /// The dialect in which a text is a legal first move; no text is one in both.
    pub(super) fn of_first_move(text: &str) -> Option<Self> {
        let start = Position::start();
        Self::ALL.into_iter().find(|dialect| start.parse_move_in(text, dialect.notation()).is_ok())
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FromZero => "ranks 0 to 9",
            Self::FromOne => "ranks 1 to 10",
        })
    }
}

impl FromStr for Dialect {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "0" => Ok(Self::FromZero),
            "1" => Ok(Self::FromOne),
            _ => Err("ranks are counted from `0` or from `1`"),
        }
    }
}

/// The position in an engine's reply to `d`: the text after `Fen:`, or after our engine's `info
/// string fen` (UCCI: `info message fen`).
pub(super) fn shown_position(line: &str) -> Option<Position> {
    let ours = line.strip_prefix("info string ").or_else(|| line.strip_prefix("info message "));
    let (word, fen) = ours.unwrap_or(line).split_once([':', ' '])?;
    if !word.eq_ignore_ascii_case("fen") {
        return None;
    }
    fen.parse::<Fen>().ok().map(|fen| fen.position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_move_tells_the_dialect() {
        let start = Position::start();
        for mv in start.legal_moves() {
            for dialect in Dialect::ALL {
                let text = start.format_move(mv, dialect.notation());
                assert_eq!(Dialect::of_first_move(&text), Some(dialect), "{text}");
            }
        }
        assert_eq!(Dialect::of_first_move("(none)"), None);
    }

    #[test]
    fn positions_are_found_in_the_output_of_engines() {
        let fen = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1";
        assert_eq!(shown_position(&format!("Fen: {fen}")), Some(Position::start()));
        assert_eq!(shown_position(&format!("info string fen {fen}")), Some(Position::start()));
        assert_eq!(shown_position(&format!("info message fen {fen}")), Some(Position::start()));
        assert_eq!(shown_position(&format!("Sfen: {fen}")), None);
        assert_eq!(shown_position("Fen: what"), None);
        assert_eq!(shown_position("Checkers:"), None);
    }
}
