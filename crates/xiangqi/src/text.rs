//! What the crate's errors quote.

/// A text as an error quotes it: cut if it is long (it may be a book), and on one line.
#[must_use]
pub fn shortened(text: &str) -> String {
    const LIMIT: usize = 32;
    let mut quoted = String::new();
    for (number, char) in text.chars().enumerate() {
        match char {
            _ if number == LIMIT => {
                quoted.push('…');
                break;
            }
            '\'' | '"' | '\\' => quoted.push(char),
            // What does not print is written as `\n` or `\u{2028}`.
            _ => quoted.extend(char.escape_debug()),
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn long_texts_are_cut_and_control_characters_written_out() {
        assert_eq!(shortened("炮二平五 \"e\" \\"), "炮二平五 \"e\" \\");
        assert_eq!(shortened("a\nb\u{2028}"), "a\\nb\\u{2028}");
        assert_eq!(shortened(&"车".repeat(32)), "车".repeat(32));
        assert_eq!(shortened(&"车".repeat(33)), format!("{}…", "车".repeat(32)));
    }
}
