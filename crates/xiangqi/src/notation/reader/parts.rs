//! The parts of a text, with their places.

use std::fmt;

use super::TokenKind;
use crate::text::shortened;

/// A place in a text, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// The move's text, without blanks, and with full-width letters as ASCII.
    pub text: String,
    /// Its place.
    pub place: Place,
}

/// A part of a text that was recognised and not used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Skipped {
    /// Its kind: a comment, variation or glyph; a tag, number, keyword or dash without use.
    pub kind: TokenKind,
    /// Its place.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub place: Place,
    /// The number of moves before it.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub after: usize,
    /// Its text. Messages and JSON shorten it.
    #[cfg_attr(feature = "serde", serde(serialize_with = "serialize_shortened"))]
    pub text: String,
}

#[cfg(feature = "serde")]
fn serialize_shortened<S: serde::Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&shortened(text))
}

impl Skipped {
    /// The words of a comment, without its marks and with single blanks. `None` if it is none, or a
    /// line that PGN escapes by `%`.
    #[must_use]
    pub fn comment(&self) -> Option<String> {
        let text = self.text.as_str();
        let bare = match text.chars().next() {
            _ if self.kind != TokenKind::Comment => None,
            Some('{') => text[1..].strip_suffix('}'),
            Some('（') => text['（'.len_utf8()..].strip_suffix('）'),
            Some(';') => Some(&text[1..]),
            _ => None,
        };
        bare.map(|bare| bare.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}` at {}", self.kind.name(), shortened(&self.text), self.place)
    }
}
