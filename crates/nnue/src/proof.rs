//! The proof that no sum of a net can overflow, for any position: kernels then need no saturation, and all of them give
//! the same bits.

use std::{fmt, ops::Neg};

use xiangqi::{Color, Piece, PieceKind, Square, attacks};

use crate::{
    Parameters,
    architecture::{ACTIVATION_ONE, Inputs, KING_PLACES, PIECE_POINTS, point},
};

/// Which sums a bound is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// The transformer: 16 bits.
    Transformer,
    /// The piece-square head; its neurons are the stacks.
    Head,
    /// The first layer of a stack.
    First {
        /// Which stack.
        stack: usize,
    },
    /// The second layer of a stack.
    Second {
        /// Which stack.
        stack: usize,
    },
    /// The output of a stack.
    Output {
        /// Which stack.
        stack: usize,
    },
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transformer => write!(f, "the transformer"),
            Self::Head => write!(f, "the piece-square head"),
            Self::First { stack } => write!(f, "the first layer of stack {stack}"),
            Self::Second { stack } => write!(f, "the second layer of stack {stack}"),
            Self::Output { stack } => write!(f, "the output of stack {stack}"),
        }
    }
}

/// A sum that does not fit its type in the worst case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("neuron {neuron} of {layer} can reach {bound}, beyond the limit {limit}")]
pub struct Overflow {
    /// Where it is.
    pub layer: Layer,
    /// Which neuron of the layer.
    pub neuron: usize,
    /// What the sum can come to.
    pub bound: i64,
    /// What it may come to.
    pub limit: i64,
}

/// What can be in a sum at the least and at the most.
#[derive(Clone, Copy)]
struct Range {
    least: i64,
    most: i64,
}

impl Range {
    fn check(self, layer: Layer, neuron: usize, least: i64, most: i64) -> Result<(), Overflow> {
        if self.most > most {
            Err(Overflow { layer, neuron, bound: self.most, limit: most })
        } else if self.least < least {
            Err(Overflow { layer, neuron, bound: self.least, limit: least })
        } else {
            Ok(())
        }
    }
}

/// Whether all sums of a net fit.
pub(crate) fn prove(parameters: &Parameters) -> Result<(), Overflow> {
    let inputs = parameters.sizes.inputs();
    let transformer = reach::<i16, i32>(inputs, &parameters.transformer_bias, &parameters.transformer);
    for (neuron, range) in transformer.into_iter().enumerate() {
        range.check(Layer::Transformer, neuron, i16::MIN.into(), i16::MAX.into())?;
    }
    let head = reach::<i32, i64>(inputs, &vec![0; parameters.sizes.stacks()], &parameters.head);
    for (neuron, range) in head.into_iter().enumerate() {
        range.check(Layer::Head, neuron, i32::MIN.into(), i32::MAX.into())?;
    }
    for (index, stack) in parameters.stacks.iter().enumerate() {
        prove_layer(Layer::First { stack: index }, &stack.first_bias, &stack.first)?;
        prove_layer(Layer::Second { stack: index }, &stack.second_bias, &stack.second)?;
        prove_layer(Layer::Output { stack: index }, &[stack.output_bias], &stack.output)?;
    }
    Ok(())
}

/// A layer's sums start with the bias and take activations from 0 to [`ACTIVATION_ONE`] in any order: what is between
/// these bounds at the end was so on the way.
fn prove_layer<W: Copy + Into<i64>>(layer: Layer, biases: &[i32], weights: &[W]) -> Result<(), Overflow> {
    let rows = weights.chunks_exact(weights.len() / biases.len());
    for (neuron, (bias, row)) in biases.iter().zip(rows).enumerate() {
        let bias = i64::from(*bias);
        let sum = |pick: fn(i64) -> i64| row.iter().map(|weight| pick((*weight).into())).sum::<i64>();
        let one = i64::from(ACTIVATION_ONE);
        let range = Range { least: bias + one * sum(|w| w.min(0)), most: bias + one * sum(|w| w.max(0)) };
        range.check(layer, neuron, i32::MIN.into(), i32::MAX.into())?;
    }
    Ok(())
}

