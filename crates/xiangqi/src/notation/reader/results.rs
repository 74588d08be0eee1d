//! Results of games, in PGN and in words of both languages.

use super::words::{self, narrowed};
use crate::{Color, rules::Outcome};

/// The results of PGN, and words for a draw.
const FIXED: [(&str, Option<Outcome>); 20] = [
    ("1/2-1/2", Some(Outcome::Draw)),
    ("½-½", Some(Outcome::Draw)),
    ("1-0", Some(Outcome::RedWins)),
    ("0-1", Some(Outcome::BlackWins)),
    ("1:0", Some(Outcome::RedWins)),
    ("0:1", Some(Outcome::BlackWins)),
    ("*", None),
    ("draw agreed", Some(Outcome::Draw)),
    ("drawn", Some(Outcome::Draw)),
    ("draw", Some(Outcome::Draw)),
    ("判和", Some(Outcome::Draw)),
    ("作和", Some(Outcome::Draw)),
    ("议和", Some(Outcome::Draw)),
    ("議和", Some(Outcome::Draw)),
    ("和棋", Some(Outcome::Draw)),
    ("和局", Some(Outcome::Draw)),
    ("平局", Some(Outcome::Draw)),
    ("和了", Some(Outcome::Draw)),
    ("成和", Some(Outcome::Draw)),
    ("和", Some(Outcome::Draw)),
];

/// The names of sides. `White` is Red's name in PGN; a game's first side is Red.
const SIDES: [(&str, Color); 7] = [
    ("red", Color::Red),
    ("white", Color::Red),
    ("black", Color::Black),
    ("红", Color::Red),
    ("紅", Color::Red),
    ("黑", Color::Black),
    ("先", Color::Red),
];

/// English words after a side, each with whether that side won.
const ENGLISH: [(&str, bool); 9] = [
    ("wins", true),
    ("won", true),
    ("win", true),
    ("resigns", false),
    ("resigned", false),
    ("resign", false),
    ("loses", false),
    ("lost", false),
    ("lose", false),
];

/// Chinese words after a side, each with whether that side won; none is a draw.
const CHINESE: [(&str, Option<bool>); 13] = [
    ("胜", Some(true)),
    ("勝", Some(true)),
    ("负", Some(false)),
    ("負", Some(false)),
    ("获胜", Some(true)),
    ("獲勝", Some(true)),
    ("超时负", Some(false)),
    ("超時負", Some(false)),
    ("超时", Some(false)),
    ("超時", Some(false)),
    ("认输", Some(false)),
    ("認輸", Some(false)),
    ("和", None),
];

/// A letter in lower case, without full width; a typographic dash as a hyphen.
fn plain(letter: char) -> char {
    match letter {
        '‐'..='―' | '−' => '-',
        _ => narrowed(letter).to_ascii_lowercase(),
    }
}

/// The length of a word at the beginning of a text, in any case and width.
fn begins_with(rest: &str, word: &str) -> Option<usize> {
    let mut letters = rest.chars();
    let is_same = word.chars().all(|expected| letters.next().is_some_and(|letter| plain(letter) == expected));
    is_same.then(|| rest.len() - letters.as_str().len())
}

/// Finds the first of some words at the beginning of a text; returns its meaning and the rest.
fn strip<'a, T: Copy>(rest: &'a str, words: &[(&str, T)]) -> Option<(T, &'a str)> {
    words.iter().find_map(|(word, meaning)| Some((*meaning, &rest[begins_with(rest, word)?..])))
}

/// The result at the beginning of a text, none for `*`, and the rest.
fn read(rest: &str) -> Option<(Option<Outcome>, &str)> {
    let ends = |rest: &&str| words::is_boundary(rest);
    let fixed = FIXED.iter().find_map(|(word, outcome)| {
        let behind = Some(&rest[begins_with(rest, word)?..]).filter(ends)?;
        Some((*outcome, behind))
    });
    if fixed.is_some() {
        return fixed;
    }
    let (side, behind) = strip(rest, &SIDES)?;
    let won = |won: bool| Some(Outcome::loss_of(if won { !side } else { side }));
    if rest.starts_with(|first| narrowed(first).is_ascii()) {
        let verb = behind.strip_prefix([' ', '\u{3000}'])?.trim_start_matches([' ', '\u{3000}']);
        let (is_won, behind) = ENGLISH.iter().find_map(|(word, is_won)| {
            let behind = Some(&verb[begins_with(verb, word)?..]).filter(ends)?;
            Some((*is_won, behind))
        })?;
        return Some((won(is_won), behind));
    }
    let verb = if rest.starts_with('先') { behind } else { behind.strip_prefix(['方', '先']).unwrap_or(behind) };
    let (is_won, behind) = strip(verb, &CHINESE)?;
    ends(&behind).then_some((is_won.map_or(Some(Outcome::Draw), won), behind))
}

/// The length of a result at the beginning of a text.
pub(super) fn length(rest: &str) -> Option<usize> {
    let first = narrowed(rest.chars().next()?).to_ascii_lowercase();
    let is_possible =
        matches!(first, '0' | '1' | '*' | '½' | 'r' | 'w' | 'b' | 'd') || "红紅黑先判作议議和平成".contains(first);
    is_possible.then(|| read(rest)).flatten().map(|(_, behind)| rest.len() - behind.len())
}

/// The outcome that a result says; none for `*`, or if it is no result.
pub(super) fn outcome(text: &str) -> Option<Outcome> {
    read(text).filter(|(_, behind)| behind.is_empty())?.0
}

/// Whether a text ends in a result, with marks behind it.
pub(super) fn is_at_end(text: &str) -> bool {
    /// Longer than any result.
    const LENGTH: usize = 24;
    let text =
        text.trim_end_matches(|letter: char| letter != '*' && words::is_boundary(letter.encode_utf8(&mut [0; 4])));
    let mut before = None;
    let starts = text.char_indices().rev().take(LENGTH);
    let starts: Vec<(usize, char)> = starts.collect();
    for (start, first) in starts.into_iter().rev() {
        let begins_word = !first.is_ascii()
            || before.is_none_or(|before: char| !(before.is_alphanumeric() || "/-½:".contains(before)));
        if begins_word && length(&text[start..]) == Some(text.len() - start) {
            return true;
        }
        before = Some(first);
    }
    false
}
