//! What each side last saw in each view.
//!
//! When a king moves, all inputs of its side change. But searches come back to the same few places of the kings, with
//! most pieces still where they were: only the difference has to be added and subtracted.

use xiangqi::{Bitboard, Color, Piece, Position};

use super::Rows;
use crate::{Kernel, Net, architecture::View, kernel::blocks::I16x32};

#[derive(Clone)]
pub(super) struct Cache {
    /// For each side, for each view, the pieces that stood on the board.
    boards: [[[Bitboard; Piece::COUNT]; View::COUNT]; 2],
    /// The sums of these boards.
    sums: Vec<I16x32>,
}

impl Cache {
    /// Empty boards, whose sums are the biases.
    pub(super) fn new(net: &Net) -> Self {
        Self { boards: [[[Bitboard::EMPTY; Piece::COUNT]; View::COUNT]; 2], sums: net.bias.repeat(2 * View::COUNT) }
    }

    /// Makes the board of a side's view this position's, and gives its sums.
    pub(super) fn bring_up(
        &mut self,
        net: &Net,
        kernel: Kernel,
        side: Color,
        view: View,
        position: &Position,
    ) -> &[I16x32] {
        let (mut added, mut removed) = (Rows::new(), Rows::new());
        let board = &mut self.boards[side.index()][view.index()];
        for piece in Piece::ALL {
            let seen = &mut board[piece.index()];
            let now = position.pieces(piece.color(), piece.kind());
            if *seen != now {
                (now - *seen).into_iter().for_each(|square| added.push(view.input(side, piece, square) as u16));
                (*seen - now).into_iter().for_each(|square| removed.push(view.input(side, piece, square) as u16));
                *seen = now;
            }
        }

        let place = side.index() * View::COUNT + view.index();
        let blocks = net.row_blocks();
        let sums = &mut self.sums[place * blocks..][..blocks];
        kernel.apply(sums, &net.rows, &added, &removed);
        sums
    }
}
