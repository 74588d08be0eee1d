//! Splits a file in PGN into its games.

use std::{
    borrow::Cow,
    io::{self, BufRead, Read as _},
};

use super::{Place, ReadError, ReadErrorKind, Transcript, results, tokens::continues_moves, words};

/// The greatest length of a game in a file, in bytes. It rejects a file without games before it
/// fills the memory.
pub const MAX_GAME_BYTES: usize = 16 << 20;

/// The text of a game in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameText {
    /// The line where it begins, from 1.
    pub line: usize,
    /// The text, with the blank lines and comments behind it.
    pub bytes: Vec<u8>,
}

impl GameText {
    /// Reads the game. All places are those of the file.
    ///
    /// # Errors
    ///
    /// As [`Transcript::read`], and if the text is not UTF-8.
    pub fn transcript(&self) -> Result<Transcript, ReadError> {
        match str::from_utf8(&self.bytes) {
            Ok(text) => Transcript::read_at(self.line, text),
            Err(error) => {
                let valid = String::from_utf8_lossy(&self.bytes[..error.valid_up_to()]);
                let place = Place { line: self.line, ..Place::START }.behind(&valid);
                Err(ReadError { place, in_position: false, kind: ReadErrorKind::NotUtf8, hint: None })
            }
        }
    }
}

/// Iterates over the games of a file in PGN. One game is in memory at a time.
///
/// A game ends where tags follow its moves, or with the line of its result. A line of tags behind
/// an empty line, or one that begins with `Event`, ends it also inside a bracket. So a bracket that
/// is never closed costs one game. Every byte from the first word of the file on is in a game.
#[derive(Debug)]
pub struct Games<R> {
    reader: R,
    /// The lines read.
    line: usize,
    /// The first line of the next game.
    ahead: Option<Vec<u8>>,
    is_broken: bool,
}

impl<R: BufRead> Games<R> {
    /// The games of a file.
    pub const fn new(reader: R) -> Self {
        Self { reader, line: 0, ahead: None, is_broken: false }
    }

    /// The file.
    pub const fn get_ref(&self) -> &R {
        &self.reader
    }

    fn next_line(&mut self) -> io::Result<Vec<u8>> {
        if let Some(line) = self.ahead.take() {
            return Ok(line);
        }
        let mut line = Vec::new();
        self.reader.by_ref().take(MAX_GAME_BYTES as u64).read_until(b'\n', &mut line)?;
        self.line += 1;
        Ok(line)
    }

    fn next_game(&mut self) -> io::Result<Option<GameText>> {
        let mut game = GameText { line: 0, bytes: Vec::new() };
        let mut scanner = Scanner::default();
        loop {
            let line = self.next_line()?;
            let begins_next = scanner.begins_next(&line);
            if line.is_empty() || begins_next {
                self.ahead = begins_next.then_some(line);
                return Ok((game.line > 0).then_some(game));
            }
            if game.line == 0 && !content(&line).is_empty() {
                game.line = self.line;
            }
            if game.line > 0 {
                scanner.scan(&line);
                game.bytes.extend_from_slice(&line);
            }
            if game.bytes.len() >= MAX_GAME_BYTES {
                let message = format!("line {}: a game is longer than {} MiB", game.line, MAX_GAME_BYTES >> 20);
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
        }
    }
}

impl<R: BufRead> Iterator for Games<R> {
    type Item = io::Result<GameText>;

    fn next(&mut self) -> Option<io::Result<GameText>> {
        if self.is_broken {
            return None;
        }
        let game = self.next_game();
        self.is_broken = game.is_err();
        game.transpose()
    }
}

/// A line without blanks around it and without a byte order mark.
fn content(line: &[u8]) -> &[u8] {
    line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii()
}

/// A bracket that is open at the end of a line.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Open {
    #[default]
    Nothing,
    /// `{…}`.
    Braces,
    /// `（…）`.
    WideParentheses,
    /// `(…)`, with nested ones and with comments in braces.
    Variation { depth: usize, in_braces: bool },
}

impl Open {
    /// Follows a text that begins inside the bracket, until it is closed. Returns the rest.
    fn skip(mut self, text: &str) -> (Self, &str) {
        let end = match &mut self {
            Self::Nothing => Some(0),
            Self::Braces => text.find('}').map(|at| at + 1),
            Self::WideParentheses => text.find('）').map(|at| at + '）'.len_utf8()),
            Self::Variation { depth, in_braces } => text
                .bytes()
                .position(|byte| {
                    match byte {
                        b'{' => *in_braces = true,
                        b'}' => *in_braces = false,
                        b'(' if !*in_braces => *depth += 1,
                        b')' if !*in_braces => *depth -= 1,
                        _ => {}
                    }
                    *depth == 0
                })
                .map(|at| at + 1),
        };
        end.map_or((self, ""), |end| (Self::Nothing, &text[end..]))
    }
}

/// The state after some lines of a game.
#[derive(Default)]
struct Scanner {
    open: Open,
    /// Whether the last line was empty.
    is_behind_empty: bool,
    has_moves: bool,
    has_result: bool,
}

impl Scanner {
    /// Whether this line belongs to the next game.
    fn begins_next(&self, line: &[u8]) -> bool {
        let content = content(line);
        match content.first() {
            _ if self.open != Open::Nothing => {
                let begins = |line: &str| is_only_tags(line) && (self.is_behind_empty || line.starts_with("[Event "));
                str::from_utf8(content).is_ok_and(begins)
            }
            Some(b'[') => self.has_moves || self.has_result,
            None | Some(b'{' | b'(' | b';' | b'%') => false,
            // A rule between games belongs to the one before, as a comment does.
            Some(b'=' | b'-' | b'_') if is_rule(content) => false,
            Some(_) => self.has_result && !content.starts_with("（".as_bytes()),
        }
    }

