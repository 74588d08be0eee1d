//! Lines of any bytes.

use std::io::{self, BufRead, Read};

/// The longest line that is read, in bytes: room for a game of a hundred thousand moves.
pub(super) const LONGEST: u64 = 1 << 20;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line without its end. What is not UTF-8 is replaced.
    Text(String),
    /// A line that was passed over.
    TooLong,
    End,
}

pub(super) fn read_line(input: &mut impl BufRead) -> io::Result<Line> {
    let mut bytes = Vec::new();
    input.by_ref().take(LONGEST).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(Line::End);
    }
    if bytes.len() as u64 == LONGEST && bytes.last() != Some(&b'\n') {
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
        input.extend(vec![b'x'; 2 * LONGEST as usize]);
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
