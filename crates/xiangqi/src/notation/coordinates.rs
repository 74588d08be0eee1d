//! Coordinate notations: UCI with ranks 0 to 9 or 1 to 10, UCCI, ICCS.
//!
//! Texts are parsed as bytes: all significant characters are ASCII, and no other character is cut.

use super::{Notation, NotationError};
use crate::{Move, Position, Square, text::shortened};

/// The longest text: ICCS with its hyphen, or `a10b10`.
const MAX_LEN: usize = 6;

/// Parses a legal move. Only this move is checked; no others are generated.
#[inline]
pub(super) fn parse(position: &Position, text: &str, notation: Notation) -> Result<Move, NotationError> {
    match read(text, notation) {
        Some(mv) if position.is_legal(mv) => Ok(mv),
        Some(mv) => Err(explain_illegal(position, mv, text, notation)),
        None => Err(NotationError::not_a_move(text, notation)),
    }
}

#[inline]
fn read(text: &str, notation: Notation) -> Option<Move> {
    if text.len() > MAX_LEN {
        return None;
    }
    let bytes = text.as_bytes();
    if notation == Notation::Iccs {
        return read_iccs(bytes);
    }
    let first_rank = first_rank(notation);
    let (from, rest) = take_point(bytes, first_rank)?;
    let (to, rest) = take_point(rest, first_rank)?;
    rest.is_empty().then_some(Move::new(from, to))
}

/// Whether a text names two points, counted from 0 or from 1.
pub(super) fn has_form(text: &str) -> bool {
    read(text, Notation::Uci1).is_some() || read(text, Notation::Iccs).is_some()
}

fn read_iccs(bytes: &[u8]) -> Option<Move> {
    let lower = bytes.to_ascii_lowercase();
    let (from, rest) = take_point(&lower, 0)?;
    let (to, rest) = take_point(rest.strip_prefix(b"-").unwrap_or(rest), 0)?;
    rest.is_empty().then_some(Move::new(from, to))
}

/// Parses a point off the front of a text; returns it and the rest. Ranks are counted from
/// `first_rank`.
#[inline]
fn take_point(bytes: &[u8], first_rank: u8) -> Option<(Square, &[u8])> {
    let (file, rank, rest) = match bytes {
        [file, b'1', b'0', rest @ ..] if first_rank == 1 => (file, 10, rest),
        [file, rank @ b'0'..=b'9', rest @ ..] => (file, rank - b'0', rest),
        _ => return None,
    };
    let square = Square::new(file.checked_sub(b'a')?, rank.checked_sub(first_rank)?)?;
    Some((square, rest))
}

const fn first_rank(notation: Notation) -> u8 {
    matches!(notation, Notation::Uci1) as u8
}

/// Formats a point. Relative notations have no points of their own and use UCI's.
pub(super) fn point(square: Square, notation: Notation) -> String {
    let file = char::from(if notation == Notation::Iccs { b'A' } else { b'a' } + square.file());
    format!("{file}{}", square.rank() + first_rank(notation))
}

/// Formats a move.
pub(super) fn write(mv: Move, notation: Notation) -> String {
    match notation {
        Notation::Uci1 => point(mv.from(), notation) + &point(mv.to(), notation),
        Notation::Iccs => format!("{}-{}", point(mv.from(), notation), point(mv.to(), notation)),
        _ => mv.to_string(),
    }
}

