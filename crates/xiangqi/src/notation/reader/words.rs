//! The forms of single tokens. Each function looks at the beginning of a text and returns the
//! length of what it found, in bytes.

use super::{
    super::{chinese, coordinates, wxf},
    tokens::TokenKind,
};
use crate::rules::Outcome;

/// Characters behind a move's number.
const POINTS: [char; 6] = ['.', '．', '…', '⋯', '、', ':'];

/// Characters that end a word, besides blanks.
const ENDS: &str = "{}()[];,|!?$，、；。：（）！？…⋯．";

/// Results in words. A longer one comes before its own beginning.
const RESULTS: [(&str, Option<Outcome>); 37] = [
    ("1/2-1/2", Some(Outcome::Draw)),
    ("½-½", Some(Outcome::Draw)),
    ("1-0", Some(Outcome::RedWins)),
    ("0-1", Some(Outcome::BlackWins)),
    ("*", None),
    ("red wins", Some(Outcome::RedWins)),
    ("red won", Some(Outcome::RedWins)),
    ("red resigns", Some(Outcome::BlackWins)),
    ("black wins", Some(Outcome::BlackWins)),
    ("black won", Some(Outcome::BlackWins)),
    ("black resigns", Some(Outcome::RedWins)),
    ("drawn", Some(Outcome::Draw)),
    ("draw", Some(Outcome::Draw)),
    ("红方胜", Some(Outcome::RedWins)),
    ("紅方勝", Some(Outcome::RedWins)),
    ("红先胜", Some(Outcome::RedWins)),
    ("紅先勝", Some(Outcome::RedWins)),
    ("红胜", Some(Outcome::RedWins)),
    ("紅勝", Some(Outcome::RedWins)),
    ("先胜", Some(Outcome::RedWins)),
    ("先勝", Some(Outcome::RedWins)),
    ("黑方负", Some(Outcome::RedWins)),
    ("黑方負", Some(Outcome::RedWins)),
    ("黑方胜", Some(Outcome::BlackWins)),
    ("黑方勝", Some(Outcome::BlackWins)),
    ("红先负", Some(Outcome::BlackWins)),
    ("紅先負", Some(Outcome::BlackWins)),
    ("黑胜", Some(Outcome::BlackWins)),
    ("黑勝", Some(Outcome::BlackWins)),
    ("先负", Some(Outcome::BlackWins)),
    ("先負", Some(Outcome::BlackWins)),
    ("红方负", Some(Outcome::BlackWins)),
    ("紅方負", Some(Outcome::BlackWins)),
    ("红先和", Some(Outcome::Draw)),
    ("紅先和", Some(Outcome::Draw)),
    ("判和", Some(Outcome::Draw)),
    ("和棋", Some(Outcome::Draw)),
];

/// Whether a text ends, or a word ends before it.
fn is_boundary(rest: &str) -> bool {
    rest.chars().next().is_none_or(|next| next.is_whitespace() || ENDS.contains(next) || next == '.')
}

/// Whether a letter is a digit, also a full-width one.
fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit() || ('０'..='９').contains(&letter)
}

/// Whether all letters are digits.
pub(super) fn is_digits(text: &str) -> bool {
    text.chars().all(is_digit)
}

/// Blanks and punctuation between other tokens.
fn is_separator(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, ',' | '|' | '.' | ':' | '\u{feff}') || "，、；。：…⋯．".contains(letter)
}

/// Blanks, punctuation, and rules of at least three characters: `=====`.
pub(super) fn separators(rest: &str) -> usize {
    // The mark of a list's item.
    if rest.starts_with("- ") {
        return 1;
    }
    for mark in ['=', '-', '_'] {
        let length = rest.len() - rest.trim_start_matches(mark).len();
        if length >= 3 && is_boundary(&rest[length..]) {
            return length;
        }
    }
    rest.find(|letter| !is_separator(letter)).unwrap_or(rest.len())
}

/// A word, at least up to the first blank or bracket.
pub(super) fn word(rest: &str) -> usize {
    rest.find(|letter: char| letter.is_whitespace() || ENDS.contains(letter)).unwrap_or(rest.len())
}

