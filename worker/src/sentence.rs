//! Formats messages as sentences. Texts of servers, disks and libraries begin in lower case and
//! have no full stop; those of people may.

use client::printable;
use xiangqi::text::plain_words;

/// Formats a text as one sentence, in which a terminal obeys nothing. An address or a path at its
/// beginning stays as it is.
pub(crate) fn sentence(text: impl AsRef<str>) -> String {
    let text = printable(&plain_words(text.as_ref()));
    let stop = if text.ends_with(['.', '!', '?', '…', '。', '！', '？']) { "" } else { "." };
    let word = text.split(' ').next().unwrap_or_default().trim_end_matches(':');
    if word.contains([':', '/']) {
        return format!("{text}{stop}");
    }
    let (first, rest) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
    format!("{}{rest}{stop}", first.to_uppercase())
}

/// Formats a number of things: `1 lease`, `2 leases`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_begins_large_and_ends_once() {
        for (text, expected) in [
            ("the token is not known here", "The token is not known here."),
            (" Write to us! ", "Write to us!"),
            ("A file is missing: there is no such object", "A file is missing: there is no such object."),
            ("机器被停用。", "机器被停用。"),
            ("https://localhost:7391 speaks no TLS", "https://localhost:7391 speaks no TLS."),
            ("state/spool: No space left on device (os error 28)", "state/spool: the disk is full."),
            ("server: no answer", "Server: no answer."),
            ("éteint", "Éteint."),
            ("run\x1b[2J this", "Run [2J this."),
        ] {
            assert_eq!(sentence(text), expected);
        }
    }
}
