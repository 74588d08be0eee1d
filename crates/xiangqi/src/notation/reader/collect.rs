//! Collects the tokens of a text into a transcript.

use std::borrow::Cow;

use super::{
    Place, ReadErrorKind, Skipped, Token, TokenKind, Transcript, WrittenMove,
    numbers::{Number, fitting},
    outcome, words,
};
use crate::{Fen, notation::Notation, rules::RuleSet, text::shortened};

/// A token with its place, which may turn out to say nothing.
#[derive(Clone, Copy)]
struct Placed<'a> {
    /// The text of the two, and the place in it.
    place: (usize, Place),
    kind: TokenKind,
    text: &'a str,
    /// The number of moves before it.
    after: usize,
}

impl Placed<'_> {
    fn skipped(self) -> ((usize, Place), Skipped) {
        let Self { place, kind, text, after } = self;
        (place, Skipped { kind, place: place.1, after, text: text.to_owned() })
    }
}

/// A transcript in the making.
pub(super) struct Collector<'a> {
    transcript: Transcript,
    has_position: bool,
    /// Whether the last token was a position, or there is none yet. `moves` may follow.
    expects_moves: bool,
    /// `position` and `fen`, until a position follows.
    keywords: Vec<Placed<'a>>,
    numbers: Vec<(Number, Placed<'a>)>,
    skipped: Vec<((usize, Place), Skipped)>,
}

impl Default for Collector<'_> {
    fn default() -> Self {
        let (moves, tags, skipped) = Default::default();
        Self {
            transcript: Transcript { start: Fen::start(), moves, result: None, tags, skipped },
            has_position: false,
            expects_moves: true,
            keywords: Vec::new(),
            numbers: Vec::new(),
            skipped: Vec::new(),
        }
    }
}

impl<'a> Collector<'a> {
    /// Takes the next token of the first or the second text.
    pub(super) fn take(&mut self, text: usize, place: Place, token: Token<'a>) -> Result<(), ReadErrorKind> {
        let after = self.transcript.moves.len();
        let placed = Placed { place: (text, place), kind: token.kind, text: token.text, after };
        let text = token.text;
        if token.kind == TokenKind::Separator {
            return Ok(());
        }
        if !matches!(token.kind, TokenKind::Keyword | TokenKind::Fen | TokenKind::StartPosition) {
            self.drop_keywords();
        }
        let expects_moves = std::mem::take(&mut self.expects_moves);
        match token.kind {
            TokenKind::Separator => {}
            TokenKind::Keyword if text.eq_ignore_ascii_case("moves") => {
                self.drop_keywords();
                if !expects_moves {
                    self.skipped.push(placed.skipped());
                }
            }
            TokenKind::Keyword if self.has_position || after > 0 => self.skipped.push(placed.skipped()),
            TokenKind::Keyword => self.keywords.push(placed),
            TokenKind::StartPosition => self.start("startpos")?,
            TokenKind::Fen => self.start(text)?,
            TokenKind::Tag => {
                if !self.tag(text)? {
                    self.skipped.push(placed.skipped());
                }
            }
            TokenKind::Number => {
                let (value, is_marked) = (words::number_value(text), !words::is_digits(text));
                self.numbers.push((Number { value, is_marked, moves_before: after }, placed));
            }
            TokenKind::Move if self.transcript.result.is_some() => {
                return Err(ReadErrorKind::AfterResult { text: shortened(text) });
            }
            TokenKind::Move => {
                let text = text.chars().filter(|letter| !letter.is_whitespace()).map(words::narrowed).collect();
                self.transcript.moves.push(WrittenMove { text, place });
            }
            TokenKind::Result => {
                if !self.result(text)? {
                    self.skipped.push(placed.skipped());
                }
            }
            TokenKind::Comment | TokenKind::Variation | TokenKind::Glyph | TokenKind::Dash => {
                self.skipped.push(placed.skipped());
            }
            TokenKind::Unclosed => return Err(ReadErrorKind::Unclosed { text: shortened(text) }),
            TokenKind::Unknown if text.starts_with('[') => return Err(ReadErrorKind::Tag { text: shortened(text) }),
            TokenKind::Unknown => {
                return Err(ReadErrorKind::Unknown { text: shortened(text), number: after + 1 });
            }
        }
        Ok(())
    }

