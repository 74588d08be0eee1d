//! Names given by users, which are printed and written within one line.

/// Checks that a name is visible and fits in one line.
pub(crate) fn one_line(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() || text.chars().any(breaks_lines) {
        return Err("a name is one line of letters that can be seen");
    }
    Ok(text.to_owned())
}

/// Whether a character is a control character or one of Unicode's two line breaks.
fn breaks_lines(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn names_are_one_line() {
        assert_eq!(one_line("A \"match\" 比赛").as_deref(), Ok("A \"match\" 比赛"));
        for bad in ["", " ", "a\nb", "a\r", "\u{1b}[2J", "a\u{2028}b"] {
            assert!(one_line(bad).is_err(), "{bad:?}");
        }
    }
}
