//! What several tests use.

#![allow(dead_code, reason = "not every test uses all of it")]

pub(crate) mod declared;

use nnue::architecture::Sizes;
use xiangqi::{Move, Position};

/// Numbers that are the same in every run.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }
}

/// A random legal move, if there is one. Every other time a capture or a king's move is preferred, so that games lead
/// through all kinds of material and views.
pub(crate) fn random_move(position: &Position, numbers: &mut Numbers) -> Option<Move> {
    let moves = position.legal_moves();
    if moves.is_empty() {
        return None;
    }
    let king = position.king(position.turn());
    let lively: Vec<_> = moves.iter().filter(|mv| mv.from() == king || position.piece_at(mv.to()).is_some()).collect();
    if lively.is_empty() || numbers.below(2) == 0 {
        return Some(moves[numbers.below(moves.len())]);
    }
    Some(*lively[numbers.below(lively.len())])
}

pub(crate) fn sizes(width: usize, first: usize, second: usize, stacks: usize) -> Sizes {
    Sizes::new(width, first, second, stacks).unwrap()
}
