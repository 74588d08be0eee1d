//! From the texts of a game's moves to moves.

use super::super::{Notation, NotationError, coordinates};
use crate::{Move, Position};

/// Parses the moves of a whole game in a notation, or each in any. Returns the legal moves at its
/// beginning, and the error of the next one, if there is one.
///
/// The whole text decides whether ranks are counted from 0 or from 1: single moves can be legal
/// under both. The counting under which all moves are legal is taken, else the one under which the
/// most are. If the two are equal, a rank 10 without a rank 0 decides for 1.
pub fn resolve<'a, I: Iterator<Item = &'a str>>(
    start: &Position,
    notation: Option<Notation>,
    texts: impl Fn() -> I,
) -> (Vec<Move>, Option<NotationError>) {
    const ANY: [Notation; 5] =
        [Notation::Uci, Notation::Iccs, Notation::Wxf, Notation::ChineseSimplified, Notation::Uci1];
    if let Some(notation) = notation {
        return parse_all(start, texts(), &[notation]);
    }
    let from_zero = &ANY[..4];
    let from_one = [Notation::Uci1, Notation::Wxf, Notation::ChineseSimplified];
    let order =
        if counts_from_one(texts()) { [&from_one[..], from_zero, &ANY] } else { [from_zero, &from_one[..], &ANY] };
    let mut best: Option<(Vec<Move>, NotationError)> = None;
    for notations in order {
        match parse_all(start, texts(), notations) {
            (moves, None) => return (moves, None),
            (moves, Some(error)) => {
                if best.as_ref().is_none_or(|(longest, _)| moves.len() > longest.len()) {
                    best = Some((moves, error));
                }
            }
        }
    }
    best.map_or_else(|| (Vec::new(), None), |(moves, error)| (moves, Some(error)))
}

/// Whether a rank 10 occurs and no rank 0.
fn counts_from_one<'a>(texts: impl Iterator<Item = &'a str>) -> bool {
    let mut ten = false;
    for text in texts.filter(|text| text.is_ascii() && coordinates::has_form(text)) {
        let is_ten = text.contains("10") && !text.contains('-');
        if !is_ten && text.contains('0') {
            return false;
        }
        ten |= is_ten;
    }
    ten
}

fn parse_all<'a>(
    start: &Position,
    texts: impl Iterator<Item = &'a str>,
    notations: &[Notation],
) -> (Vec<Move>, Option<NotationError>) {
    let mut position = start.clone();
    let mut moves = Vec::new();
    for text in texts {
        match parse_in(&position, text, notations) {
            Ok(mv) => {
                let _ = position.make(mv);
                moves.push(mv);
            }
            Err(error) => return (moves, Some(error)),
        }
    }
    (moves, None)
}

/// Parses a move in the first notation that makes it legal. The error is that of the first notation
/// whose form the text has.
pub(in super::super) fn parse_in(
    position: &Position,
    text: &str,
    notations: &[Notation],
) -> Result<Move, NotationError> {
    let mut first_error = None;
    for notation in notations {
        // Saves the errors of notations that cannot be meant.
        if *notation == Notation::ChineseSimplified && text.is_ascii() {
            continue;
        }
        match position.parse_move_in(text, *notation) {
            Ok(mv) => return Ok(mv),
            Err(NotationError::NotAMove { .. }) => {}
            Err(error) => {
                first_error.get_or_insert(error);
            }
        }
    }
    Err(first_error.unwrap_or_else(|| NotationError::not_recognized(text)))
}
