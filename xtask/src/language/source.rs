//! Findings in one file, line by line.

use super::glossary::Glossary;
use super::{MAX_COLUMNS, comments};

/// Words that the name of a function does not hold: they stand for a noun.
const NOUNLESS: [&str; 5] = ["what", "who", "whom", "whose", "whatever"];

/// Beginnings of the names of limits that are not the field's: `MAX_` and `MIN_` are.
const LIMITS: [&str; 3] = ["MOST_", "LEAST_", "LONGEST_"];

/// Words that a doc comment does not begin with: its subject is missing.
const HEADLESS: [&str; 6] = ["what", "who", "whom", "whose", "whatever", "that"];

/// Each finding begins with the number of its line.
pub(super) fn findings(name: &str, text: &str, glossary: &Glossary) -> Vec<String> {
    let rust = has_extension(name, "rs");
    let markdown = has_extension(name, "md");
    let mut found = Vec::new();
    let mut fenced = false;
    let mut before = "";
    for (number, line) in (1..).zip(text.lines()) {
        found.extend(glossary.retired(line).iter().map(|word| format!("{number}: `{word}` is retired")));
        if markdown && line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let prose = if rust {
            line.trim_start().starts_with("//")
        } else if markdown {
            !fenced && !line.starts_with('|')
        } else {
            let commented = ["toml", "yml", "yaml"].iter().any(|end| has_extension(name, end));
            (commented || name.starts_with("scripts/")) && line.trim_start().starts_with('#')
        };
        let columns = line.chars().count();
        if prose && columns > MAX_COLUMNS && is_breakable(line) {
            found.push(format!("{number}: {columns} columns of prose, at most {MAX_COLUMNS} are wanted"));
        }
        if rust {
            let first = doc_comment(line).and_then(first_word);
            let begins = doc_comment(before).is_none_or(str::is_empty);
            if begins && first.is_some_and(|word| HEADLESS.contains(&&*word)) {
                found.push(format!("{number}: a doc comment without a subject: `{}`", line.trim()));
            }
            let mut words = declared("fn ", line).unwrap_or_default().split('_');
            if words.any(|word| NOUNLESS.contains(&word)) {
                found.push(format!("{number}: a function's name where a noun is missing: `{}`", line.trim()));
            }
            let constant = declared("const ", line).or_else(|| declared("static ", line)).unwrap_or_default();
            if LIMITS.iter().any(|limit| constant.starts_with(limit)) {
                found.push(format!("{number}: a limit that begins neither MAX_ nor MIN_: `{constant}`"));
            }
        }
        before = line;
    }
    if rust {
        found.extend(comments::findings(text));
    }
    found
}

fn has_extension(name: &str, extension: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, end)| end == extension)
}

/// The text of a doc comment.
fn doc_comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(str::trim)
}

/// The name that a line declares with a keyword.
fn declared<'a>(keyword: &str, line: &'a str) -> Option<&'a str> {
    let (before, after) = line.split_once(keyword)?;
    let qualifiers = ["pub", "pub(crate)", "pub(super)", "const", "async", "unsafe"];
    let declares = before.split_whitespace().all(|word| qualifiers.contains(&word));
    declares.then(|| after.split(['(', '<', ':']).next().unwrap_or_default())
}

fn first_word(text: &str) -> Option<String> {
    text.split(' ').next().filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Whether a line could be broken before its last column: an address or a table's row cannot.
fn is_breakable(line: &str) -> bool {
    let row = line.trim_start_matches(['/', '!', ' ', '#']).starts_with('|');
    let indent = line.len() - line.trim_start().len();
    let head: String = line.chars().take(MAX_COLUMNS).collect();
    !row && head.char_indices().any(|(place, letter)| letter == ' ' && place > indent + 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, text: &str) -> usize {
        findings(name, text, &Glossary::default()).len()
    }

    #[test]
    fn a_doc_comment_begins_with_its_subject() {
        assert_eq!(of("a.rs", "/// What was uploaded.\nstruct A;"), 1);
        assert_eq!(of("a.rs", "/// The uploaded shards\n/// that were validated.\nstruct A;"), 0);
    }

    #[test]
    fn a_function_is_named_with_nouns() {
        for name in ["what_fails", "a_worker_who_waits", "sees_what", "fails_whatever_comes_next"] {
            assert_eq!(of("a.rs", &format!("    pub(crate) async fn {name}() {{}}")), 1, "{name}");
        }
        for name in ["a_slow_reader_is_disconnected", "somewhat_whole"] {
            assert_eq!(of("a.rs", &format!("fn {name}() {{}}")), 0, "{name}");
        }
        assert_eq!(of("a.rs", "call(what_fails);"), 0);
    }

    #[test]
    fn limits_are_named_max_and_min() {
        for name in ["MOST_WORKERS", "LEAST_NODES", "LONGEST_NAME"] {
            assert_eq!(of("a.rs", &format!("pub const {name}: usize = 1;")), 1, "{name}");
        }
        for line in ["const MAX_WORKERS: usize = 1;", "const ALMOST_ALL: usize = 1;", "a(MOST_WORKERS);"] {
            assert_eq!(of("a.rs", line), 0, "{line}");
        }
    }

    #[test]
    fn prose_is_narrow_and_code_is_not() {
        let words = "word ".repeat(21);
        assert_eq!(of("a.rs", &format!("// {words}")), 1);
        assert_eq!(of("a.rs", &format!("let a = \"{words}\";")), 0);
        assert_eq!(of("a.md", &words), 1);
        assert_eq!(of("a.md", &format!("```\n{words}\n```")), 0);
        assert_eq!(of("a.md", &format!("| {words} |")), 0);
        assert_eq!(of("a.rs", &format!("// {}", "x".repeat(120))), 0);
    }
}