/// What the sums of each neuron can be over all positions: in each bucket the bias, the own king where it stands, the
/// enemy king wherever it is worst, and of every other piece that the bucket allows as many as a side can have, on the
/// worst points. `Wide` holds the negative of any weight.
fn reach<Weight, Wide>(inputs: Inputs, biases: &[Weight], weights: &[Weight]) -> Vec<Range>
where
    Weight: Copy + Into<Wide> + Into<i64>,
    Wide: Copy + Ord + Default + Neg<Output = Wide> + Into<i64>,
{
    let mut ranges = vec![Range { least: i64::MAX, most: i64::MIN }; biases.len()];
    for bucket in 0..inputs.buckets() {
        let mut sums: Vec<_> =
            biases.iter().map(|bias| Range { least: (*bias).into(), most: (*bias).into() }).collect();
        for piece in Piece::ALL {
            let rows: Vec<_> = points(inputs, piece, bucket)
                .map(|point| &weights[(bucket * PIECE_POINTS + point) * biases.len()..][..biases.len()])
                .collect();
            if rows.is_empty() {
                continue;
            }
            let most = greatest::<_, Wide>(&rows, piece.kind(), |weight| weight);
            let least = greatest::<_, Wide>(&rows, piece.kind(), |weight| -weight);
            for ((sum, most), least) in sums.iter_mut().zip(most).zip(least) {
                sum.most += most;
                sum.least -= least;
            }
        }
        for (range, sum) in ranges.iter_mut().zip(sums) {
            range.most = range.most.max(sum.most);
            range.least = range.least.min(sum.least);
        }
    }
    ranges
}

/// The points of a piece that are inputs of a bucket: all, but for the own king the bucket's, and none for own pieces
/// that the bucket says are gone.
fn points(inputs: Inputs, piece: Piece, bucket: usize) -> impl Iterator<Item = usize> {
    let own_attackers = if piece.color() == Color::Red { inputs.attackers_in(bucket) } else { None };
    let gone = own_attackers.is_some_and(|attackers| !attackers.allow(piece.kind()));
    let king = |square: Square| usize::from(square.rank()) * 2 + usize::from(square.file()) - 3;
    attacks::home(piece)
        .into_iter()
        .filter(move |_| !gone)
        .filter(move |square| piece != Piece::RedKing || square.file() <= 4 && king(*square) == bucket % KING_PLACES)
        .filter_map(move |square| point(piece, square))
}

/// For each neuron the most that pieces of a kind can add to its sum: the greatest weights of the rows, as many as a
/// side can have of the kind, or none; but there is always a king.
fn greatest<Weight, Wide>(rows: &[&[Weight]], kind: PieceKind, sign: fn(Wide) -> Wide) -> Vec<i64>
where
    Weight: Copy + Into<Wide>,
    Wide: Copy + Ord + Default + Into<i64>,
{
    let mut ranks: Vec<Vec<Wide>> = vec![vec![Wide::default(); rows[0].len()]; kind.max_count() as usize];
    if kind == PieceKind::King {
        ranks[0] = rows[0].iter().map(|weight| sign((*weight).into())).collect();
    }
    for row in rows {
        let mut falling: Vec<Wide> = row.iter().map(|weight| sign((*weight).into())).collect();
        for rank in &mut ranks {
            for (held, new) in rank.iter_mut().zip(&mut falling) {
                (*held, *new) = ((*held).max(*new), (*held).min(*new));
            }
        }
    }
    let sum = |neuron: usize| ranks.iter().map(|rank| Into::<i64>::into(rank[neuron])).sum();
    (0..rows[0].len()).map(sum).collect()
}
