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

/// A file's lines in UTF-8. The first lines that are not ASCII show the encoding: UTF-8, or else
/// GBK (with its extension GB 18030). Bytes of neither are left as they are.
///
/// Two bytes may be a letter in both, as 一 of GBK is. Lines with no other letters are held back
/// until a later one shows the encoding.
#[derive(Debug)]
pub struct Utf8Lines<R> {
    reader: R,
    encoding: Encoding,
    /// A line, or all lines up to the one that showed the encoding.
    lines: Vec<u8>,
    /// The letters of two bytes in the lines that were held back.
    held_letters: usize,
    /// The bytes of them that were consumed.
    at: usize,
}

/// The bytes that are held back at most.
const MAX_HELD_BYTES: usize = 1 << 20;

/// So many letters of two bytes are UTF-8: one in seven of GBK is a letter there too.
const MAX_HELD_LETTERS: usize = 8;

impl<R: BufRead> Utf8Lines<R> {
    /// The lines of a file.
    pub const fn new(reader: R) -> Self {
        Self { reader, encoding: Encoding::Unknown, lines: Vec::new(), held_letters: 0, at: 0 }
    }

    /// Whether lines in GBK were read.
    pub const fn is_gbk(&self) -> bool {
        matches!(self.encoding, Encoding::Gbk)
    }

    /// Reads a line. Returns false if it must be held back, until a later one shows the encoding.
    fn read_line(&mut self) -> io::Result<bool> {
        let start = self.lines.len();
        let read = self.reader.by_ref().take(MAX_GAME_BYTES as u64).read_until(b'\n', &mut self.lines)?;
        let line = &self.lines[start..];
        if self.encoding == Encoding::Unknown {
            match str::from_utf8(line) {
                Ok(text) if text.chars().all(|letter| letter.len_utf8() <= 2) => {
                    self.held_letters += text.chars().filter(|letter| !letter.is_ascii()).count();
                    let is_held = self.held_letters > 0 && self.held_letters <= MAX_HELD_LETTERS;
                    if is_held && read > 0 && self.lines.len() < MAX_HELD_BYTES {
                        return Ok(false);
                    }
                    if self.held_letters > 0 {
                        self.encoding = Encoding::Utf8;
                    }
                }
                // Chinese letters have three bytes in UTF-8.
                Ok(_) => self.encoding = Encoding::Utf8,
                Err(_) => self.decode(),
            }
        } else if self.encoding == Encoding::Gbk {
            self.decode();
        }
        Ok(true)
    }

    /// Decodes the lines if they are in GBK.
    fn decode(&mut self) {
        if let Some(text) = GB18030.decode_without_bom_handling_and_without_replacement(&self.lines) {
            self.encoding = Encoding::Gbk;
            if let Cow::Owned(text) = text {
                self.lines = text.into_bytes();
            }
        }
    }
}

impl<R: BufRead> BufRead for Utf8Lines<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.lines.len() {
            self.at = 0;
            self.lines.clear();
            while !self.read_line()? {}
        }
        Ok(&self.lines[self.at..])
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
    fn letters_of_both_encodings_decide_nothing() {
        let text = "[Round \"一\"]\n[Site \"姚\"]\n\n[Red \"许银川\"]\n1. 炮二平五 *\n";
        assert!(str::from_utf8(&GB18030.encode("一").0).is_ok(), "its bytes are a letter in UTF-8 too");
        assert_eq!(read(&GB18030.encode(text).0), (text.to_owned(), true));
        assert_eq!(read(text.as_bytes()), (text.to_owned(), false));
        let cyrillic = "[White \"Хорошо\"]\n{хорошо}\n";
        let (text, is_gbk) = read(&[cyrillic.as_bytes(), b"{\xf7\xe0}\n"].concat());
        assert!(text.starts_with(cyrillic) && !is_gbk, "{text}");
        let latin = "[White \"José\"]\n1. h2e2 *\n";
        assert_eq!(read(latin.as_bytes()), (latin.to_owned(), false));
    }

    #[test]
    fn bytes_of_neither_stay() {
        assert_eq!(read(b"h2e2 \xff\n"), ("h2e2 \u{fffd}\n".to_owned(), false));
        let mixed = [GAMES.as_bytes(), &GB18030.encode(GAMES).0].concat();
        assert!(read(&mixed).0.contains('\u{fffd}'), "a file has one encoding");
    }
}
