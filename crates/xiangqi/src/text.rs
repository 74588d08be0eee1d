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

/// The words of Unix for errors of the system, and the user's.
const WORDS: [(&str, &str); 9] = [
    ("No such file or directory", "there is no such file or folder"),
    ("File exists", "there is a file of this name"),
    ("Not a directory", "a part of this path is a file"),
    ("Is a directory", "it is a folder"),
    ("Permission denied", "this user may not use it"),
    ("Operation not permitted", "this user may not do that"),
    ("Read-only file system", "its disk is read-only"),
    ("No space left on device", "the disk is full"),
    ("Input/output error", "it cannot be read or written"),
];

/// Replaces the words of the operating system in the text of an error, and removes their numbers.
#[must_use]
pub fn plain_words(text: &str) -> String {
    let mut plain = text.to_owned();
    while let Some(at) = plain.find(" (os error ") {
        let Some(length) = plain[at..].find(')') else { break };
        plain.replace_range(at..=at + length, "");
        if let Some((theirs, ours)) = WORDS.iter().find(|(theirs, _)| plain[..at].ends_with(theirs)) {
            plain.replace_range(at - theirs.len()..at, ours);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

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

    #[test]
    fn errors_of_the_system_have_no_numbers() {
        let text = "net.nnue: No such file or directory (os error 2): Odd thing (os error 7)";
        assert_eq!(plain_words(text), "net.nnue: there is no such file or folder: Odd thing");
        let ours = "`File exists` is a name; it ends (os error";
        assert_eq!(plain_words(ours), ours);
        #[cfg(target_os = "linux")]
        for (code, (_, ours)) in [2, 17, 20, 21, 13, 1, 30, 28, 5].into_iter().zip(WORDS) {
            assert_eq!(plain_words(&io::Error::from_raw_os_error(code).to_string()), ours);
        }
    }
}
