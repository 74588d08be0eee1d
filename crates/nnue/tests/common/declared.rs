//! The reference score, straight from the declaration in `nnue::architecture`.

use nnue::{
    Parameters,
    architecture::{self, OUTPUT_ONE, PAIR_SHIFT, SCORE_LIMIT, SQUARE_SHIFT, SUM_LIMIT, WEIGHT_SHIFT},
};
use xiangqi::{Color, Position};

pub(crate) fn score(net: &Parameters, position: &Position) -> i32 {
    let (own, enemy) = (position.turn(), !position.turn());
    let stack = architecture::stack(position, net.sizes.stacks());
    let layers = &net.stacks[stack];
    let pairs = [pairs(net, position, own), pairs(net, position, enemy)].concat();
    let first = sums(&layers.first_bias, &layers.first, &pairs);
    let squared = |sum: &i64| sum.abs().min(SUM_LIMIT.into()).pow(2) >> SQUARE_SHIFT;
    let inputs: Vec<_> = first.iter().map(squared).chain(first.iter().map(clipped)).collect();
    let second: Vec<_> = sums(&layers.second_bias, &layers.second, &inputs).iter().map(clipped).collect();
    let output = sums(&[layers.output_bias], &layers.output, &second)[0];
    let doubled = 2 * output + head(net, position, own, stack) - head(net, position, enemy, stack);
    let limit = i64::from(SCORE_LIMIT);
    (doubled / i64::from(2 * OUTPUT_ONE)).clamp(-limit, limit) as i32
}

fn pairs(net: &Parameters, position: &Position, side: Color) -> Vec<i64> {
    let width = net.sizes.width();
    let mut sums: Vec<_> = net.transformer_bias.iter().map(|bias| i64::from(*bias)).collect();
    for input in net.sizes.inputs().active(position, side) {
        for (sum, weight) in sums.iter_mut().zip(&net.transformer[input * width..]) {
            *sum += i64::from(*weight);
        }
    }
    assert!(sums.iter().all(|sum| i16::try_from(*sum).is_ok()), "an overflow that the proof did not see");
    (0..width / 2).map(|i| (sums[i].clamp(0, 255) * sums[i + width / 2].clamp(0, 255)) >> PAIR_SHIFT).collect()
}

fn head(net: &Parameters, position: &Position, side: Color, stack: usize) -> i64 {
    let weight = |input: usize| i64::from(net.head[input * net.sizes.stacks() + stack]);
    net.sizes.inputs().active(position, side).map(weight).sum()
}

fn sums<W: Copy + Into<i64>>(biases: &[i32], weights: &[W], inputs: &[i64]) -> Vec<i64> {
    let rows = weights.chunks_exact(inputs.len());
    let dot = |row: &[W]| row.iter().zip(inputs).map(|(weight, input)| Into::<i64>::into(*weight) * input).sum::<i64>();
    biases.iter().zip(rows).map(|(bias, row)| i64::from(*bias) + dot(row)).collect()
}

fn clipped(sum: &i64) -> i64 {
    (*sum).clamp(0, SUM_LIMIT.into()) >> WEIGHT_SHIFT
}
