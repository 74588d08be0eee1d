//! Helpers of several tests.

#![allow(dead_code, reason = "not every test uses all of it")]

pub(crate) mod declared;

use nnue::architecture::{Inputs, Sizes};
use xiangqi::{Move, Position};

/// Deterministic pseudorandom numbers.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }
}

/// Returns a random legal move. Every other time a capture or a king's move is preferred, so that
/// games reach all kinds of material and views.
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

/// Starting positions from which games soon reach all buckets: the start, and some with few
/// attackers.
pub(crate) const STARTS: [&str; 6] = [
    Position::START_FEN,
    "3akab2/9/r8/2p3p2/9/4P4/9/4C4/4H4/R2K5 b",
    "3k1ab2/4a4/4n4/4p4/9/9/4P4/2N1B4/9/4KA3 w",
    "2bak4/4a4/4b4/4p4/1c7/9/P3P4/4B4/4A4/3K1AB2 b",
    "4kab2/4a4/4b4/2R6/5h3/3C5/9/4B4/4A4/3K1AB1r w",
    "3ak4/4a4/4b4/9/r8/9/P8/3K5/9/R8 w",
];

/// Replaces the inputs by those with attackers.
pub(crate) fn with_attackers(sizes: Sizes) -> Sizes {
    sizes.with_inputs(Inputs::KingsAttackers)
}

pub(crate) fn sizes(width: usize, first: usize, second: usize, stacks: usize) -> Sizes {
    Sizes::new(width, first, second, stacks).unwrap()
}