    fn start(&mut self, position: &str) -> Result<(), ReadErrorKind> {
        if self.has_position || !self.transcript.moves.is_empty() {
            return Err(ReadErrorKind::SecondPosition);
        }
        self.has_position = true;
        self.expects_moves = true;
        self.keywords.clear();
        if !position.eq_ignore_ascii_case("startpos") {
            self.transcript.start = position.parse()?;
        }
        Ok(())
    }

    /// Keeps a result. Returns whether it is the first; another of the same meaning says nothing.
    fn result(&mut self, text: &str) -> Result<bool, ReadErrorKind> {
        let result = outcome(text);
        if let Some(first) = self.transcript.result {
            return if first == result {
                Ok(false)
            } else {
                Err(ReadErrorKind::SecondResult { text: shortened(text) })
            };
        }
        if let Some(tag) = self.transcript.tag("Result").filter(|tag| outcome(tag) != result) {
            return Err(ReadErrorKind::OtherResult { text: shortened(text), tag: shortened(tag) });
        }
        self.transcript.result = Some(result);
        Ok(true)
    }

    /// Keeps a tag. Returns whether it is of use: it is the first of its name, and its value is one
    /// of those that there are.
    fn tag(&mut self, text: &str) -> Result<bool, ReadErrorKind> {
        let Some((name, value)) = name_and_value(text) else { return Ok(false) };
        // Programs write the names of tags in any case.
        let name = ["FEN", "Result", "Rules", "Notation"]
            .into_iter()
            .find(|own| own.eq_ignore_ascii_case(name))
            .unwrap_or(name);
        let is_of_use = match name {
            // Some programs write an empty one where a game starts.
            "FEN" if value.trim().is_empty() => false,
            "FEN" if self.transcript.tag(name).is_some_and(|first| *first == *value) => false,
            "FEN" => {
                self.start(value.trim())?;
                true
            }
            "Result" => value == "*" || outcome(&value).is_some(),
            "Rules" => value.parse::<RuleSet>().is_ok(),
            "Notation" => value.parse::<Notation>().is_ok(),
            _ => true,
        };
        if name == "Result" && is_of_use {
            let result = outcome(&value);
            if self.transcript.tag(name).is_some_and(|first| outcome(first) != result) {
                return Err(ReadErrorKind::SecondResult { text: shortened(text) });
            }
            if self.transcript.result.is_some_and(|read| read != result) {
                return Err(ReadErrorKind::TagAfterResult { tag: shortened(&value) });
            }
        }
        if !is_of_use || self.transcript.tag(name).is_some() {
            return Ok(false);
        }
        self.transcript.tags.push((name.to_owned(), value.into_owned()));
        Ok(true)
    }

    /// Names the keywords that no position followed.
    fn drop_keywords(&mut self) {
        self.skipped.extend(self.keywords.drain(..).map(Placed::skipped));
    }

    /// Names the numbers that do not count the moves.
    pub(super) fn finish(mut self) -> Transcript {
        self.drop_keywords();
        let numbers: Vec<Number> = self.numbers.iter().map(|(number, _)| *number).collect();
        let fits = fitting(&numbers, self.transcript.moves.len(), &self.transcript.start);
        let strays = self.numbers.iter().zip(fits).filter(|(_, fits)| !fits).map(|((_, placed), _)| placed.skipped());
        self.skipped.extend(strays);
        self.skipped.sort_by_key(|(place, _)| *place);
        self.transcript.skipped = self.skipped.into_iter().map(|(_, skipped)| skipped).collect();
        self.transcript
    }
}

/// The name of a tag, and its value. A backslash stands before quotes and backslashes.
fn name_and_value(text: &str) -> Option<(&str, Cow<'_, str>)> {
    let (name, value) = text.strip_prefix('[')?.split_once('"')?;
    let (value, _) = value.rsplit_once('"')?;
    let unescaped = || {
        let mut is_escaped = false;
        let is_kept = |letter: &char| {
            is_escaped = *letter == '\\' && !is_escaped;
            !is_escaped
        };
        value.chars().filter(is_kept).collect()
    };
    Some((name.trim(), if value.contains('\\') { Cow::Owned(unescaped()) } else { Cow::Borrowed(value) }))
}
