//! Unreachable neurons: inactive on every board, by their weights alone.
//!
//! The bounds are generous, as if every bucket's best pieces could stand together. So neurons
//! reported as unreachable are, and others may be too.

use nnue::{
    Parameters,
    architecture::{ACTIVATION_ONE, PAIR_SHIFT, PIECE_POINTS, SQUARE_SHIFT, TRANSFORMER_ONE, WEIGHT_SHIFT},
};
use serde::Serialize;

use crate::batch::MAX_ACTIVE;

/// The number of neurons that no position can activate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Unreachable {
    /// Pairs of the transformer.
    pub pairs: usize,
    /// Neurons of the first layer, over all stacks.
    pub first: usize,
    /// Neurons of the second layer, over all stacks.
    pub second: usize,
}

impl Unreachable {
    /// Counts the unreachable neurons.
    #[must_use]
    pub fn of(parameters: &Parameters) -> Self {
        let sizes = parameters.sizes;
        let stacks = || parameters.stacks.iter();
        let first = stacks().map(|stack| {
            let sums = reach(&stack.first_bias, &stack.first, sizes.width());
            sums.filter(|(least, most)| most >> WEIGHT_SHIFT < 1 && (least * least) >> SQUARE_SHIFT < 1).count()
        });
        let second = stacks().map(|stack| {
            let sums = reach(&stack.second_bias, &stack.second, 2 * sizes.first());
            sums.filter(|(_, most)| most >> WEIGHT_SHIFT < 1).count()
        });
        Self { pairs: pairs(parameters), first: first.sum(), second: second.sum() }
    }
}

fn pairs(parameters: &Parameters) -> usize {
    let (width, half) = (parameters.sizes.width(), parameters.sizes.width() / 2);
    let mut reachable = vec![false; half];
    let mut column = Vec::with_capacity(PIECE_POINTS);
    for bucket in parameters.transformer.chunks_exact(PIECE_POINTS * width) {
        let most: Vec<i32> = (0..width)
            .map(|neuron| {
                column.clear();
                column.extend(bucket[neuron..].iter().step_by(width).copied().filter(|weight| *weight > 0));
                column.sort_unstable_by_key(|weight| std::cmp::Reverse(*weight));
                let bias = i32::from(parameters.transformer_bias[neuron]);
                let sum = bias + column.iter().take(MAX_ACTIVE).map(|weight| i32::from(*weight)).sum::<i32>();
                sum.clamp(0, TRANSFORMER_ONE.into())
            })
            .collect();
        for (pair, reachable) in reachable.iter_mut().enumerate() {
            *reachable |= (most[pair] * most[half + pair]) >> PAIR_SHIFT > 0;
        }
    }
    reachable.iter().filter(|reachable| !**reachable).count()
}

/// The least and greatest sums of a layer's neurons.
fn reach<'a>(biases: &'a [i32], rows: &'a [i8], inputs: usize) -> impl Iterator<Item = (i64, i64)> + 'a {
    biases.iter().zip(rows.chunks_exact(inputs)).map(|(bias, row)| {
        let sum = |keep: fn(&i64) -> bool| {
            i64::from(*bias)
                + row.iter().map(|weight| i64::from(*weight)).filter(keep).sum::<i64>() * i64::from(ACTIVATION_ONE)
        };
        (sum(|weight| *weight < 0).min(0), sum(|weight| *weight > 0))
    })
}

#[cfg(test)]
mod tests {
    use nnue::architecture::Sizes;

    use super::*;

    #[test]
    fn neurons_under_zeros_or_negative_weights_are_unreachable() {
        let mut parameters = Parameters::zero(Sizes::new(128, 8, 16, 2).unwrap());
        assert_eq!(Unreachable::of(&parameters), Unreachable { pairs: 64, first: 16, second: 32 });
        // One pair is active by its biases, one by a single weight of each half in one bucket. Of
        // the third a half is never active.
        parameters.transformer_bias[0] = 255;
        parameters.transformer_bias[64] = 3;
        let row = &mut parameters.transformer[3 * PIECE_POINTS * 128..][..128];
        (row[1], row[65]) = (20, 26);
        parameters.transformer_bias[2] = 255;
        parameters.stacks[0].first[0] = 1;
        parameters.stacks[0].first_bias[1] = 64;
        parameters.stacks[1].first[128..136].fill(-1);
        parameters.stacks[1].second[0] = -127;
        parameters.stacks[1].second_bias[0] = 63;
        parameters.stacks[1].second_bias[1] = 64;
        assert_eq!(Unreachable::of(&parameters), Unreachable { pairs: 62, first: 13, second: 31 });
    }
}
