//! What each side last saw in each view.
//!
//! When a king moves, or the last attacker of a kind that is told apart is taken, all inputs of its side change. But
//! searches come back to the same few views, with most pieces still where they were: only the difference has to be added
//! and subtracted.

use xiangqi::{Bitboard, Color, Piece, Position};

use super::Rows;
use crate::{Kernel, Net, architecture::View, kernel::blocks::I16x32};

#[derive(Clone)]
pub(super) struct Cache {
    /// How many views a side has.
    views: usize,
    /// For each side, for each view, the pieces that stood on the board.
    boards: Vec<[Bitboard; Piece::COUNT]>,
    /// The sums of these boards.
    sums: Vec<I16x32>,
}

impl Cache {
    /// Empty boards, whose sums are the biases.
    pub(super) fn new(net: &Net) -> Self {
        let views = net.sizes().inputs().views();
        let boards = vec![[Bitboard::EMPTY; Piece::COUNT]; 2 * views];
        Self { views, boards, sums: net.bias.repeat(2 * views) }
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
        let place = side.index() * self.views + view.index();
        let board = &mut self.boards[place];
        for piece in Piece::ALL {
            let seen = &mut board[piece.index()];
            let now = position.pieces(piece.color(), piece.kind());
            if *seen != now {
                (now - *seen).into_iter().for_each(|square| added.push(view.input(side, piece, square) as u16));
                (*seen - now).into_iter().for_each(|square| removed.push(view.input(side, piece, square) as u16));
                *seen = now;
            }
        }

        let blocks = net.row_blocks();
        let sums = &mut self.sums[place * blocks..][..blocks];
        kernel.apply(sums, &net.rows, &added, &removed);
        sums
    }
}
