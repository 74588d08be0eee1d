//! Search notes as PGN comments.

use std::{fmt, str::FromStr, time::Duration};

use crate::arbiter::Note;

/// A note as text: `+0.31/12 0.104s 23456n`. Score in pawns for the side that moves (`?` if none),
/// depth, time, nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment(pub Note);

/// An invalid note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a note is score/depth, time and nodes, as in `+0.31/12 0.104s 23456n`")]
pub struct ParseCommentError;

impl fmt::Display for Comment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Note { score, depth, nodes, time } = self.0;
        match score {
            Some(score) => {
                let sign = if score < 0 { '-' } else { '+' };
                write!(f, "{sign}{}.{:02}", score.abs() / 100, score.abs() % 100)?;
            }
            None => f.write_str("?")?,
        }
        write!(f, "/{depth} {}.{:03}s {nodes}n", time.as_secs(), time.subsec_millis())
    }
}

impl FromStr for Comment {
    type Err = ParseCommentError;

    fn from_str(text: &str) -> Result<Self, ParseCommentError> {
        parse(text).map(Self).ok_or(ParseCommentError)
    }
}

fn parse(text: &str) -> Option<Note> {
    let mut words = text.split(' ');
    let (score, depth) = words.next()?.split_once('/')?;
    let score = if score == "?" {
        None
    } else {
        let negative = score.starts_with('-');
        let (pawns, rest) = score.strip_prefix(['+', '-'])?.split_once('.')?;
        let score = number::<i32>(pawns, 1..=4)? * 100 + number::<i32>(rest, 2..=2)?;
        Some(if negative { -score } else { score })
    };
    let (seconds, thousandths) = words.next()?.strip_suffix('s')?.split_once('.')?;
    let time = Duration::new(number(seconds, 1..=9)?, number::<u32>(thousandths, 3..=3)? * 1_000_000);
    let nodes = number(words.next()?.strip_suffix('n')?, 1..=20)?;
    words.next().is_none().then_some(Note { score, depth: number(depth, 1..=9)?, nodes, time })
}

fn number<T: FromStr>(text: &str, length: std::ops::RangeInclusive<usize>) -> Option<T> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit()) && length.contains(&text.len());
    if digits { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_round_trip() {
        for score in [None, Some(0), Some(31), Some(-7), Some(-31_998), Some(20_000)] {
            for (depth, nodes, time) in [(0, 0, 0), (12, 23_456, 104), (99, u64::MAX, 123_456_789)] {
                let note = Note { score, depth, nodes, time: Duration::from_millis(time) };
                assert_eq!(Comment(note).to_string().parse(), Ok(Comment(note)));
            }
        }
        let note = Note { score: Some(-5), depth: 12, nodes: 23_456, time: Duration::from_millis(104) };
        assert_eq!(Comment(note).to_string(), "-0.05/12 0.104s 23456n");
        for bad in ["", "book", "0.31/12 0.104s 1n", "+0.31/12 0.104s 1n x", "+0.3/12 0.104s 1n", "+-0.31/1 0.104s 1n"]
        {
            assert_eq!(bad.parse::<Comment>(), Err(ParseCommentError), "{bad}");
        }
    }
}
