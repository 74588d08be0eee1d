//! The accumulator refresh cache (“Finny tables”): the last board and accumulator of each view.
//!
//! A king's move, or the loss of the last attacker of a class, changes all inputs of its side.
//! Searches return to the same few views with most pieces in place, so the difference is cheaper
//! than a full refresh.

use xiangqi::{Bitboard, Color, Piece, Position};

use super::Rows;
use crate::{Kernel, Net, architecture::View, kernel::blocks::I16x32};

#[derive(Clone)]
pub(super) struct Cache {
    /// The number of views of a side.
    views: usize,
    /// For each side and view, the board of the cached accumulator.
    boards: Vec<[Bitboard; Piece::COUNT]>,
    /// The accumulators of these boards.
    accumulators: Vec<I16x32>,
}

impl Cache {
    /// Creates a cache of empty boards, whose accumulators are the biases.
    pub(super) fn new(net: &Net) -> Self {
        let views = net.sizes().inputs().views();
        let boards = vec![[Bitboard::EMPTY; Piece::COUNT]; 2 * views];
        Self { views, boards, accumulators: net.bias.repeat(2 * views) }
    }

    /// Updates a side's view to this position, and returns its accumulator.
    pub(super) fn update(
        &mut self,
        net: &Net,
        kernel: Kernel,
        side: Color,
        view: View,
        position: &Position,
    ) -> &[I16x32] {
        let (mut added, mut removed) = (Rows::new(), Rows::new());
        let index = side.index() * self.views + view.index();
        let board = &mut self.boards[index];
        for piece in Piece::ALL {
            let cached = &mut board[piece.index()];
            let now = position.pieces(piece.color(), piece.kind());
            if *cached != now {
                (now - *cached).into_iter().for_each(|square| added.push(view.input(side, piece, square) as u16));
                (*cached - now).into_iter().for_each(|square| removed.push(view.input(side, piece, square) as u16));
                *cached = now;
            }
        }

        let blocks = net.row_blocks();
        let sums = &mut self.accumulators[index * blocks..][..blocks];
        kernel.apply(sums, &net.rows, &added, &removed);
        sums
    }
}