#[cold]
fn explain_illegal(position: &Position, mv: Move, text: &str, notation: Notation) -> NotationError {
    let (side, from, to) = (position.turn(), mv.from(), mv.to());
    let own = |square| position.piece_at(square).filter(|piece| piece.color() == side);
    let text = shortened(text);
    match (own(from), own(to)) {
        (None, _) => NotationError::NothingThere { text, notation, side, from },
        (Some(_), Some(piece)) => NotationError::OwnPieceThere { text, notation, side, kind: piece.kind(), to },
        (Some(_), None) if position.is_pseudo_legal(mv) => NotationError::KingInCheck { text, side },
        (Some(piece), None) => NotationError::OutOfReach { text, notation, side, kind: piece.kind(), from, to },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Notation::{Iccs, Ucci, Uci, Uci1};

    #[test]
    fn every_move_round_trips() {
        for bits in 0..=u16::MAX {
            let Some(mv) = Move::from_bits(bits) else { continue };
            for notation in [Uci, Uci1, Ucci, Iccs] {
                assert_eq!(read(&write(mv, notation), notation), Some(mv));
            }
            assert_eq!(write(mv, Uci), write(mv, Ucci));
        }
    }

    #[test]
    fn ranks_are_counted_as_the_notation_says() {
        let text = |text, notation| read(text, notation).map(|mv| mv.to_string());
        assert_eq!(text("h2e2", Uci).as_deref(), Some("h2e2"));
        assert_eq!(text("h3e3", Uci1).as_deref(), Some("h2e2"));
        assert_eq!(text("a10a9", Uci1).as_deref(), Some("a9a8"));
        assert_eq!(text("a9a10", Uci1).as_deref(), Some("a8a9"));
        assert_eq!(text("i10a10", Uci1).as_deref(), Some("i9a9"));
        assert_eq!(text("a1b10", Uci1).as_deref(), Some("a0b9"));
        for iccs in ["H2-E2", "h2-e2", "H2E2", "h2e2", "H2-e2"] {
            assert_eq!(text(iccs, Iccs).as_deref(), Some("h2e2"));
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let uci = ["", "h", "h2", "h2e", "h2e2 ", " h2e2", "h2e2e2", "H2E2", "h2-e2", "j0a0", "a0j0", "a10a9", "h2e٢"];
        for text in uci {
            assert_eq!(read(text, Uci), None, "{text}");
        }
        for text in ["h2e2炮", "炮2e2", "h炮", "h2é", "éé", "\u{80}h2", "aéa1"] {
            for notation in [Uci, Uci1, Ucci, Iccs] {
                assert_eq!(read(text, notation), None, "{text}");
            }
        }
        for text in ["a0a1", "a1a0", "a11a1", "a1a11", "a01a1", "A1A2"] {
            assert_eq!(read(text, Uci1), None, "{text}");
        }
        for text in ["H2--E2", "H2-E2-", "-H2E2", "H2 E2", "H2–E2", "H10-H9"] {
            assert_eq!(read(text, Iccs), None, "{text}");
        }
    }

    #[test]
    fn errors_name_the_fault() {
        let start = Position::start();
        let error = |text| start.parse_move(text).unwrap_err().to_string();
        assert_eq!(error("炮二平五"), "`炮二平五` is not a move in uci, which writes `h2e2`");
        assert_eq!(error("e4e5"), "`e4e5`: nothing of Red's stands on e4");
        assert_eq!(error("b9c7"), "`b9c7`: nothing of Red's stands on b9");
        assert_eq!(error("b0b3"), "`b0b3`: Red's horse on b0 does not go to b3");
        assert_eq!(error("b0d1"), "`b0d1`: Red's horse on b0 does not go to d1");
        assert_eq!(error("a0a3"), "`a0a3`: Red's own pawn stands on a3");
        assert_eq!(error("e0e0"), "`e0e0`: Red's own king stands on e0");
        let error = |text, notation| start.parse_move_in(text, notation).unwrap_err().to_string();
        assert_eq!(error("a10a9", Uci1), "`a10a9`: nothing of Red's stands on a10");
        assert_eq!(error("b1b4", Uci1), "`b1b4`: Red's horse on b1 does not go to b4");
        assert_eq!(error("b0-b3", Iccs), "`b0-b3`: Red's horse on B0 does not go to B3");
        assert_eq!(error("h2", Iccs), "`h2` is not a move in iccs, which writes `H2-E2`");

        let pinned = Position::from_fen("4k4/9/9/9/9/9/9/4r4/4A4/4K4 w").unwrap();
        let error = pinned.parse_move("e1d2").unwrap_err().to_string();
        assert_eq!(error, "`e1d2`: it would leave Red's king in check");
        let checked = Position::from_fen("4k4/4R4/9/9/9/9/9/9/9/3K5 b").unwrap();
        assert_eq!(checked.parse_move("e9d9").unwrap_err().to_string(), "`e9d9`: it would leave Black's king in check");
        assert_eq!(checked.parse_move("e9e8").map(|mv| mv.to_string()).as_deref(), Ok("e9e8"));
    }
}
