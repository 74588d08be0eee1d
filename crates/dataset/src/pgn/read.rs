//! The PGN reader.

use xiangqi::{
    Fen, FenError,
    notation::{Notation, NotationError, ParseNotationError, parse_any},
    rules::Outcome,
};

use super::{PgnGame, sign, tags};

/// An error in a PGN text, with its line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {kind}")]
pub struct PgnError {
    /// The line, from 1.
    pub line: usize,
    /// The kind of error.
    pub kind: PgnErrorKind,
}

/// The kind of error in a PGN text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum PgnErrorKind {
    #[error("a tag is `[Name \"value\"]`")]
    Tag,
    #[error(transparent)]
    Fen(#[from] FenError),
    #[error(transparent)]
    Notation(#[from] ParseNotationError),
    #[error(transparent)]
    Move(#[from] NotationError),
    #[error("a comment is not closed")]
    OpenComment,
    #[error("a variation is not closed")]
    OpenVariation,
    #[error("a variation is closed that was not opened")]
    NoVariation,
    #[error("the result `{found}` is not that of the tag, `{tag}`")]
    Result { found: &'static str, tag: String },
    #[error("the game has no result at its end")]
    NoResult,
}

/// Reads all games of a text.
///
/// # Errors
///
/// If it is not PGN, or a move is not legal.
pub fn read(text: &str) -> Result<Vec<PgnGame>, PgnError> {
    let mut reader = Reader { rest: text.strip_prefix('\u{feff}').unwrap_or(text), line: 1, last_line: 1 };
    let mut games = Vec::new();
    while let Some(token) = reader.next()? {
        games.push(reader.game(token)?);
    }
    Ok(games)
}

enum Token<'a> {
    Tag(&'a str, String),
    Comment(String),
    Open,
    Close,
    Word(&'a str),
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
    /// The line where the last token began.
    last_line: usize,
}

impl<'a> Reader<'a> {
    fn error(&self, kind: impl Into<PgnErrorKind>) -> PgnError {
        PgnError { line: self.last_line, kind: kind.into() }
    }

    /// Takes `length` bytes.
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    /// Takes everything before the first character that satisfies `end`, or all.
    fn take_until(&mut self, end: impl Fn(char) -> bool) -> &'a str {
        let length = self.rest.find(end).unwrap_or(self.rest.len());
        self.take(length)
    }

    fn next(&mut self) -> Result<Option<Token<'a>>, PgnError> {
        loop {
            let blanks = self.rest.len() - self.rest.trim_start().len();
            let line_before = self.line;
            self.take(blanks);
            self.last_line = self.line;
            let Some(first) = self.rest.chars().next() else {
                self.last_line = line_before;
                return Ok(None);
            };
            match first {
                ';' | '%' => {
                    self.take_until(|letter| letter == '\n');
                }
                '[' => return self.tag().map(Some),
                '{' => {
                    self.take(1);
                    let comment = self.take_until(|letter| letter == '}');
                    if self.rest.is_empty() {
                        return Err(self.error(PgnErrorKind::OpenComment));
                    }
                    self.take(1);
                    return Ok(Some(Token::Comment(comment.split_whitespace().collect::<Vec<_>>().join(" "))));
                }
                '(' | ')' => {
                    self.take(1);
                    return Ok(Some(if first == '(' { Token::Open } else { Token::Close }));
                }
                _ => {
                    let ends = |letter: char| letter.is_whitespace() || "{}()[];".contains(letter);
                    let word = self.take_until(ends);
                    // A stray closing mark is a word of its own, and not a move.
                    let word = if word.is_empty() { self.take(first.len_utf8()) } else { word };
                    return Ok(Some(Token::Word(word)));
                }
            }
        }
    }

    /// `[Name "value"]`, with a backslash before quotes and backslashes.
    fn tag(&mut self) -> Result<Token<'a>, PgnError> {
        self.take(1);
        let name = self.take_until(|letter| letter == '"' || letter == '\n').trim();
        let mut value = String::new();
        let mut letters = self.rest.char_indices().skip(1);
        let end = loop {
            match letters.next() {
                Some((_, '\\')) => value.extend(letters.next().map(|(_, letter)| letter)),
                Some((index, '"')) => break index + 1,
                None | Some((_, '\n')) => return Err(self.error(PgnErrorKind::Tag)),
                Some((_, letter)) => value.push(letter),
            }
        };
        self.take(end);
        let blanks = self.rest.len() - self.rest.trim_start_matches([' ', '\t']).len();
        self.take(blanks);
        if name.is_empty() || !self.rest.starts_with(']') {
            return Err(self.error(PgnErrorKind::Tag));
        }
        self.take(1);
        Ok(Token::Tag(name, value))
    }

    /// Reads the game that begins with this token.
    fn game(&mut self, first: Token<'a>) -> Result<PgnGame, PgnError> {
        let mut game = PgnGame {
            tags: Vec::new(),
            start: Fen::start(),
            moves: Vec::new(),
            outcome: None,
            notation: Notation::Uci,
        };
        let mut has_notation = false;
        let mut result_tag = None;
        let mut position = None;
        let mut depth = 0_usize;
        let mut token = Some(first);
        while let Some(this) = token {
            match this {
                Token::Tag(name, value) => {
                    match name {
                        "FEN" => game.start = value.parse::<Fen>().map_err(|error| self.error(error))?,
                        "Notation" => {
                            game.notation = value.parse::<Notation>().map_err(|error| self.error(error))?;
                            has_notation = true;
                        }
                        "Result" => result_tag = Some(value.clone()),
                        _ => {}
                    }
                    game.tags.push((name.to_owned(), value));
                }
                Token::Open => depth += 1,
                Token::Close => {
                    depth = depth.checked_sub(1).ok_or_else(|| self.error(PgnErrorKind::NoVariation))?;
                }
                Token::Comment(comment) => {
                    if depth == 0
                        && let Some((_, last)) = game.moves.last_mut()
                    {
                        *last = if last.is_empty() { comment } else { format!("{last} {comment}") };
                    }
                }
                Token::Word(_) if depth > 0 => {}
                Token::Word(word) => {
                    if let Some(End(outcome)) = End::read(word) {
                        game.outcome = outcome;
                        game.tags = tags::kept(game.tags);
                        return match result_tag {
                            Some(tag) if tag != sign(outcome) => {
                                Err(self.error(PgnErrorKind::Result { found: sign(outcome), tag }))
                            }
                            _ => Ok(game),
                        };
                    }
                    let text = without_number(word);
                    if !text.is_empty() && !text.starts_with('$') {
                        let position = position.get_or_insert_with(|| game.start.position.clone());
                        let mv = if has_notation {
                            position.parse_move_in(text, game.notation)
                        } else {
                            parse_any(position, text)
                        };
                        let mv = mv.map_err(|error| self.error(error))?;
                        let _ = position.make(mv);
                        game.moves.push((mv, String::new()));
                    }
                }
            }
            token = self.next()?;
        }
        Err(self.error(if depth > 0 { PgnErrorKind::OpenVariation } else { PgnErrorKind::NoResult }))
    }
}

/// The result token at the end of a game; none for `*`.
struct End(Option<Outcome>);

impl End {
    fn read(word: &str) -> Option<Self> {
        let outcomes = [None, Some(Outcome::RedWins), Some(Outcome::BlackWins), Some(Outcome::Draw)];
        outcomes.into_iter().find(|outcome| sign(*outcome) == word).map(Self)
    }
}

/// A word without the number of a move before it: `12.`, `12...`, `12.h2e2`.
fn without_number(word: &str) -> &str {
    let rest = word.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let moves = rest.trim_start_matches('.');
    if rest.len() == word.len() || moves.len() == rest.len() && !rest.is_empty() { word } else { moves }
}