    /// Looks at a line for moves, a result at its end, and a bracket that is open in the next.
    fn scan(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(content(line));
        self.is_behind_empty = text.trim().is_empty();
        let mut rest = text.as_ref();
        if self.open == Open::Nothing {
            if rest.starts_with('%') {
                return;
            }
            while rest.starts_with('[') {
                // A damaged tag fills its line.
                let Some(length) = words::tag(rest).filter(|_| matches!(text, Cow::Borrowed(_))) else { return };
                rest = rest[length..].trim_ascii_start();
            }
        }
        // The last text of the line outside brackets.
        let mut last = "";
        while !rest.is_empty() {
            if self.open != Open::Nothing {
                (self.open, rest) = self.open.skip(rest);
                continue;
            }
            let end = rest.find(['{', '(', ';', '（']).unwrap_or(rest.len());
            let (before, behind) = rest.split_at(end);
            if !before.trim().is_empty() {
                last = before;
            }
            let mut letters = behind.chars();
            let mark = letters.next();
            rest = letters.as_str();
            self.open = match mark {
                Some('{') => Open::Braces,
                Some('(') => Open::Variation { depth: 1, in_braces: false },
                Some('（') => Open::WideParentheses,
                _ => Open::Nothing,
            };
            if mark == Some(';') && !continues_moves(rest) {
                break;
            }
        }
        if !last.is_empty() {
            self.has_moves = true;
            self.has_result = results::is_at_end(last);
        }
    }
}

/// Whether a line consists of tags.
fn is_only_tags(line: &str) -> bool {
    let mut rest = line;
    while rest.starts_with('[') {
        let Some(length) = words::tag(rest) else { return false };
        rest = rest[length..].trim_start();
    }
    rest.is_empty() && !line.is_empty()
}

/// Whether a line is a rule of at least three dashes or the like.
fn is_rule(content: &[u8]) -> bool {
    content.len() >= 3 && content.iter().all(|byte| *byte == content[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(usize, String)> {
        let games = Games::new(text.as_bytes()).map(Result::unwrap);
        games.map(|game| (game.line, String::from_utf8(game.bytes).unwrap())).collect()
    }

    #[test]
    fn games_end_before_tags_and_behind_results() {
        let games = [
            "[Event \"a\"]\n[White \"{ [ ; 1-0\"]\n\n1. h2e2 h9g7\n",
            "[Event \"b\"]\n1. h2e2 {a comment with\n[Result \"*\"] and\n1-0\n} h9g7 ; 1-0 soon {\n2. h0g2 *\n\n",
            "1. h2e2 1-0 {resigns}\n{a comment behind}\n% escaped\n\n",
            "1. 炮二平五 马8进7 红胜\n",
            "[Event \"c\"] 1. h2e2 *\n",
            "[Event \"d\"] [Result \"*\"] 1. h2e2; h9g7 *\n",
            "[Event \"e\"]\n[Result \"*\"]\n  *\n  =========\n",
            "[Event \"g\"]\n1. h2e2 (a line that ends in\n1-0\n[Event \"x\"] (\n) {)\n} x)\n h9g7 （and\n0-1\n[y）2. h0g2 1-0\n（完）\n",
            "1. h2e2 h9g7 ; {a\n1-0\n} 2. h0g2; 1-0\n",
            "1. h2e2 ; h9g7 is possible 1-0\nh9g7 Red wins. {x}\n",
            "1. h2e2 （a）平局。\n",
            "[Event \"h\"]\n1. h2e2 {never closed\nh9g7 1-0\n\n",
            "[Event \"i\"]\n1. h2e2 （and\n\n[no tag\n\n",
            "[Event \"j\"]\n1. h2e2 {x} 1-0\n",
            "[Event \"k\"]\n1. h2e2 {open\n1-0\n",
            "[Event \"l\"] [Site \"x\"]\n1. h2e2 {open\n1-0\n\u{3000}\n",
            "[Site \"m\"] [Red \"x\"]\n1. h2e2 1-0\n",
            "[Event \"f\n1. h2e2",
        ];
        let text = games.concat();
        let found = split(&text);
        assert_eq!(found.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), games);
        assert_eq!(
            found.iter().map(|(line, _)| *line).collect::<Vec<_>>(),
            [1, 5, 12, 16, 17, 18, 19, 23, 33, 36, 38, 39, 43, 48, 50, 53, 57, 59]
        );
        assert_eq!(split("\u{feff}\n\n 1. h2e2 *"), [(3, " 1. h2e2 *".to_owned())]);
        assert_eq!(split(" \n\n"), []);
    }

    #[test]
    fn places_are_those_of_the_file() {
        let text = b"\n1. h2e2 *\n\n[Event \"x\"]\n1. h2e2 {x} h2e2 *\n\n1. h2e2\n h9g7 \xff *\n";
        let read = |game: io::Result<GameText>| match game.unwrap().transcript() {
            Err(error) => error.to_string(),
            Ok(read) => match read.legal_moves().1 {
                Some(error) => format!("{}; {error}", read.skipped[0]),
                None => "read".to_owned(),
            },
        };
        assert_eq!(
            Games::new(&text[..]).map(read).collect::<Vec<_>>(),
            [
                "read",
                "comment `{x}` at line 5, column 9; line 5, column 13: move 2: `h2e2`: nothing of Black's stands on h2",
                "line 8, column 7: a byte that is neither UTF-8 nor GBK"
            ]
        );
    }
}
