//! Splits a text into tokens. Every byte of the text is in exactly one token.

use super::{results, words};

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum TokenKind {
    /// Blanks and punctuation between other tokens.
    Separator,
    /// A word of engine protocols: `position`, `fen`, `moves`.
    Keyword,
    /// `startpos`.
    StartPosition,
    /// The fields of a FEN.
    Fen,
    /// A PGN tag: `[Name "value"]`.
    Tag,
    /// A move's number, with the marks behind it.
    Number,
    /// A text with the form of a move in some notation.
    Move,
    /// The result of a game, in PGN or in words.
    Result,
    /// `{…}`, `（…）`, from `;` or `%` to the end of the line.
    Comment,
    /// `(…)`, with nested ones.
    Variation,
    /// An evaluation of a move: `$1`, `!?`.
    Glyph,
    /// A dash alone.
    Dash,
    /// A comment or variation without its end.
    Unclosed,
    /// Anything else.
    Unknown,
}

impl TokenKind {
    /// The name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Separator => "separator",
            Self::Keyword => "keyword",
            Self::StartPosition | Self::Fen => "position",
            Self::Tag => "tag",
            Self::Number => "number",
            Self::Move => "move",
            Self::Result => "result",
            Self::Comment => "comment",
            Self::Variation => "variation",
            Self::Glyph => "glyph",
            Self::Dash => "dash",
            Self::Unclosed => "open bracket",
            Self::Unknown => "unknown word",
        }
    }
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// The kind.
    pub kind: TokenKind,
    /// The place of its first byte.
    pub start: usize,
    /// The token's text.
    pub text: &'a str,
}

/// Iterates over the tokens of a text.
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    text: &'a str,
    at: usize,
    /// Whether the next word is a FEN unless it has another form.
    expects_fen: bool,
}

impl<'a> Tokens<'a> {
    /// The tokens of a text of moves. A FEN is recognised by its slashes.
    #[must_use]
    pub const fn new(text: &'a str) -> Self {
        Self { text, at: 0, expects_fen: false }
    }

    /// The tokens of a text that begins with a position, whatever its form.
    #[must_use]
    pub const fn of_position(text: &'a str) -> Self {
        Self { text, at: 0, expects_fen: true }
    }

    /// Whether the token at the current place begins a line.
    fn begins_line(&self) -> bool {
        self.text[..self.at].trim_end_matches([' ', '\t']).ends_with('\n') || self.text[..self.at].trim().is_empty()
    }

    /// The kind and length of the token at the beginning of `rest`, which is not empty.
    fn classify(&mut self, rest: &str, first: char) -> (TokenKind, usize) {
        let width = first.len_utf8();
        let line = || rest.find('\n').unwrap_or(rest.len());
        if let length @ 1.. = words::separators(rest) {
            return (TokenKind::Separator, length);
        }
        match first {
            '{' => return closed(TokenKind::Comment, rest.find('}').map(|end| end + 1), rest),
            '（' => return closed(TokenKind::Comment, rest.find('）').map(|end| end + '）'.len_utf8()), rest),
            '(' => return closed(TokenKind::Variation, words::variation(rest), rest),
            '[' => return words::tag(rest).map_or_else(|| (TokenKind::Unknown, line()), |end| (TokenKind::Tag, end)),
            '-' if words::is_blank(&rest[width..]) => return (TokenKind::Dash, width),
            ';' if continues_moves(&rest[width..]) => return (TokenKind::Separator, width),
            ';' => return (TokenKind::Comment, line()),
            '%' if self.begins_line() => return (TokenKind::Comment, line()),
            '$' | '!' | '?' | '！' | '？' => return (TokenKind::Glyph, words::glyph(rest, first)),
            ')' | '}' | ']' | '）' | '%' => return (TokenKind::Unknown, width),
            _ => {}
        }
        if let Some((kind, length)) = words::keyword(rest) {
            self.expects_fen = kind == TokenKind::Keyword && !rest.starts_with(['m', 'M']);
            return (kind, length);
        }
        let expects_fen = std::mem::take(&mut self.expects_fen);
        if let Some(length) = results::length(rest) {
            return (TokenKind::Result, length);
        }
        let is_bare = |length: usize| rest[length..].chars().next().is_none_or(char::is_whitespace);
        match words::number(rest) {
            // A position may begin with a digit.
            Some(length) if !(expects_fen && is_bare(length) && words::is_digits(&rest[..length])) => {
                return (TokenKind::Number, length);
            }
            _ => {}
        }
        if let Some(length) = words::move_text(rest) {
            return (TokenKind::Move, length);
        }
        if expects_fen || words::is_board(rest) {
            return (TokenKind::Fen, words::fen(rest));
        }
        (TokenKind::Unknown, words::word(rest).max(width))
    }
}

/// Whether a semicolon before this text separates moves: no other word follows on its line, up to
/// the next semicolon. Else it begins a comment.
pub(super) fn continues_moves(rest: &str) -> bool {
    use TokenKind::{Comment, Glyph, Move, Number, Result, Separator, Unclosed, Variation};
    let mut tokens = Tokens::new(rest);
    loop {
        match tokens.text[tokens.at..].chars().next() {
            None | Some(';') => return true,
            Some('%') => return false,
            Some(_) => {}
        }
        let Some(token) = tokens.next() else { return true };
        match token.kind {
            Separator | Number | Move | Result | Comment | Variation | Glyph | Unclosed => {}
            _ => return false,
        }
        if token.text.contains('\n') {
            return true;
        }
    }
}

fn closed(kind: TokenKind, end: Option<usize>, rest: &str) -> (TokenKind, usize) {
    end.map_or((TokenKind::Unclosed, rest.len()), |end| (kind, end))
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let rest = &self.text[self.at..];
        let (kind, length) = self.classify(rest, rest.chars().next()?);
        let start = self.at;
        self.at += length;
        Some(Token { kind, start, text: &rest[..length] })
    }
}