/// A variation in parentheses, with nested ones. Comments in it may hold any letter but a brace.
pub(super) fn variation(rest: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut in_comment = false;
    for (index, letter) in rest.char_indices() {
        match letter {
            '{' => in_comment = true,
            '}' => in_comment = false,
            '(' if !in_comment => depth += 1,
            ')' if !in_comment => {
                depth -= 1;
                if depth == 0 {
                    return Some(index + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// `[Name "value"]` on one line, with a backslash before quotes and backslashes.
pub(super) fn tag(rest: &str) -> Option<usize> {
    let quote = rest.find(['"', '\n']).filter(|at| rest.as_bytes()[*at] == b'"' && !rest[1..*at].trim().is_empty())?;
    let mut letters = rest[quote + 1..].char_indices();
    let end = loop {
        match letters.next()? {
            (_, '\\') => drop(letters.next()),
            (index, '"') => break quote + 1 + index + 1,
            (_, '\n') => return None,
            _ => {}
        }
    };
    let blanks = rest[end..].len() - rest[end..].trim_start_matches([' ', '\t']).len();
    rest[end + blanks..].starts_with(']').then_some(end + blanks + 1)
}

/// Whether moves follow a semicolon, which then separates them; else it begins a comment.
pub(super) fn continues_moves(rest: &str) -> bool {
    let blank = |letter: char| letter != '\n' && is_separator(letter);
    let rest = rest.trim_start_matches(blank);
    let rest = number(rest).map_or(rest, |length| &rest[length..]).trim_start_matches(blank);
    rest.is_empty() || rest.starts_with('\n') || move_text(rest).is_some()
}

/// `$1`, `!?`.
pub(super) fn glyph(rest: &str, first: char) -> usize {
    let tail = &rest[first.len_utf8()..];
    let is_more = |letter: char| if first == '$' { letter.is_ascii_digit() } else { "!?！？".contains(letter) };
    first.len_utf8() + tail.find(|letter| !is_more(letter)).unwrap_or(tail.len())
}

/// A word of engine protocols.
pub(super) fn keyword(rest: &str) -> Option<(TokenKind, usize)> {
    const WORDS: [(&str, TokenKind); 4] = [
        ("position", TokenKind::Keyword),
        ("fen", TokenKind::Keyword),
        ("moves", TokenKind::Keyword),
        ("startpos", TokenKind::StartPosition),
    ];
    let found = WORDS.into_iter().find(|(word, _)| begins_with(rest, word))?;
    Some((found.1, found.0.len()))
}

/// Whether a text begins with a whole word, in any case.
fn begins_with(rest: &str, word: &str) -> bool {
    rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)) && is_boundary(&rest[word.len()..])
}

/// A game's result.
pub(super) fn result(rest: &str) -> Option<usize> {
    let first = rest.chars().next()?;
    let is_possible = !first.is_ascii() || matches!(first.to_ascii_lowercase(), '0' | '1' | '*' | 'r' | 'b' | 'd');
    let found = || RESULTS.iter().find(|(word, _)| begins_with(rest, word));
    is_possible.then(found)?.map(|(word, _)| word.len())
}

/// The outcome that a [`TokenKind::Result`] says; `None` for `*`.
pub(super) fn outcome(text: &str) -> Option<Outcome> {
    RESULTS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)).and_then(|(_, outcome)| *outcome)
}

/// The number of a move, with the marks behind it.
pub(super) fn number(rest: &str) -> Option<usize> {
    let digits = rest.find(|letter| !is_digit(letter)).unwrap_or(rest.len());
    let behind = &rest[digits..];
    if digits == 0 || is_numbered_pawn(rest) {
        return None;
    }
    let points = behind.len() - behind.trim_start_matches(POINTS).len();
    let is_number = points > 0
        || is_boundary(behind)
        || chinese::length(behind).is_some() && chinese::length(rest).is_none_or(|_| !begins_with_pawn(rest, digits));
    is_number.then_some(digits + points)
}

/// Whether digits are a pawn's place, as in 二卒7平6, rather than the number of a move: `2卒7平6`.
fn begins_with_pawn(rest: &str, digits: usize) -> bool {
    let is_one = rest[..digits].chars().count() == 1;
    is_one && rest[digits..].starts_with(['兵', '卒'])
}

/// Whether the text begins with a numbered pawn's move in the scheme of 1980: `16.5`. It looks like
/// move 16. The World rules number one of many pawns so.
fn is_numbered_pawn(rest: &str) -> bool {
    let digit = |byte: u8| (b'1'..=b'9').contains(&byte);
    matches!(rest.as_bytes(), [place, file, b'.', target, ..]
        if digit(*place) && digit(*file) && digit(*target) && is_boundary(&rest[4..]) && !rest[4..].starts_with('.'))
}

/// A text with the form of a move.
pub(super) fn move_text(rest: &str) -> Option<usize> {
    let length = word(rest);
    let bare = rest[..length].trim_end_matches(['.', ':']);
    // Typographic dashes are at most three bytes each.
    if bare.len() <= 16 && (coordinates::has_form(bare) || wxf::has_form(bare)) {
        return Some(bare.len());
    }
    chinese::length(rest)
}

/// Whether the text begins with the board of a FEN: at least two slashes.
pub(super) fn is_board(rest: &str) -> bool {
    rest[..blank(rest)].matches('/').nth(1).is_some()
}

fn blank(rest: &str) -> usize {
    rest.find(char::is_whitespace).unwrap_or(rest.len())
}

/// A FEN: its board and the fields behind it, as far as they are neither moves nor their numbers.
pub(super) fn fen(rest: &str) -> usize {
    const FIELDS: usize = 5;
    let mut end = blank(rest);
    for _ in 0..FIELDS {
        let behind = &rest[end..];
        let field = behind.trim_start();
        let length = blank(field);
        let is_numbered = number(field).is_some_and(|number| !is_digits(&field[..number]));
        let is_other = field.starts_with(['[', '{', '(', ';', '（']) || keyword(field).is_some();
        if length == 0 || is_other || is_numbered || move_text(field).is_some() {
            break;
        }
        end += behind.len() - field.len() + length;
    }
    end
}
