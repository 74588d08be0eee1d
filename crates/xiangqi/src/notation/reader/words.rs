//! The forms of single tokens. Each function looks at the beginning of a text and returns the
//! length of what it found, in bytes.

use std::borrow::Cow;

use super::{
    super::{chinese, coordinates, wxf},
    tokens::TokenKind,
};

/// Characters behind a move's number.
const POINTS: [char; 6] = ['.', '．', '…', '⋯', '、', ':'];

/// Blanks inside a line.
const BLANKS: [char; 3] = [' ', '\t', '\u{3000}'];

/// Chinese numerals: ten, and one to nine.
const NUMERALS: &str = "十一二三四五六七八九";

/// Characters that end a word, besides blanks.
const ENDS: &str = "{}()[];,|!?$，、；。：（）！？…⋯．";

/// Whether a text ends, or a word ends before it.
pub(super) fn is_boundary(rest: &str) -> bool {
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

/// Whether a text ends, or a blank follows.
pub(super) fn is_blank(rest: &str) -> bool {
    rest.chars().next().is_none_or(char::is_whitespace)
}

/// A full-width letter as its ASCII one.
pub(super) fn narrowed(letter: char) -> char {
    match letter {
        '！'..='～' => char::from_u32(letter as u32 - '！' as u32 + '!' as u32).unwrap_or(letter),
        _ => letter,
    }
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

/// The number of a move, with the marks behind it: `1.`, `1`, 第1回合.
pub(super) fn number(rest: &str) -> Option<usize> {
    if let Some(named) = rest.strip_prefix('第') {
        let named = named.trim_start_matches(BLANKS);
        let is_numeral = |letter: char| is_digit(letter) || NUMERALS.contains(letter);
        let behind = named.trim_start_matches(is_numeral);
        let is_number = behind.len() < named.len();
        let behind = behind.trim_start_matches(BLANKS).strip_prefix("回合")?;
        let points = behind.len() - behind.trim_start_matches(POINTS).len();
        return is_number.then_some(rest.len() - behind.len() + points);
    }
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

/// The value of a [`TokenKind::Number`]; none if it is too large.
pub(super) fn number_value(text: &str) -> Option<u32> {
    let digits: String = text.chars().filter(|letter| is_digit(*letter)).map(narrowed).collect();
    if !digits.is_empty() {
        return digits.parse().ok();
    }
    // 二十三 is two tens and three, 十三 one ten and three.
    let mut letters = text.chars().filter_map(|letter| NUMERALS.chars().position(|numeral| numeral == letter));
    letters.try_fold(0_u32, |value, letter| match letter {
        0 => Some(value.max(1).checked_mul(10)?),
        one => value.checked_add(one as u32),
    })
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
    let is_wide = bare.chars().any(|letter| narrowed(letter) != letter);
    let narrow = if is_wide { bare.chars().map(narrowed).collect() } else { Cow::Borrowed(bare) };
    if has_form(&narrow) {
        return Some(bare.len());
    }
    if let Some(letters) = first_of_many(&narrow).filter(|_| !is_board(rest)) {
        return bare.char_indices().nth(letters).map(|(end, _)| end);
    }
    chinese::length(rest)
}

/// Whether a text is a move in letters.
fn has_form(text: &str) -> bool {
    // Typographic dashes are at most three bytes each.
    text.len() <= 16 && (coordinates::has_form(text) || wxf::has_form(text))
}

/// The number of letters of the first move in a word of several, as in `C2=5H8+7`. A move, or the
/// number of one with its point, follows it.
fn first_of_many(word: &str) -> Option<usize> {
    let begins_with_move = |text: &str| prefixes(text).any(|(_, start, _)| has_form(start));
    let is_pointed = |text: &str| number(text).is_some_and(|length| !is_digits(&text[..length]));
    prefixes(word)
        .find(|(_, start, behind)| has_form(start) && (begins_with_move(behind) || is_pointed(behind)))
        .map(|(letters, ..)| letters)
}

/// The beginnings of a text that are as long as a move, the longest first, and the text behind.
fn prefixes(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    const LENGTHS: [usize; 3] = [6, 5, 4];
    LENGTHS.into_iter().filter_map(move |letters| {
        let end = text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(letters)?;
        Some((letters, &text[..end], &text[end..]))
    })
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
