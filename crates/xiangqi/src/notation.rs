//! Move notations of engines, players and books.
//!
//! There are two families. *Coordinate* notations name two points, whatever the position: UCI,
//! UCCI, ICCS. *Relative* notations name a piece as its player sees it, and its step: 炮二平五, `C2=5`.
//! Both are parsed against a position and yield a legal move, or an error with the reason.
//!
//! Parsing is lenient where books differ without loss. Formatting has one form per move, and
//! different moves of a position have different texts. [`reader`] reads whole games, with move
//! numbers, comments and results.
//!
//! ```
//! use xiangqi::{Position, notation::{Notation, parse_any}};
//!
//! let position = Position::start();
//! let mv = position.parse_move("h2e2")?;
//! assert_eq!(position.format_move(mv, Notation::Wxf), "C2=5");
//! assert_eq!(position.format_move(mv, Notation::ChineseSimplified), "炮二平五");
//! assert_eq!(parse_any(&position, "砲二平五")?, mv);
//!
//! let error = position.parse_move("b0b3").unwrap_err();
//! assert_eq!(error.to_string(), "`b0b3`: Red's horse on b0 does not go to b3");
//! # Ok::<(), xiangqi::notation::NotationError>(())
//! ```

mod chinese;
mod coordinates;
mod error;
pub mod reader;
mod relative;
#[cfg(test)]
mod samples;
mod wxf;

pub use chinese::simplified_name;
pub use error::NotationError;

use std::{fmt, str::FromStr};

use crate::{Move, Position};
use chinese::Script;
use relative::Description;

/// A move notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Notation {
    /// `h2e2`: ranks 0 to 9. Chuhe's own, in files and protocols.
    Uci,
    /// `h3e3`, `a1a10`: ranks 1 to 10, as written by engines of Western descent.
    Uci1,
    /// `h2e2`: the Chinese engines' protocol; moves are written as in [`Notation::Uci`].
    Ucci,
    /// `H2-E2`: ranks 0 to 9. Any case, hyphen optional when parsed.
    Iccs,
    /// `C2=5`: the World Xiangqi Federation's letters.
    Wxf,
    /// 炮二平五 in simplified characters. Both scripts are parsed.
    ChineseSimplified,
    /// 炮二平五 in traditional characters. Both scripts are parsed.
    ChineseTraditional,
}

impl Notation {
    /// Every notation.
    pub const ALL: [Self; 7] =
        [Self::Uci, Self::Uci1, Self::Ucci, Self::Iccs, Self::Wxf, Self::ChineseSimplified, Self::ChineseTraditional];

    /// The name used in commands and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uci => "uci",
            Self::Uci1 => "uci1",
            Self::Ucci => "ucci",
            Self::Iccs => "iccs",
            Self::Wxf => "wxf",
            Self::ChineseSimplified => "chinese_simplified",
            Self::ChineseTraditional => "chinese_traditional",
        }
    }

    /// Red's most common first move in this notation.
    #[must_use]
    pub const fn example(self) -> &'static str {
        match self {
            Self::Uci | Self::Ucci => "h2e2",
            Self::Uci1 => "h3e3",
            Self::Iccs => "H2-E2",
            Self::Wxf => "C2=5",
            Self::ChineseSimplified | Self::ChineseTraditional => "炮二平五",
        }
    }
}

impl fmt::Display for Notation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An error: the text names no notation. `chinese` is read as `chinese_simplified`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the notations are uci, uci1, ucci, iccs, wxf, chinese_simplified and chinese_traditional")]
pub struct ParseNotationError;

impl FromStr for Notation {
    type Err = ParseNotationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "chinese" {
            return Ok(Self::ChineseSimplified);
        }
        Self::ALL.into_iter().find(|notation| notation.name() == text).ok_or(ParseNotationError)
    }
}

impl Position {
    /// Parses a legal move in UCI with ranks 0 to 9, as in `h2e2`. Fast enough for millions of
    /// calls.
    ///
    /// # Errors
    ///
    /// If the text is no move, or the move is illegal.
    #[inline]
    pub fn parse_move(&self, text: &str) -> Result<Move, NotationError> {
        self.parse_move_in(text, Notation::Uci)
    }

