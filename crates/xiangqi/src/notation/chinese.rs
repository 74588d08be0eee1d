//! The notation of Chinese books: 炮二平五, 马8进7.
//!
//! Four characters: piece, file, direction (进 forward, 退 back, 平 sideways), number. Red's numbers
//! are Chinese, Black's are Arabic. Where two of a kind are on one file, the first character tells
//! them apart, and the piece comes second: 前炮平五, 后马进八. Pawns can be more:
//!
//! | pawns on the file       | front to rear             |
//! |-------------------------|---------------------------|
//! | 2                       | 前兵 后兵                 |
//! | 3                       | 前兵 中兵 后兵            |
//! | 4                       | 前兵 二兵 三兵 后兵       |
//! | 5                       | 前兵 二兵 三兵 四兵 后兵  |
//! | 2 or 3, on two files    | 前三 中三 后三 (the file) |
//!
//! This is the form of the competition rulebook's chapter on records, and the one written.
//!
//! Also parsed:
//!
//! * both scripts, the characters of either side, both numerals, full-width digits,
//! * 上 and 下, and the signs `+-=` of the rulebooks in English,
//! * the place after the piece (炮前平五), and the last of four counted as 四,
//! * the piece's name together with file and place (前兵九平八), or in place of one of them where one
//!   legal move remains.

use super::relative::{Description, Direction, Pattern, Place, Selector, Subject, Token, split};
use crate::{Color, Piece, PieceKind};

/// A script of Chinese characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    Simplified,
    Traditional,
}

/// The names of [`Piece::ALL`].
const SIMPLIFIED: [char; Piece::COUNT] =
    ['车', '马', '炮', '兵', '仕', '相', '帅', '车', '马', '炮', '卒', '士', '象', '将'];
const TRADITIONAL: [char; Piece::COUNT] =
    ['車', '馬', '炮', '兵', '仕', '相', '帥', '車', '馬', '砲', '卒', '士', '象', '將'];
const NUMERALS: [char; 9] = ['一', '二', '三', '四', '五', '六', '七', '八', '九'];

/// A piece's name in simplified characters, as its side writes it.
#[must_use]
pub const fn simplified_name(piece: Piece) -> char {
    SIMPLIFIED[piece.index()]
}

/// Formats a move.
pub(super) fn write(Description { subject, step }: Description, script: Script) -> String {
    let direction = match (step.direction, script) {
        (Direction::Forward, Script::Simplified) => '进',
        (Direction::Forward, Script::Traditional) => '進',
        (Direction::Back, _) => '退',
        (Direction::Sideways, _) => '平',
    };
    let [first, second] = selector(subject, script);
    String::from_iter([first, second, direction, digit(subject.piece.color(), step.number)])
}

/// The two characters that name the piece.
fn selector(subject: Subject, script: Script) -> [char; 2] {
    let name = match script {
        Script::Simplified => SIMPLIFIED,
        Script::Traditional => TRADITIONAL,
    }[subject.piece.index()];
    let file = digit(subject.piece.color(), subject.file);
    match subject.selector() {
        Selector::File => [name, file],
        Selector::Place => [place(subject, script), name],
        Selector::FileAndPlace => [place(subject, script), file],
    }
}

fn place(Subject { count, ahead, .. }: Subject, script: Script) -> char {
    match (ahead, script) {
        (0, _) => '前',
        (1, _) if count == 3 => '中',
        _ if ahead + 1 < count => numeral(ahead + 1),
        (_, Script::Simplified) => '后',
        (_, Script::Traditional) => '後',
    }
}

fn digit(side: Color, number: u8) -> char {
    match side {
        Color::Red => numeral(number),
        Color::Black => char::from(b'0' + number),
    }
}

fn numeral(number: u8) -> char {
    NUMERALS[usize::from(number) - 1]
}

/// Parses a text; `None` if it does not have the notation's form.
pub(super) fn read(text: &str) -> Option<Pattern> {
    use Token::{Digit, Kind, Place as At};

    let (tokens, step) = split(text, token, direction)?;
    let (kind, file, place) = match tokens[..] {
        // Digits and signs alone would be WXF.
        _ if text.is_ascii() => return None,
        [Kind(kind), Digit(file)] => (kind, Some(file), None),
        [At(place), Kind(kind)] | [Kind(kind), At(place)] => (kind, None, Some(place)),
        [Digit(number), Kind(kind)] => (kind, None, Some(Place::Nth(number))),
        [At(place), Digit(file)] => (PieceKind::Pawn, Some(file), Some(place)),
        [Digit(number), Digit(file)] => (PieceKind::Pawn, Some(file), Some(Place::Nth(number))),
        [At(place), Kind(kind), Digit(file)] => (kind, Some(file), Some(place)),
        [Digit(number), Kind(kind), Digit(file)] => (kind, Some(file), Some(Place::Nth(number))),
        _ => return None,
    };
    Some(Pattern { kind, file, place, step })
}

/// The number of bytes of the move at the beginning of a text, with blanks inside the move. `None`
/// if the text does not begin with one.
pub(super) fn length(text: &str) -> Option<usize> {
    const MAX_SELECTOR: usize = 3;
    let mut chars = text.char_indices().filter(|(_, char)| !matches!(char, ' ' | '\t' | '\u{3000}'));
    for count in 0..=MAX_SELECTOR {
        let (_, char) = chars.next()?;
        if count >= 2 && direction(char).is_some() {
            let (start, last) = chars.next()?;
            let end = start + last.len_utf8();
            let bare: String = text[..end].split_whitespace().collect();
            return read(&bare).map(|_| end);
        }
        token(char)?;
    }
    None
}

/// The side whose numerals a move has; `None` if it has both or none.
pub(super) fn side_of_numerals(text: &str) -> Option<Color> {
    let digits = text.chars().filter(|char| matches!(token(*char), Some(Token::Digit(_))));
    let mut sides = digits.map(|char| if NUMERALS.contains(&char) { Color::Red } else { Color::Black });
    let first = sides.next()?;
    sides.all(|side| side == first).then_some(first)
}

fn token(char: char) -> Option<Token> {
    use PieceKind::{Advisor, Cannon, Chariot, Elephant, Horse, King, Pawn};
    Some(match char {
        '车' | '車' | '俥' => Token::Kind(Chariot),
        '马' | '馬' | '傌' => Token::Kind(Horse),
        '炮' | '砲' | '包' => Token::Kind(Cannon),
        '兵' | '卒' => Token::Kind(Pawn),
        '仕' | '士' => Token::Kind(Advisor),
        '相' | '象' => Token::Kind(Elephant),
        '帅' | '帥' | '将' | '將' => Token::Kind(King),
        '前' => Token::Place(Place::Front),
        '中' => Token::Place(Place::Middle),
        '后' | '後' => Token::Place(Place::Rear),
        '1'..='9' => Token::Digit(char as u8 - b'0'),
        '１'..='９' => Token::Digit((char as u32 - '０' as u32) as u8),
        _ => Token::Digit(1 + NUMERALS.iter().position(|&numeral| numeral == char)? as u8),
    })
}

fn direction(char: char) -> Option<Direction> {
    Some(match char {
        '进' | '進' | '上' | '+' | '＋' => Direction::Forward,
        '退' | '下' | '-' | '－' => Direction::Back,
        '平' | '=' | '＝' => Direction::Sideways,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
