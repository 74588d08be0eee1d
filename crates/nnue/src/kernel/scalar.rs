//! What every processor can run, and what the others are held against.

use super::{
    Activations,
    blocks::{I16x32, I32x16, U8x32},
};
use crate::{
    architecture::{PAIR_SHIFT, SQUARE_SHIFT, SUM_LIMIT, TRANSFORMER_ONE, WEIGHT_SHIFT},
    net::Stack,
};

#[inline(never)]
pub(super) fn add_sub(source: &[I16x32], target: &mut [I16x32], added: &[I16x32], removed: &[I16x32]) {
    target.copy_from_slice(source);
    add(target, added);
    subtract(target, removed);
}

#[inline(never)]
pub(super) fn add_sub_sub(
    source: &[I16x32],
    target: &mut [I16x32],
    added: &[I16x32],
    removed: &[I16x32],
    captured: &[I16x32],
) {
    add_sub(source, target, added, removed);
    subtract(target, captured);
}

#[inline(never)]
pub(super) fn apply(sums: &mut [I16x32], rows: &[I16x32], added: &[u16], removed: &[u16]) {
    let blocks = sums.len();
    let row = |index: &u16| &rows[usize::from(*index) * blocks..][..blocks];
    for index in added {
        add(sums, row(index));
    }
    for index in removed {
        subtract(sums, row(index));
    }
}

fn add(sums: &mut [I16x32], row: &[I16x32]) {
    combine(sums, row, i16::wrapping_add, i32::wrapping_add);
}

fn subtract(sums: &mut [I16x32], row: &[I16x32]) {
    combine(sums, row, i16::wrapping_sub, i32::wrapping_sub);
}

/// All blocks but the last hold numbers of 16 bits, the last those of the head.
#[inline(always)]
fn combine(sums: &mut [I16x32], row: &[I16x32], narrow: impl Fn(i16, i16) -> i16, wide: impl Fn(i32, i32) -> i32) {
    let Some((head, sums)) = sums.split_last_mut() else { return };
    for (sums, row) in sums.iter_mut().zip(row) {
        for (sum, weight) in sums.0.iter_mut().zip(row.0) {
            *sum = narrow(*sum, weight);
        }
    }
    let weights = &row[sums.len()];
    *head = I16x32::of_wide(&std::array::from_fn::<_, 16, _>(|stack| wide(head.wide(stack), weights.wide(stack))));
}

#[inline(never)]
pub(super) fn infer(stack: &Stack, own: &[I16x32], enemy: &[I16x32], activations: &mut Activations) -> i32 {
    let half = own.len() / 2;
    activate(own, &mut activations[..half]);
    activate(enemy, &mut activations[half..2 * half]);
    let mut sums = [I32x16::ZERO; 2];
    let sums = &mut sums[..stack.first_bias.len()];
    sums.copy_from_slice(&stack.first_bias);
    let chunks = activations[..2 * half].iter().flat_map(|block| block.0.as_chunks::<4>().0);
    for (inputs, weights) in chunks.zip(stack.first.chunks_exact(sums.len())) {
        if *inputs == [0; 4] {
            continue;
        }
        for (sums, weights) in sums.iter_mut().zip(weights) {
            for (sum, weights) in sums.0.iter_mut().zip(weights.0.as_chunks::<4>().0) {
                *sum += dot(weights, inputs);
            }
        }
    }
    upper(stack, sums)
}

/// The layers above the first one's sums.
fn upper(stack: &Stack, first: &[I32x16]) -> i32 {
    // For each block sixteen squares, then sixteen clipped values.
    let mut inputs = [0_u8; 64];
    for (block, sums) in first.iter().enumerate() {
        for (lane, sum) in sums.0.into_iter().enumerate() {
            let limited = sum.unsigned_abs().min(SUM_LIMIT as u32);
            inputs[block * 32 + lane] = ((limited * limited) >> SQUARE_SHIFT) as u8;
            inputs[block * 32 + 16 + lane] = clipped(sum) as u8;
        }
    }
    let inputs = &inputs.as_chunks::<4>().0[..first.len() * 8];
    let mut output = stack.output_bias;
    let rows = stack.second.chunks_exact(inputs.len());
    for ((bias, rows), output_weights) in stack.second_bias.iter().zip(rows).zip(&stack.output) {
        let mut sums = *bias;
        for (weights, inputs) in rows.iter().zip(inputs) {
            for (sum, weights) in sums.0.iter_mut().zip(weights.0.as_chunks::<4>().0) {
                *sum += dot(weights, inputs);
            }
        }
        for (sum, weight) in sums.0.into_iter().zip(output_weights.0) {
            output += clipped(sum) * weight;
        }
    }
    output
}

/// A side's pairs.
fn activate(sums: &[I16x32], activations: &mut [U8x32]) {
    let (low, high) = sums.split_at(sums.len() / 2);
    for ((low, high), activations) in low.iter().zip(high).zip(activations) {
        for (lane, activation) in activations.0.iter_mut().enumerate() {
            let clip = |sum: i16| i32::from(sum.clamp(0, TRANSFORMER_ONE));
            *activation = ((clip(low.0[lane]) * clip(high.0[lane])) >> PAIR_SHIFT) as u8;
        }
    }
}

fn clipped(sum: i32) -> i32 {
    sum.clamp(0, SUM_LIMIT) >> WEIGHT_SHIFT
}

fn dot(weights: &[i8; 4], inputs: &[u8; 4]) -> i32 {
    weights.iter().zip(inputs).map(|(weight, input)| i32::from(*weight) * i32::from(*input)).sum()
}
