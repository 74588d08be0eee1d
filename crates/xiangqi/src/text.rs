//! Text helpers for error messages.

/// Returns a text as an error quotes it: shortened if long (it may be a book), and on one line.
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
            // Unprintable characters are written as `\n` or `\u{2028}`.
            _ => quoted.extend(char.escape_debug()),
        }
    }
    quoted
}

/// Returns a number with its noun, singular or plural.
#[must_use]
pub fn counted(number: usize, name: &str) -> String {
    match name.strip_suffix('y') {
        _ if number == 1 => format!("1 {name}"),
        Some(stem) => format!("{number} {stem}ies"),
        None => format!("{number} {name}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::{counted, shortened};

    #[test]
    fn one_is_singular() {
        assert_eq!([0, 1, 2].map(|number| counted(number, "rank")), ["0 ranks", "1 rank", "2 ranks"]);
        assert_eq!([0, 1, 2].map(|number| counted(number, "ply")), ["0 plies", "1 ply", "2 plies"]);
    }

    #[test]
    fn long_texts_are_cut_and_control_characters_written_out() {
        assert_eq!(shortened("炮二平五 \"e\" \\"), "炮二平五 \"e\" \\");
        assert_eq!(shortened("a\nb\u{2028}"), "a\\nb\\u{2028}");
        assert_eq!(shortened(&"车".repeat(32)), "车".repeat(32));
        assert_eq!(shortened(&"车".repeat(33)), format!("{}…", "车".repeat(32)));
    }
}
