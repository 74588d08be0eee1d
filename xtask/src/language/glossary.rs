//! The table of retired words.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// The heading above the table in `docs/GLOSSARY.md`.
const HEADING: &str = "## Retired words";

/// Words and phrases that the project does not use, in lower case.
#[derive(Debug, Default)]
pub(super) struct Glossary {
    words: HashSet<String>,
    phrases: Vec<String>,
    /// Bytes of files and interfaces that keep a retired word.
    kept: Vec<String>,
}

impl Glossary {
    /// Reads the table: retired words, the replacement, and bytes that keep them.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let glossary = Self::parse(&text);
        ensure!(!glossary.words.is_empty(), "{}: no table under `{HEADING}`", path.display());
        Ok(glossary)
    }

    fn parse(text: &str) -> Self {
        let mut glossary = Self::default();
        let section = text.split(HEADING).nth(1).unwrap_or_default();
        let section = section.split("\n## ").next().unwrap_or_default();
        for row in section.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
            for retired in quoted(cells[0]) {
                if retired.contains(' ') {
                    glossary.phrases.push(retired.to_owned());
                } else {
                    glossary.words.insert(retired.to_owned());
                }
            }
            glossary.kept.extend(cells.get(2).into_iter().flat_map(|cell| quoted(cell)).map(str::to_owned));
        }
        glossary
    }

    /// The retired words and phrases in a line of text or code.
    pub(super) fn retired(&self, line: &str) -> Vec<String> {
        let kept = self.kept.iter().fold(line.to_owned(), |line, bytes| line.replace(bytes, " "));
        let words = words(&kept);
        let text = format!(" {} ", words.join(" "));
        let phrases = self.phrases.iter().filter(|phrase| text.contains(&format!(" {phrase} ")));
        words.iter().filter(|word| self.words.contains(*word)).chain(phrases).cloned().collect()
    }
}

/// The parts between backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Words in lower case; `snake_case` and `CamelCase` are taken apart.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in line.chars() {
        if !letter.is_alphabetic() || (letter.is_uppercase() && before.is_lowercase()) {
            words.push(String::new());
        }
        if letter.is_alphabetic() {
            words.last_mut().expect("there is one from the beginning").extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glossary() -> Glossary {
        Glossary::parse(
            "## Retired words\n\n| retired | say | kept |\n|---|---|---|\n| `oldword`, `two words` | new | `oldword = $1` |\n\n## Next\n| `lease` | | |\n",
        )
    }

    #[test]
    fn a_retired_word_is_found_inside_names() {
        for line in ["is_oldword", "OldwordTwice", "MAX_OLDWORD", "// Oldword.", "in two words", "two_words()"] {
            assert_eq!(glossary().retired(line).len(), 1, "{line}");
        }
    }

    #[test]
    fn other_words_and_kept_bytes_are_no_finding() {
        for line in ["unoldword", "oldwords", "two more words", "SET oldword = $1", "lease"] {
            assert_eq!(glossary().retired(line), Vec::<String>::new(), "{line}");
        }
    }
}
