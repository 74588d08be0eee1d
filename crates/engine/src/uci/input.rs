//! Input lines, which may hold any bytes.

use std::io::{self, BufRead, Read};

/// The maximum length of a line: enough for a game of 100,000 moves.
pub(super) const MAX_LINE_BYTES: u64 = 1 << 20;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line without its terminator. Invalid UTF-8 is replaced.
    Text(String),
    /// A skipped line.
    TooLong,
    End,
}

pub(super) fn read_line(input: &mut impl BufRead) -> io::Result<Line> {
    let mut bytes = Vec::new();
    input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(Line::End);
    }
    if bytes.len() as u64 == MAX_LINE_BYTES && bytes.last() != Some(&b'\n') {
        input.skip_until(b'\n')?;
        return Ok(Line::TooLong);
    }
    Ok(Line::Text(String::from_utf8_lossy(&bytes).trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_any_bytes_are_read() {
        let mut input = b"uci\r\n\n \xff go \nlast".to_vec();
        input.extend(vec![b'x'; 2 * MAX_LINE_BYTES as usize]);
        input.extend(b"\nquit");
        let mut input = input.as_slice();
        let mut next = || read_line(&mut input).unwrap();
        let text = |text: &str| Line::Text(text.to_owned());
        assert_eq!(next(), text("uci"));
        assert_eq!(next(), text(""));
        assert_eq!(next(), text("\u{fffd} go"));
        assert_eq!(next(), Line::TooLong);
        assert_eq!(next(), text("quit"));
        assert_eq!(next(), Line::End);
    }
}