    /// Parses a legal move in a notation. Surrounding blanks are not accepted.
    ///
    /// # Errors
    ///
    /// If the text is no move in this notation, or describes no legal move, or several.
    pub fn parse_move_in(&self, text: &str, notation: Notation) -> Result<Move, NotationError> {
        let pattern = match notation {
            Notation::Uci | Notation::Uci1 | Notation::Ucci | Notation::Iccs => {
                return coordinates::parse(self, text, notation);
            }
            Notation::Wxf => wxf::read(self, text),
            Notation::ChineseSimplified | Notation::ChineseTraditional => chinese::read(text),
        };
        let pattern = pattern.ok_or_else(|| NotationError::not_a_move(text, notation))?;
        relative::find(self, text, pattern)
    }

    /// Formats a move, which must be legal here.
    ///
    /// # Panics
    ///
    /// If the origin is empty and the notation names pieces.
    #[must_use]
    pub fn format_move(&self, mv: Move, notation: Notation) -> String {
        match notation {
            Notation::Uci | Notation::Uci1 | Notation::Ucci | Notation::Iccs => coordinates::write(mv, notation),
            Notation::Wxf => wxf::write(Description::of(self, mv)),
            Notation::ChineseSimplified => chinese::write(Description::of(self, mv), Script::Simplified),
            Notation::ChineseTraditional => chinese::write(Description::of(self, mv), Script::Traditional),
        }
    }
}

/// Parses a legal move in any notation; surrounding blanks are ignored.
///
/// Only coordinates are ambiguous: ranks 0 to 9 take precedence, and ranks 1 to 10 are tried if
/// that yields no legal move. Use [`Position::parse_move_in`] if the notation is known.
///
/// # Errors
///
/// If the text is a move in no notation, or describes no legal move, or several. The error is that
/// of the first notation whose form the text has.
pub fn parse_any(position: &Position, text: &str) -> Result<Move, NotationError> {
    const NOTATIONS: [Notation; 5] =
        [Notation::Uci, Notation::Uci1, Notation::Iccs, Notation::Wxf, Notation::ChineseSimplified];
    reader::parse_in(position, text.trim(), &NOTATIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for notation in Notation::ALL {
            assert_eq!(notation.name().parse(), Ok(notation));
            assert_eq!(notation.to_string(), notation.name());
        }
        assert_eq!("chinese".parse(), Ok(Notation::ChineseSimplified));
        assert_eq!("UCI".parse::<Notation>(), Err(ParseNotationError));
        let listed = ParseNotationError.to_string();
        assert!(Notation::ALL.into_iter().all(|notation| listed.contains(notation.name())));
    }

    #[test]
    fn examples_are_one_move() {
        let start = Position::start();
        let mv = start.parse_move("h2e2").unwrap();
        for notation in Notation::ALL {
            assert_eq!(start.parse_move_in(notation.example(), notation), Ok(mv));
            assert_eq!(start.format_move(mv, notation), notation.example());
            assert_eq!(parse_any(&start, notation.example()), Ok(mv));
        }
    }

    #[test]
    fn any_notation_is_recognized() {
        let start = Position::start();
        let read = |text| parse_any(&start, text).map(|mv| mv.to_string());
        for text in ["  b0c2\n", "b1c3", "B0-C2", "b0-c2", "H8+7", "n8+7", "马八进七", "傌8上7", "馬８進７\u{3000}"]
        {
            assert_eq!(read(text).as_deref(), Ok("b0c2"), "{text}");
        }
        // Ranks 0 to 9 take precedence where both are legal.
        assert_eq!(read("a0a1").as_deref(), Ok("a0a1"));
        assert_eq!(read("a1a2").as_deref(), Ok("a0a1"));
        assert_eq!(read("h3h10").as_deref(), Ok("h2h9"));
    }

    #[test]
    fn the_error_of_the_first_notation_that_fits_is_reported() {
        let start = Position::start();
        let error = |text| parse_any(&start, text).unwrap_err().to_string();
        assert_eq!(error(" a1a9 "), "`a1a9`: nothing of Red's stands on a1");
        assert_eq!(error("a10a9"), "`a10a9`: nothing of Red's stands on a10");
        assert_eq!(error("A0-A9"), "`A0-A9`: Red's chariot on A0 does not go to A9");
        assert_eq!(error("C3=5"), "`C3=5`: Red has no such piece");
        assert_eq!(error("炮二平二"), "`炮二平二`: the piece does not go there");
        assert_eq!(error("e2e4!"), "`e2e4!` is not a move in any known notation");
        assert_eq!(error(""), "`` is not a move in any known notation");
    }
}
