//! Splits a file in PGN into its games.

use std::{
    borrow::Cow,
    io::{self, BufRead, Read as _},
};

use super::{Place, ReadError, ReadErrorKind, Transcript, words};

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
/// A game ends where tags follow its moves, or with the line of its result. Every byte from the
/// first word of the file on is in a game.
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

/// The beginning of a text, long enough for a number and a move.
fn start(bytes: &[u8]) -> Cow<'_, str> {
    const LENGTH: usize = 200;
    String::from_utf8_lossy(&bytes[..bytes.len().min(LENGTH)])
}

/// The state after some lines of a game.
#[derive(Default)]
struct Scanner {
    in_comment: bool,
    has_moves: bool,
    has_result: bool,
}

impl Scanner {
    /// Whether this line belongs to the next game.
    fn begins_next(&self, line: &[u8]) -> bool {
        let content = content(line);
        match content.first() {
            _ if self.in_comment => false,
            Some(b'[') => self.has_moves || self.has_result,
            None | Some(b'{' | b';' | b'%') => false,
            // A rule between games belongs to the one before.
            Some(b'=' | b'-' | b'_') if words::separators(&start(content)) == content.len() => false,
            Some(_) => self.has_result,
        }
    }

    /// Looks at a line for moves, a result at its end, and a comment that continues in the next.
    fn scan(&mut self, line: &[u8]) {
        let mut rest = content(line);
        if !self.in_comment {
            if rest.starts_with(b"%") {
                return;
            }
            while rest.starts_with(b"[") {
                let text = String::from_utf8_lossy(rest);
                // A damaged tag fills its line.
                let Some(length) = words::tag(&text).filter(|_| matches!(text, Cow::Borrowed(_))) else {
                    return;
                };
                rest = rest[length..].trim_ascii_start();
            }
        }
        let mut last_word = None;
        while !rest.is_empty() {
            if self.in_comment {
                let Some(end) = rest.iter().position(|byte| *byte == b'}') else { break };
                (self.in_comment, rest) = (false, &rest[end + 1..]);
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'{' | b';')).unwrap_or(rest.len());
            let word = rest[..end].rsplit(u8::is_ascii_whitespace).find(|word| !word.is_empty());
            last_word = word.or(last_word);
            self.in_comment = rest.get(end) == Some(&b'{');
            if rest.get(end) == Some(&b';') && !words::continues_moves(&start(&rest[end + 1..])) {
                break;
            }
            rest = &rest[(end + 1).min(rest.len())..];
        }
        if let Some(word) = last_word {
            self.has_moves = true;
            self.has_result = words::result(&start(word)) == Some(word.len());
        }
    }
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
            "[Event \"b\"]\n1. h2e2 {a comment with\n[Result \"*\"] and\n1-0\n} h9g7 ; 1-0 {\n2. h0g2 *\n\n",
            "1. h2e2 1-0 {resigns}\n{a comment behind}\n% escaped\n\n",
            "1. 炮二平五 马8进7 红胜\n",
            "[Event \"c\"] 1. h2e2 *\n",
            "[Event \"d\"] [Result \"*\"] 1. h2e2; h9g7 *\n",
            "[Event \"e\"]\n[Result \"*\"]\n  *\n  =========\n",
            "[Event \"f\n1. h2e2",
        ];
        let text = games.concat();
        let found = split(&text);
        assert_eq!(found.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), games);
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 5, 12, 16, 17, 18, 19, 23]);
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
                "line 8, column 7: a byte that is not UTF-8"
            ]
        );
    }
}
