//! Sentences of documents and comments, and their numbers of words.

/// Words per sentence of a document.
pub(super) struct Figures {
    pub(super) sentences: usize,
    pub(super) mean: f64,
    /// The longest sentence, with its words.
    pub(super) longest: (usize, String),
}

impl Figures {
    /// Counts the prose of a Markdown document: no code, tables, headings, pictures.
    pub(super) fn of(text: &str) -> Self {
        let counted = counted(text);
        let sum: usize = counted.iter().map(|(words, _)| words).sum();
        let mean = sum as f64 / counted.len().max(1) as f64;
        let sentences = counted.len();
        Self { sentences, mean, longest: counted.into_iter().max().unwrap_or_default() }
    }
}

/// The sentences of a text in Markdown, each with its number of words.
pub(super) fn counted(text: &str) -> Vec<(usize, String)> {
    let paragraphs = paragraphs(text);
    let sentences = paragraphs.iter().flat_map(|paragraph| sentences(paragraph));
    sentences.map(|text| (words(&text), text)).collect()
}

/// Paragraphs and list items, each on one line.
fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    let mut fenced = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") {
            fenced = !fenced;
        }
        let item = line.starts_with("* ") || line.starts_with("- ") || numbered(line);
        let prose = !fenced && !line.is_empty() && !line.starts_with(['#', '|', '<', '!', '`']);
        // A line may begin with code; only a fence has three.
        let prose = prose || (!fenced && line.starts_with('`') && !line.starts_with("```"));
        if !prose || item {
            paragraphs.push(String::new());
        }
        if prose {
            let paragraph = paragraphs.last_mut().expect("there is one from the beginning");
            paragraph.push(' ');
            paragraph.push_str(line.trim_start_matches(['*', '-', '>']).trim());
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
}

/// Whether a line begins an item of a numbered list.
fn numbered(line: &str) -> bool {
    line.split_once(". ").is_some_and(|(number, _)| number.parse::<u8>().is_ok())
}

/// A sentence ends with `.`, `?` or `!` before a space and a capital, or with its paragraph.
fn sentences(paragraph: &str) -> Vec<String> {
    let plain = without_targets(paragraph);
    let mut sentences = vec![String::new()];
    let mut words = plain.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let sentence = sentences.last_mut().expect("there is one from the beginning");
        sentence.push_str(word);
        sentence.push(' ');
        let end = word.trim_end_matches(['*', '_', ')', '"', '`']).ends_with(['.', '?', '!']);
        let abbreviation = ["e.g.", "i.e.", "etc.", "vs."].contains(&word);
        let next = words.peek().and_then(|next| next.trim_start_matches(['*', '_', '(', '"', '`', '[']).chars().next());
        if end && !abbreviation && next.is_none_or(|letter| !letter.is_lowercase()) {
            sentences.push(String::new());
        }
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// Links keep their text and lose their target; code counts as one word.
fn without_targets(text: &str) -> String {
    let code: String =
        text.split('`').enumerate().map(|(number, part)| if number % 2 == 1 { "Code" } else { part }).collect();
    let mut plain = String::new();
    let mut rest = &*code;
    while let Some((before, after)) = rest.split_once("](") {
        plain.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    plain + rest
}

fn words(sentence: &str) -> usize {
    sentence.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_counted_as_a_reader_counts() {
        let text = "# Title of many words\n\nOne two three. Four [five six](a/b.md)!\nSeven `cargo build --release` nine.\n\n\
                    | a | table |\n\n* an item\n* item two: `x`, y\n\n```\ncode code\n```\n";
        let figures = Figures::of(text);
        assert_eq!(figures.sentences, 5);
        assert_eq!(figures.longest.0, 4);
        assert!((figures.mean - 15.0 / 5.0).abs() < 1e-9, "{}", figures.mean);
    }
}
