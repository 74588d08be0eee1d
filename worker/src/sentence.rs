//! What people read, as sentences. What servers, disks and libraries say begins small and ends without a full stop; what
//! people have written may have one.

/// A text as one sentence.
pub(crate) fn sentence(text: impl AsRef<str>) -> String {
    let text = text.as_ref().trim();
    let stop = if text.ends_with(['.', '!', '?', '…', '。', '！', '？']) { "" } else { "." };
    let (first, rest) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
    format!("{}{rest}{stop}", first.to_uppercase())
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
            ("éteint", "Éteint."),
        ] {
            assert_eq!(sentence(text), expected);
        }
    }
}
