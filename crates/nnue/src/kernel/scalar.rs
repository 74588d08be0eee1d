//! The portable kernel, the reference for the others.

use std::array;

use super::{
    Activations,
    blocks::{I8x64, I16x32, I32x16, U8x32},
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
    *head = I16x32::of_wide(&array::from_fn::<_, 16, _>(|stack| wide(head.wide(stack), weights.wide(stack))));
}

#[inline(never)]
pub(super) fn infer(stack: &Stack, own: &[I16x32], enemy: &[I16x32], activations: &mut Activations) -> i32 {
    let half = own.len() / 2;
    pairwise_activations(own, &mut activations[..half]);
    pairwise_activations(enemy, &mut activations[half..2 * half]);
    match stack.first_bias.len() {
        1 => layers::<1>(stack, &activations[..2 * half]),
        _ => layers::<2>(stack, &activations[..2 * half]),
    }
}

/// The layers, with 16·`N` neurons in the first.
fn layers<const N: usize>(stack: &Stack, activations: &[U8x32]) -> i32 {
    let mut sums: [I32x16; N] = array::from_fn(|block| stack.first_bias[block]);
    let weights = stack.first.as_chunks::<N>().0.as_chunks::<8>().0;
    for (block, weights) in activations.iter().zip(weights) {
        for (inputs, weights) in block.0.as_chunks::<4>().0.iter().zip(weights) {
            if *inputs == [0; 4] {
                continue;
            }
            for (sums, weights) in sums.iter_mut().zip(weights) {
                add_products(sums, weights, inputs);
            }
        }
    }
    upper_layers(stack, &sums)
}

/// Adds the products of four inputs to the sums of sixteen neurons.
fn add_products(sums: &mut I32x16, weights: &I8x64, inputs: &[u8; 4]) {
    let inputs = inputs.map(i32::from);
    for (sum, weights) in sums.0.iter_mut().zip(weights.0.as_chunks::<4>().0) {
        let [a, b, c, d] = weights.map(i32::from);
        *sum += a * inputs[0] + b * inputs[1] + c * inputs[2] + d * inputs[3];
    }
}

/// The layers above the first.
fn upper_layers(stack: &Stack, first: &[I32x16]) -> i32 {
    // For each block sixteen squares, then sixteen clipped values.
    let mut inputs = [0_u8; 64];
    for (block, sums) in first.iter().enumerate() {
        for (lane, sum) in sums.0.into_iter().enumerate() {
            let limited = sum.unsigned_abs().min(SUM_LIMIT as u32);
            inputs[block * 32 + lane] = ((limited * limited) >> SQUARE_SHIFT) as u8;
            inputs[block * 32 + 16 + lane] = crelu(sum) as u8;
        }
    }
    let inputs = &inputs.as_chunks::<4>().0[..first.len() * 8];
    let mut output = stack.output_bias;
    let rows = stack.second.chunks_exact(inputs.len());
    for ((bias, rows), output_weights) in stack.second_bias.iter().zip(rows).zip(&stack.output) {
        let mut sums = *bias;
        for (weights, inputs) in rows.iter().zip(inputs) {
            add_products(&mut sums, weights, inputs);
        }
        for (sum, weight) in sums.0.into_iter().zip(output_weights.0) {
            output += crelu(sum) * weight;
        }
    }
    output
}

/// Pairwise multiplication of the clipped sums of a side.
fn pairwise_activations(sums: &[I16x32], activations: &mut [U8x32]) {
    let (low, high) = sums.split_at(sums.len() / 2);
    for ((low, high), activations) in low.iter().zip(high).zip(activations) {
        for (lane, activation) in activations.0.iter_mut().enumerate() {
            let clip = |sum: i16| i32::from(sum.clamp(0, TRANSFORMER_ONE));
            *activation = ((clip(low.0[lane]) * clip(high.0[lane])) >> PAIR_SHIFT) as u8;
        }
    }
}

fn crelu(sum: i32) -> i32 {
    sum.clamp(0, SUM_LIMIT) >> WEIGHT_SHIFT
}
