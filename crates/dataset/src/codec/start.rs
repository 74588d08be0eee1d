//! The start of a game from a book: a position with its counters.

use std::fmt::Write as _;

use xiangqi::{Color, Fen, FenError, Piece, Square};

use super::{
    coder::Coder,
    number,
    slots::{START_COUNTER, START_PIECE, START_TAKEN, START_TURN, Slots},
};

/// Codes a position. A decoded one is checked as any FEN is.
pub(super) fn code<C: Coder>(coder: &mut C, slots: &mut Slots, known: Option<&Fen>) -> Result<Fen, FenError> {
    let mut board = [None; Square::COUNT];
    for square in Square::all() {
        let known = known.and_then(|fen| fen.position.piece_at(square));
        if coder.bit(slots, START_TAKEN + square.index(), known.is_some()) {
            let known = known.map_or(0, Piece::index);
            let mut node = 1;
            for level in (0..4).rev() {
                node = node << 1 | usize::from(coder.bit(slots, START_PIECE + node, known >> level & 1 == 1));
            }
            board[square.index()] = Some(node & 15);
        }
    }
    let black = coder.bit(slots, START_TURN, known.is_some_and(|fen| fen.position.turn() == Color::Black));
    let counters = [known.map_or(0, |fen| fen.limit_counter), known.map_or(0, |fen| fen.move_number)];
    let mut read = [0; 2];
    for (place, (counter, known)) in read.iter_mut().zip(counters).enumerate() {
        *counter = number::code(coder, slots, START_COUNTER + 128 * place, known.into());
    }
    text(&board, black, read).parse()
}

/// The position as a FEN, because the FEN parser checks it.
fn text(board: &[Option<usize>; Square::COUNT], black: bool, counters: [u64; 2]) -> String {
    let mut text = String::with_capacity(100);
    for rank in (0..10).rev() {
        for piece in &board[rank * 9..rank * 9 + 9] {
            match piece {
                None => text.push('1'),
                // An unknown piece index becomes an invalid letter.
                Some(index) => text.push(Piece::ALL.get(*index).map_or('?', |piece| piece.letter())),
            }
        }
        if rank > 0 {
            text.push('/');
        }
    }
    let side = if black { 'b' } else { 'w' };
    write!(text, " {side} - - {} {}", counters[0], counters[1]).expect("writing to a string does not fail");
    text
}
