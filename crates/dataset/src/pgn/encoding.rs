//! Files in GBK, the encoding of many Chinese programs, as UTF-8.

use std::{
    borrow::Cow,
    io::{self, BufRead, Read},
};

use encoding_rs::GB18030;
use xiangqi::notation::reader::MAX_GAME_BYTES;

/// The encoding of a file, as far as its lines have shown it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    /// All letters were ASCII.
    Unknown,
    Utf8,
    Gbk,
}

/// A file's lines in UTF-8. The first line that is not ASCII shows the encoding: UTF-8, or else GBK
/// (with its extension GB 18030). Bytes of neither are left as they are.
#[derive(Debug)]
pub struct Utf8Lines<R> {
    reader: R,
    encoding: Encoding,
    line: Vec<u8>,
    /// The bytes of the line that were consumed.
    at: usize,
}

impl<R: BufRead> Utf8Lines<R> {
    /// The lines of a file.
    pub const fn new(reader: R) -> Self {
        Self { reader, encoding: Encoding::Unknown, line: Vec::new(), at: 0 }
    }

    /// Whether lines in GBK were read.
    pub const fn is_gbk(&self) -> bool {
        matches!(self.encoding, Encoding::Gbk)
    }

    fn decode(&mut self) {
        let is_utf8 = str::from_utf8(&self.line).is_ok();
        match self.encoding {
            Encoding::Unknown if self.line.is_ascii() => {}
            Encoding::Unknown if is_utf8 => self.encoding = Encoding::Utf8,
            Encoding::Utf8 => {}
            Encoding::Unknown | Encoding::Gbk => {
                let decoded = GB18030.decode_without_bom_handling_and_without_replacement(&self.line);
                if decoded.is_some() {
                    self.encoding = Encoding::Gbk;
                }
                if let Some(Cow::Owned(text)) = decoded {
                    self.line = text.into_bytes();
                }
            }
        }
    }
}

impl<R: BufRead> BufRead for Utf8Lines<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.line.len() {
            self.at = 0;
            self.line.clear();
            self.reader.by_ref().take(MAX_GAME_BYTES as u64).read_until(b'\n', &mut self.line)?;
            self.decode();
        }
        Ok(&self.line[self.at..])
    }

    fn consume(&mut self, bytes: usize) {
        self.at += bytes;
    }
}

impl<R: BufRead> Read for Utf8Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xiangqi::notation::reader::Games;

    const GAMES: &str =
        "[Event \"x\"]\n1. h2e2 *\n\n[Event \"联通杯\"]\n1. 炮二平五 {车、馬} 马8进7 红方胜\n\n1. h2e2 *\n";

    fn read(bytes: &[u8]) -> (String, bool) {
        let mut lines = Utf8Lines::new(bytes);
        let mut text = Vec::new();
        lines.read_to_end(&mut text).unwrap();
        (String::from_utf8_lossy(&text).into_owned(), lines.is_gbk())
    }

    #[test]
    fn both_encodings_give_the_same_text() {
        let (gbk, _, _) = GB18030.encode(GAMES);
        assert_ne!(gbk, GAMES.as_bytes());
        assert_eq!(read(GAMES.as_bytes()), (GAMES.to_owned(), false));
        assert_eq!(read(&gbk), (GAMES.to_owned(), true));
        let games: Vec<_> =
            Games::new(Utf8Lines::new(&gbk[..])).map(|game| game.unwrap().transcript().unwrap()).collect();
        assert_eq!(games.len(), 3);
        assert_eq!((games[1].tag("Event"), games[1].moves.len()), (Some("联通杯"), 2));
    }

    #[test]
    fn bytes_of_neither_stay() {
        assert_eq!(read(b"h2e2 \xff\n"), ("h2e2 \u{fffd}\n".to_owned(), false));
        let mixed = [GAMES.as_bytes(), &GB18030.encode(GAMES).0].concat();
        assert!(read(&mixed).0.contains('\u{fffd}'), "a file has one encoding");
    }
}
