//! Long sentences of the comments of a Rust file.

use super::sentences;

/// Words of a sentence of a comment, at most.
const MAX_WORDS: usize = 25;

/// Each finding begins with the number of the first line of its comment.
pub(super) fn findings(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut comment = Comment::default();
    for (number, line) in (1..).zip(text.lines()) {
        let (marker, text) = parts(line);
        if marker != comment.marker {
            found.extend(comment.findings());
            comment = Comment { number, marker, text: String::new() };
        }
        comment.text.push_str(text);
        comment.text.push('\n');
    }
    found.extend(comment.findings());
    found
}

/// Consecutive lines with one marker. Lines of code have none.
#[derive(Default)]
struct Comment<'a> {
    number: usize,
    marker: &'a str,
    text: String,
}

impl Comment<'_> {
    fn findings(&self) -> Vec<String> {
        if self.marker.is_empty() {
            return Vec::new();
        }
        let counted = sentences::counted(&self.text).into_iter().filter(|(words, _)| *words > MAX_WORDS);
        counted
            .map(|(words, sentence)| {
                format!("{}: a sentence of {words} words, at most {MAX_WORDS} are wanted: {sentence}", self.number)
            })
            .collect()
    }
}

/// The marker and the text of a line that is wholly a comment; of other lines, nothing.
fn parts(line: &str) -> (&str, &str) {
    let line = line.trim_start();
    let marker = ["///", "//!", "//"]
        .into_iter()
        .find_map(|marker| line.split_at_checked(marker.len()).filter(|(head, _)| *head == marker));
    marker.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment(marker: &str, words: usize) -> String {
        format!("{marker} {}\n{marker} end.\n", "word ".repeat(words - 1))
    }

    #[test]
    fn sentences_of_comments_are_short() {
        for marker in ["//", "///", "//!", "    //"] {
            assert_eq!(findings(&comment(marker, MAX_WORDS)), Vec::<String>::new(), "{marker}");
            assert_eq!(findings(&comment(marker, MAX_WORDS + 1)).len(), 1, "{marker}");
        }
    }

    #[test]
    fn a_finding_names_the_line_of_its_comment() {
        let text = format!("fn code() {{}}\n\n/// Short.\n{}", comment("//", 30));
        assert!(findings(&text)[0].starts_with("4: a sentence of 30 words"), "{:?}", findings(&text));
    }

    #[test]
    fn code_tables_items_and_separate_comments_are_not_added_up() {
        let words = "word ".repeat(20);
        for text in [
            format!("let a = \"{words} {words}\";\n"),
            format!("/// ```\n/// {words} {words}\n/// ```\n"),
            format!("/// | {words} | {words} |\n"),
            format!("/// * {words}\n/// * {words}\n"),
            format!("// {words}\nlet a = 0;\n// {words}\n"),
            format!("// {words}\n//\n// {words}\n"),
        ] {
            assert_eq!(findings(&text), Vec::<String>::new(), "{text}");
        }
    }
}
