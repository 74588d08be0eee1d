//! What a step learns from: positions as the inputs that are on, and what is known of how they end.

use dataset::training::Sample;
use nnue::architecture::{View, stack_of_pieces};
use xiangqi::{Piece, PieceKind, Square};

/// No position has more pieces.
pub const MOST_ACTIVE: usize = 32;

/// The inputs that are on in one position: the side to move's first.
pub type Active = [[u16; MOST_ACTIVE]; 2];

/// Positions side by side, each kind of fact in an array of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Which inputs are on; the first `counts` of each side's count.
    pub active: Vec<Active>,
    /// How many inputs are on, the same for both sides.
    pub counts: Vec<u8>,
    /// The stack of each position.
    pub stacks: Vec<u8>,
    /// The share of the point that the score promises the side to move, on its source's own scale.
    pub promised: Vec<f32>,
    /// The share that it got: 0, ½ or 1.
    pub results: Vec<f32>,
}

impl Batch {
    /// How many positions there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Forgets all positions and keeps the memory.
    pub fn clear(&mut self) {
        self.active.clear();
        self.counts.clear();
        self.stacks.clear();
        self.promised.clear();
        self.results.clear();
    }

    /// Adds a position; `scale` is that of its source, in hundredths of a pawn, and `stacks` how many the net has.
    pub fn push(&mut self, sample: &Sample, stacks: usize, scale: f32) {
        let (active, count, stack) = features(sample, stacks);
        self.active.push(active);
        self.counts.push(count);
        self.stacks.push(stack);
        self.promised.push(crate::loss::share(f32::from(sample.score) / scale));
        self.results.push(f32::midpoint(f32::from(sample.result), 1.0));
    }
}

/// The inputs that are on in a position, how many, and its stack.
#[must_use]
fn features(sample: &Sample, stacks: usize) -> (Active, u8, u8) {
    let position = &sample.position;
    let nowhere = Square::from_index(0).expect("there is a first point");
    let mut pieces = [(nowhere, Piece::RedKing); MOST_ACTIVE];
    let mut count = 0;
    let mut kings = [nowhere; 2];
    for (slot, (square, piece)) in pieces.iter_mut().zip(position.pieces()) {
        *slot = (square, piece);
        count += 1;
        if piece.kind() == PieceKind::King {
            kings[piece.color().index()] = square;
        }
    }
    let pieces = &pieces[..count];
    let turn = position.turn();
    let mut active = [[0; MOST_ACTIVE]; 2];
    for (active, side) in active.iter_mut().zip([turn, !turn]) {
        let view = View::from_kings(side, kings[side.index()], kings[(!side).index()]);
        for (input, (square, piece)) in active.iter_mut().zip(pieces) {
            *input = view.input(side, *piece, *square) as u16;
        }
    }
    let stack = stack_of_pieces(pieces.iter().map(|(_, piece)| piece.kind()), stacks);
    (active, count as u8, stack as u8)
}
