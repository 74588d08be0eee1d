//! What a step learns from: positions as the inputs that are on, and what is known of how they end.

use dataset::training::Sample;
use nnue::architecture::{Attackers, Inputs, Sizes, View, stack_of_pieces};
use protocol::recipe;
use xiangqi::{Color, Piece, PieceKind, Square};

/// No position has more pieces.
pub const MOST_ACTIVE: usize = 32;

/// The inputs that are on in one position: the side to move's first.
pub type Active = [[u16; MOST_ACTIVE]; 2];

/// What of a net decides which numbers a position becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// What it tells apart.
    pub inputs: Inputs,
    /// How many stacks it has.
    pub stacks: usize,
}

impl Features {
    /// Those of a net of these sizes.
    #[must_use]
    pub const fn of(sizes: Sizes) -> Self {
        Self { inputs: sizes.inputs(), stacks: sizes.stacks() }
    }

    /// Those of the net that a recipe asks for.
    #[must_use]
    pub const fn of_recipe(architecture: &recipe::Architecture) -> Self {
        let inputs = match architecture.inputs {
            recipe::Inputs::Kings => Inputs::Kings,
            recipe::Inputs::KingsAttackers => Inputs::KingsAttackers,
        };
        Self { inputs, stacks: architecture.stacks as usize }
    }
}

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

    /// Adds a position; `scale` is that of its source, in hundredths of a pawn.
    pub fn push(&mut self, sample: &Sample, features: Features, scale: f32) {
        let (active, count, stack) = active(sample, features);
        self.active.push(active);
        self.counts.push(count);
        self.stacks.push(stack);
        self.promised.push(crate::loss::share(f32::from(sample.score) / scale));
        self.results.push(f32::midpoint(f32::from(sample.result), 1.0));
    }
}

/// The inputs that are on in a position, how many, and its stack.
#[must_use]
fn active(sample: &Sample, features: Features) -> (Active, u8, u8) {
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
    let attackers = |side: Color| {
        let own = pieces.iter().filter(|(_, piece)| piece.color() == side);
        Attackers::of_pieces(own.map(|(_, piece)| piece.kind()))
    };
    let turn = position.turn();
    let mut active = [[0; MOST_ACTIVE]; 2];
    for (active, side) in active.iter_mut().zip([turn, !turn]) {
        let mut view = View::from_kings(side, kings[side.index()], kings[(!side).index()]);
        if features.inputs.tell_attackers() {
            view = view.with_attackers(attackers(side));
        }
        for (input, (square, piece)) in active.iter_mut().zip(pieces) {
            *input = view.input(side, *piece, *square) as u16;
        }
    }
    let stack = stack_of_pieces(pieces.iter().map(|(_, piece)| piece.kind()), features.stacks);
    (active, count as u8, stack as u8)
}

#[cfg(test)]
mod tests {
    use dataset::{
        random::{Stream, Use},
        training::PackedPosition,
    };
    use nnue::architecture::stack;
    use xiangqi::{Move, Position};

    use super::*;

    /// What a net learns from is what an engine sees, through all kinds of material.
    #[test]
    fn inputs_are_the_engines() {
        let mut stream = Stream::new(Use::BookOrder, 3, 0);
        let mut attackers_met = [0; Attackers::COUNT];
        for _ in 0..60 {
            let mut position = Position::start();
            for _ in 0..150 {
                let moves = position.legal_moves();
                let captures: Vec<Move> =
                    moves.iter().copied().filter(|mv| position.piece_at(mv.to()).is_some()).collect();
                let from = if captures.is_empty() || stream.below(2) == 0 { &moves[..] } else { &captures[..] };
                if from.is_empty() {
                    break;
                }
                let mv = from[stream.below(from.len() as u64) as usize];
                let _ = position.make(mv);
                attackers_met[Attackers::of(&position, position.turn()).index()] += 1;
                let packed = PackedPosition::from(&position);
                let sample =
                    Sample { position: packed, mv, score: 0, result: 0, limit_counter: 0, ply: 0, set: 0, shard: 0 };
                for inputs in Inputs::ALL {
                    let (active, count, place) = active(&sample, Features { inputs, stacks: 8 });
                    assert_eq!(usize::from(place), stack(&position, 8));
                    for (side, active) in [position.turn(), !position.turn()].into_iter().zip(active) {
                        let mut ours: Vec<_> = active[..usize::from(count)].iter().map(|it| usize::from(*it)).collect();
                        let mut theirs: Vec<_> = inputs.active(&position, side).collect();
                        ours.sort_unstable();
                        theirs.sort_unstable();
                        assert_eq!(ours, theirs, "{position}");
                    }
                }
            }
        }
        assert!(attackers_met.iter().all(|times| *times > 20), "{attackers_met:?}");
    }
}
