//! The overflow proof: no sum of a net overflows in any position. Kernels then need no saturation,
//! and all give the same bits.

use std::{fmt, ops::Neg};

use xiangqi::{Color, Piece, PieceKind, Square, attacks};

use crate::{
    Parameters,
    architecture::{ACTIVATION_ONE, Inputs, KING_BUCKETS, PIECE_POINTS, point},
};

/// The layer of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// The feature transformer, with sums of 16 bits.
    Transformer,
    /// The piece-square head, with one neuron per stack.
    Head,
    /// The first layer of a stack.
    First {
        /// The index of the stack.
        stack: usize,
    },
    /// The second layer of a stack.
    Second {
        /// The index of the stack.
        stack: usize,
    },
    /// The output of a stack.
    Output {
        /// The index of the stack.
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

/// A sum that can overflow its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("neuron {neuron} of {layer} can reach {bound}, beyond the limit {limit}")]
pub struct Overflow {
    /// The layer.
    pub layer: Layer,
    /// The neuron of the layer.
    pub neuron: usize,
    /// The extreme value of the sum.
    pub bound: i64,
    /// The limit of its type.
    pub limit: i64,
}

/// The interval of a sum.
#[derive(Clone, Copy)]
struct Range {
    min: i64,
    max: i64,
}

impl Range {
    fn check(self, layer: Layer, neuron: usize, min: i64, max: i64) -> Result<(), Overflow> {
        if self.max > max {
            Err(Overflow { layer, neuron, bound: self.max, limit: max })
        } else if self.min < min {
            Err(Overflow { layer, neuron, bound: self.min, limit: min })
        } else {
            Ok(())
        }
    }
}

/// Proves that all sums of a net fit their types.
pub(crate) fn prove(parameters: &Parameters) -> Result<(), Overflow> {
    let inputs = parameters.sizes.inputs();
    let transformer = transformer_ranges::<i16, i32>(inputs, &parameters.transformer_bias, &parameters.transformer);
    for (neuron, range) in transformer.into_iter().enumerate() {
        range.check(Layer::Transformer, neuron, i16::MIN.into(), i16::MAX.into())?;
    }
    let head = transformer_ranges::<i32, i64>(inputs, &vec![0; parameters.sizes.stacks()], &parameters.head);
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

/// Proves a layer by interval arithmetic. Sums start with the bias and add activations from 0 to
/// [`ACTIVATION_ONE`], so partial sums, in any order, lie within the same bounds.
fn prove_layer<W: Copy + Into<i64>>(layer: Layer, biases: &[i32], weights: &[W]) -> Result<(), Overflow> {
    let rows = weights.chunks_exact(weights.len() / biases.len());
    for (neuron, (bias, row)) in biases.iter().zip(rows).enumerate() {
        let bias = i64::from(*bias);
        let sum = |pick: fn(i64) -> i64| row.iter().map(|weight| pick((*weight).into())).sum::<i64>();
        let one = i64::from(ACTIVATION_ONE);
        let range = Range { min: bias + one * sum(|w| w.min(0)), max: bias + one * sum(|w| w.max(0)) };
        range.check(layer, neuron, i32::MIN.into(), i32::MAX.into())?;
    }
    Ok(())
}

/// Returns the range of each neuron's sum over all positions. For each bucket: the bias, the own
/// king on its point, the enemy king on the worst one. Of every other piece the bucket allows, as
/// many as a side can have, on the worst points. `Wide` holds the negative of any weight.
fn transformer_ranges<Weight, Wide>(inputs: Inputs, biases: &[Weight], weights: &[Weight]) -> Vec<Range>
where
    Weight: Copy + Into<Wide> + Into<i64>,
    Wide: Copy + Ord + Default + Neg<Output = Wide> + Into<i64>,
{
    let mut ranges = vec![Range { min: i64::MAX, max: i64::MIN }; biases.len()];
    for bucket in 0..inputs.buckets() {
        let mut sums: Vec<_> = biases.iter().map(|bias| Range { min: (*bias).into(), max: (*bias).into() }).collect();
        for piece in Piece::ALL {
            let rows: Vec<_> = points(inputs, piece, bucket)
                .map(|point| &weights[(bucket * PIECE_POINTS + point) * biases.len()..][..biases.len()])
                .collect();
            if rows.is_empty() {
                continue;
            }
            let max = greatest::<_, Wide>(&rows, piece.kind(), |weight| weight);
            let min = greatest::<_, Wide>(&rows, piece.kind(), |weight| -weight);
            for ((sum, max), min) in sums.iter_mut().zip(max).zip(min) {
                sum.max += max;
                sum.min -= min;
            }
        }
        for (range, sum) in ranges.iter_mut().zip(sums) {
            range.max = range.max.max(sum.max);
            range.min = range.min.min(sum.min);
        }
    }
    ranges
}

/// Returns the points of a piece that are inputs of a bucket. The own king has only the bucket's
/// point; own pieces that the bucket excludes have none.
fn points(inputs: Inputs, piece: Piece, bucket: usize) -> impl Iterator<Item = usize> {
    let own_attackers = if piece.color() == Color::Red { inputs.attackers_in(bucket) } else { None };
    let excluded = own_attackers.is_some_and(|attackers| !attackers.allow(piece.kind()));
    let king = |square: Square| usize::from(square.rank()) * 2 + usize::from(square.file()) - 3;
    attacks::home(piece)
        .into_iter()
        .filter(move |_| !excluded)
        .filter(move |square| piece != Piece::RedKing || square.file() <= 4 && king(*square) == bucket % KING_BUCKETS)
        .filter_map(move |square| point(piece, square))
}

/// Returns for each neuron the maximum contribution of a kind of piece. It is the sum of the
/// greatest weights, as many as a side can have of the kind, or zero. There is always a king.
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
