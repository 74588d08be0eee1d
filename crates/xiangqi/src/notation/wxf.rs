//! The World Xiangqi Federation's notation: `C2=5`, `P7+1`, `H2+3`.
//!
//! Four characters: the piece's letter, its file, the direction (`+` forward, `-` back, `=`
//! sideways), the number. Where two of a kind are on one file, a sign replaces the file: `+R+2` is
//! the front one, `-R=4` the rear one. Pawns can be more:
//!
//! | pawns on the file    | front to rear              |
//! |----------------------|----------------------------|
//! | 2                    | `+P` `-P`                  |
//! | 3                    | `+P` `P3` `-P`             |
//! | 4                    | `++` `+P` `-P` `--`        |
//! | 5                    | `++` `+P` `P3` `-P` `--`   |
//! | 2, on two files each | `3+` `3-`                  |
//! | 3, and 2 on another  | `3+` `33` `3-`             |
//!
//! `P3` is the middle one, by the number of its file.
//!
//! This is the scheme of 1980, in which the sign comes second (`R+.2`, sideways is `.`); both
//! orders and both signs are parsed. The World rules of 2018 number three pawns on a file from the
//! front, followed by the file: `16=5`, `26=5`, `36=5`. That is parsed too.
//!
//! The two schemes collide in one text: `33` for pawns on file 3 (and so on). It is the middle pawn
//! where the scheme of 1980 would write it, on one of two crowded files, and else the third.

use super::relative::{
    Description, Direction, Pattern, Place, Selector, Subject, Token, count_pawns, has_two_files_of_pawns, split,
};
use crate::{PieceKind, Position};

/// Formats a move.
pub(super) fn write(Description { subject, step }: Description) -> String {
    let direction = match step.direction {
        Direction::Forward => '+',
        Direction::Back => '-',
        Direction::Sideways => '=',
    };
    format!("{}{direction}{}", selector(subject), step.number)
}

/// The two characters that name the piece.
fn selector(subject: Subject) -> String {
    let (letter, file) = (letter(subject.piece.kind()), subject.file);
    match (subject.selector(), sign(subject)) {
        (Selector::File, _) | (Selector::Place, None) => format!("{letter}{file}"),
        (Selector::Place, Some(sign @ ("++" | "--"))) => sign.to_owned(),
        (Selector::Place, Some(sign)) => format!("{sign}{letter}"),
        (Selector::FileAndPlace, None) => format!("{file}{file}"),
        (Selector::FileAndPlace, Some(sign)) => format!("{file}{sign}"),
    }
}

/// The sign of a place; the middle of three or five has none.
fn sign(Subject { count, ahead, .. }: Subject) -> Option<&'static str> {
    let behind = count - 1 - ahead;
    match (ahead, behind) {
        (0, _) if count >= 4 => Some("++"),
        (_, 0) if count >= 4 => Some("--"),
        _ if ahead < behind => Some("+"),
        _ if ahead > behind => Some("-"),
        _ => None,
    }
}

const fn letter(kind: PieceKind) -> char {
    match kind {
        PieceKind::Elephant => 'E',
        PieceKind::Horse => 'H',
        _ => kind.letter(),
    }
}

/// Whether a text has the notation's form, in whatever position.
pub(super) fn has_form(text: &str) -> bool {
    use Token::{Digit, Kind, Place as At};

    split(text, token, direction).is_some_and(|(tokens, _)| match tokens[..] {
        [At(one), At(other)] => one == other,
        [Kind(_) | At(_) | Digit(_), Digit(_)]
        | [Kind(_) | Digit(_), At(_)]
        | [At(_), Kind(_)]
        | [Kind(_), Digit(_), At(_)]
        | [At(_), Kind(_), Digit(_)] => true,
        _ => false,
    })
}

/// Parses a text; `None` if it does not have the notation's form.
pub(super) fn read(position: &Position, text: &str) -> Option<Pattern> {
    use PieceKind::Pawn;
    use Token::{Digit, Kind, Place as At};
    let side = position.turn();

    let (tokens, step) = split(text, token, direction)?;
    let (kind, file, place) = match tokens[..] {
        [Kind(Pawn), Digit(file)] => {
            let has_middle = matches!(count_pawns(position, side, file), 3 | 5);
            (Pawn, Some(file), has_middle.then_some(Place::Middle))
        }
        [Kind(kind), Digit(file)] => (kind, Some(file), None),
        [Kind(kind), At(place)] | [At(place), Kind(kind)] => (kind, None, Some(place)),
        [At(Place::Plus), At(Place::Plus)] => (Pawn, None, Some(Place::Front)),
        [At(Place::Minus), At(Place::Minus)] => (Pawn, None, Some(Place::Rear)),
        [Digit(file), At(place)] | [At(place), Digit(file)] => (Pawn, Some(file), Some(place)),
        [Digit(number), Digit(file)] => {
            let middle = number == file && has_two_files_of_pawns(position, side);
            (Pawn, Some(file), Some(if middle { Place::Middle } else { Place::Nth(number) }))
        }
        // The letter is kept although the file is given.
        [Kind(kind), Digit(file), At(place)] | [At(place), Kind(kind), Digit(file)] => (kind, Some(file), Some(place)),
        _ => return None,
    };
    Some(Pattern { kind, file, place, step })
}

fn token(char: char) -> Option<Token> {
    Some(match char {
        '1'..='9' => Token::Digit(char as u8 - b'0'),
        _ => match direction(char) {
            Some(Direction::Forward) => Token::Place(Place::Plus),
            Some(Direction::Back) => Token::Place(Place::Minus),
            Some(Direction::Sideways) => return None,
            None => Token::Kind(PieceKind::from_letter(char)?),
        },
    })
}

/// The signs, including the dashes that typesetters make of a hyphen.
fn direction(char: char) -> Option<Direction> {
    Some(match char {
        '+' => Direction::Forward,
        '-' | '‐' | '‑' | '–' | '−' => Direction::Back,
        '=' | '.' => Direction::Sideways,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
