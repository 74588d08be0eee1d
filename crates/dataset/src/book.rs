//! Opening books: files of positions, one per line.

use std::{
    fs,
    path::{Path, PathBuf},
};

use xiangqi::{
    Fen, FenError,
    rules::{Game, Reason, RuleSet, Status},
};

use crate::{
    digest::Digest,
    random::{Stream, Use},
};

/// An opening book.
///
/// A line is a FEN, or its first four fields with operations, as in EPD (`… w - - id "7";`);
/// operations are ignored. Empty lines and lines that begin with `#` are skipped.
#[derive(Clone, Debug)]
pub struct Book {
    positions: Vec<Fen>,
    hash: Digest,
}

/// The reason why a file is not a book.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum BookError {
    #[error("{}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("line {line}: not UTF-8 text")]
    NotText { line: usize },
    #[error("line {line}")]
    Fen { line: usize, source: FenError },
    #[error("line {line}: the game is over in this position ({reason})")]
    Over { line: usize, reason: Reason },
    #[error("no position in it")]
    Empty,
}

impl Book {
    /// Reads a book; the rules decide whether a game can begin in its positions.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or a line is not a position in which a game can begin.
    pub fn from_file(path: impl AsRef<Path>, rules: RuleSet) -> Result<Self, BookError> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|source| BookError::Unreadable { path: path.to_owned(), source })?;
        Self::from_bytes(&bytes, rules)
    }

    /// Parses the bytes of a book.
    ///
    /// # Errors
    ///
    /// If a line is not a position in which a game can begin.
    pub fn from_bytes(bytes: &[u8], rules: RuleSet) -> Result<Self, BookError> {
        let mut positions = Vec::new();
        for (index, text) in bytes.split(|&byte| byte == b'\n').enumerate() {
            let line = index + 1;
            let text = str::from_utf8(text).map_err(|_| BookError::NotText { line })?.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let fen = read_line(text).map_err(|source| BookError::Fen { line, source })?;
            if let Status::Over(ending) = Game::new(fen.clone(), rules).status() {
                return Err(BookError::Over { line, reason: ending.reason });
            }
            positions.push(fen);
        }
        if positions.is_empty() {
            return Err(BookError::Empty);
        }
        Ok(Self { positions, hash: Digest::of(bytes) })
    }

    /// The positions, in the order of the file.
    #[must_use]
    pub fn positions(&self) -> &[Fen] {
        &self.positions
    }

    /// The SHA-256 of the file.
    #[must_use]
    pub const fn hash(&self) -> Digest {
        self.hash
    }

    /// The start of the game with this seed.
    #[must_use]
    pub fn pick(&self, seed: u64) -> &Fen {
        let index = Stream::new(Use::BookOrder, seed, 1).below(self.positions.len() as u64);
        &self.positions[index as usize]
    }

    /// The order in which a match with this seed plays the positions: a permutation of their
    /// indices.
    #[must_use]
    pub fn order(&self, seed: u64) -> Vec<usize> {
        let mut order: Vec<_> = (0..self.positions.len()).collect();
        Stream::new(Use::BookOrder, seed, 0).shuffle(&mut order);
        order
    }
}

fn read_line(text: &str) -> Result<Fen, FenError> {
    // Operations end with a semicolon; a FEN has none.
    if text.contains(';') {
        let fields: Vec<_> = text.split_ascii_whitespace().take(4).collect();
        return fields.join(" ").parse();
    }
    text.parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w";

    fn read(text: &str) -> Result<Book, String> {
        use std::error::Error as _;
        Book::from_bytes(text.as_bytes(), RuleSet::Cxr).map_err(|error| match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        })
    }

    #[test]
    fn lines_are_positions() {
        let text = format!("# a book\r\n{START} - - 3 9\r\n\n{START} - - bm h2e2; id \"one; two\";\n{START}");
        let book = read(&text).unwrap();
        let counters: Vec<_> = book.positions().iter().map(|fen| (fen.limit_counter, fen.move_number)).collect();
        assert_eq!(counters, [(3, 9), (0, 1), (0, 1)]);
        // From `sha256sum`.
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").to_string(), empty);
        assert_eq!(book.hash(), Digest::of(text.as_bytes()));
        let mut order = book.order(5);
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2]);
    }

    #[test]
    fn an_invalid_line_is_named_with_its_number() {
        assert_eq!(read("").unwrap_err(), "no position in it");
        assert_eq!(read("\n\n9 w").unwrap_err(), "line 3: FEN board: 1 rank, not 10");
        assert_eq!(
            read(&format!("{START}\n{START} - - 0 1 moves h2e2")).unwrap_err(),
            "line 2: FEN: `moves` after the sixth field"
        );
        assert_eq!(
            read("4k4/9/9/9/9/9/9/9/9/3K5 w").unwrap_err(),
            "line 1: the game is over in this position (bare_defenders)"
        );
    }
}
