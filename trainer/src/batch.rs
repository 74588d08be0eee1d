//! Batches of positions: active inputs and training targets.

use dataset::training::Sample;
use nnue::architecture::{Attackers, Inputs, View, stack_of_pieces};
use protocol::recipe::{self, Activation};
use xiangqi::{Color, Piece, PieceKind, Square};

use crate::{
    foreign::{fairy, pikafish},
    model::Shape,
};

/// Pieces on a full board.
pub const MAX_ACTIVE: usize = 32;

/// The active inputs of one position: the side to move's first.
pub type Active = [[u16; MAX_ACTIVE]; 2];

/// The properties of a net that determine a position's inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// The feature set.
    pub inputs: Inputs,
    /// The number of layer stacks.
    pub stacks: usize,
    /// The activation, which tells the engine that the net is for ([`foreign`](crate::foreign)).
    pub activation: Activation,
}

impl Features {
    /// The features of a net.
    #[must_use]
    pub const fn of(shape: &Shape) -> Self {
        Self { inputs: shape.sizes.inputs(), stacks: shape.sizes.stacks(), activation: shape.activation }
    }

    /// The features of a recipe's net.
    #[must_use]
    pub const fn of_recipe(architecture: &recipe::Architecture) -> Self {
        let inputs = match architecture.inputs {
            recipe::Inputs::Kings => Inputs::Kings,
            recipe::Inputs::KingsAttackers => Inputs::KingsAttackers,
        };
        Self { inputs, stacks: architecture.stacks as usize, activation: architecture.activation }
    }
}

/// Positions as a structure of arrays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// The active inputs; only the first `counts` of each side are valid.
    pub active: Vec<Active>,
    /// The number of active inputs, equal for both sides.
    pub counts: Vec<u8>,
    /// The layer stack of each position.
    pub stacks: Vec<u8>,
    /// The expected result for the side to move, from the score on its source's own scale.
    pub score_targets: Vec<f32>,
    /// The result for the side to move: 0, ½ or 1.
    pub results: Vec<f32>,
}

impl Batch {
    /// The number of positions.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether the batch is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Removes all positions and keeps the memory.
    pub fn clear(&mut self) {
        self.active.clear();
        self.counts.clear();
        self.stacks.clear();
        self.score_targets.clear();
        self.results.clear();
    }

    /// Orders the positions by their stacks, in which a backend takes them fastest.
    pub fn order_by_stack(&mut self) {
        fn pick<T: Copy>(numbers: &mut Vec<T>, places: &[usize]) {
            *numbers = places.iter().map(|place| numbers[*place]).collect();
        }
        let mut places: Vec<_> = (0..self.len()).collect();
        places.sort_by_key(|place| self.stacks[*place]);
        pick(&mut self.active, &places);
        pick(&mut self.counts, &places);
        pick(&mut self.stacks, &places);
        pick(&mut self.score_targets, &places);
        pick(&mut self.results, &places);
    }

    /// Adds a position; `scale` is the scale of its source, in centipawns.
    pub fn push(&mut self, sample: &Sample, features: Features, scale: f32) {
        self.push_image(sample, features, scale, false);
    }

    /// Adds a position or its mirror image, whose labels are the same.
    pub fn push_image(&mut self, sample: &Sample, features: Features, scale: f32, mirrored: bool) {
        let (active, count, stack) = active(sample, features, mirrored);
        self.active.push(active);
        self.counts.push(count);
        self.stacks.push(stack);
        self.score_targets.push(crate::loss::wdl_from_score(f32::from(sample.score) / scale));
        self.results.push(f32::midpoint(f32::from(sample.result), 1.0));
    }
}

/// The active inputs of a position, their number, and its layer stack.
#[must_use]
fn active(sample: &Sample, features: Features, mirrored: bool) -> (Active, u8, u8) {
    let position = &sample.position;
    let nowhere = Square::from_index(0).expect("there is a first point");
    let mut pieces = [(nowhere, Piece::RedKing); MAX_ACTIVE];
    let mut count = 0;
    let mut kings = [nowhere; 2];
    for (slot, (square, piece)) in pieces.iter_mut().zip(position.pieces()) {
        let square = if mirrored { square.mirrored() } else { square };
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
    let mut active = [[0; MAX_ACTIVE]; 2];
    for (active, side) in active.iter_mut().zip([turn, !turn]) {
        let [own, enemy] = [side, !side].map(|side| kings[side.index()]);
        let mut view = match features.activation {
            Activation::Pairs => View::from_kings(side, own, enemy),
            Activation::Clipped => fairy::view(side, own),
            Activation::PairsSkip => pikafish::view(side, own, enemy, pieces),
        };
        if features.inputs.has_attackers() {
            view = view.with_attackers(attackers(side));
        }
        for (input, (square, piece)) in active.iter_mut().zip(pieces) {
            *input = view.input(side, *piece, *square) as u16;
        }
    }
    let stack = match features.activation {
        Activation::Pairs => stack_of_pieces(pieces.iter().map(|(_, piece)| piece.kind()), features.stacks),
        Activation::Clipped => fairy::stack(count, features.stacks),
        Activation::PairsSkip => pikafish::stack(turn, pieces),
    };
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

    /// The trainer's inputs equal the engine's, through all kinds of material.
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
                for (inputs, mirrored) in Inputs::ALL.into_iter().flat_map(|it| [(it, false), (it, true)]) {
                    let features = Features { inputs, stacks: 8, activation: Activation::Pairs };
                    let (active, count, place) = active(&sample, features, mirrored);
                    assert_eq!(usize::from(place), stack(&position, 8));
                    let image = if mirrored { position.mirrored() } else { position.clone() };
                    for (side, active) in [image.turn(), !image.turn()].into_iter().zip(active) {
                        let mut ours: Vec<_> = active[..usize::from(count)].iter().map(|it| usize::from(*it)).collect();
                        let mut theirs: Vec<_> = inputs.active(&image, side).collect();
                        ours.sort_unstable();
                        theirs.sort_unstable();
                        assert_eq!(ours, theirs, "{image}");
                    }
                }
            }
        }
        assert!(attackers_met.iter().all(|times| *times > 20), "{attackers_met:?}");
    }
}
