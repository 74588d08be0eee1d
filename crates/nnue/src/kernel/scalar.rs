//! What every processor can run, and what the others are held against.

use super::{
    Activations,
    blocks::{I16x32, I32x16, U8x32},
    sparse::{self, Mask},
};
use crate::{
    architecture::{PAIR_SHIFT, SQUARE_SHIFT, SUM_LIMIT, TRANSFORMER_ONE, WEIGHT_SHIFT},
    net::Stack,
};

#[inline(never)]
pub(super) fn add_sub(source: &[I16x32], target: &mut [I16x32], added: &[I16x32], removed: &[I16x32]) {
    for (((target, source), added), removed) in target.iter_mut().zip(source).zip(added).zip(removed) {
        for (lane, target) in target.0.iter_mut().enumerate() {
            *target = source.0[lane].wrapping_add(added.0[lane]).wrapping_sub(removed.0[lane]);
        }
    }
}

#[inline(never)]
pub(super) fn add_sub_sub(
    source: &[I16x32],
    target: &mut [I16x32],
    added: &[I16x32],
    removed: &[I16x32],
    captured: &[I16x32],
) {
    let rows = added.iter().zip(removed).zip(captured);
    for ((target, source), ((added, removed), captured)) in target.iter_mut().zip(source).zip(rows) {
        for (lane, target) in target.0.iter_mut().enumerate() {
            let moved = source.0[lane].wrapping_add(added.0[lane]).wrapping_sub(removed.0[lane]);
            *target = moved.wrapping_sub(captured.0[lane]);
        }
    }
}

#[inline(never)]
pub(super) fn apply(sums: &mut [I16x32], rows: &[I16x32], added: &[u16], removed: &[u16]) {
    let width = sums.len();
    let row = |index: u16| &rows[usize::from(index) * width..][..width];
    for index in added {
        for (sums, row) in sums.iter_mut().zip(row(*index)) {
            for (sum, weight) in sums.0.iter_mut().zip(row.0) {
                *sum = sum.wrapping_add(weight);
            }
        }
    }
    for index in removed {
        for (sums, row) in sums.iter_mut().zip(row(*index)) {
            for (sum, weight) in sums.0.iter_mut().zip(row.0) {
                *sum = sum.wrapping_sub(weight);
            }
        }
    }
}

#[inline(never)]
pub(super) fn infer(stack: &Stack, own: &[I16x32], enemy: &[I16x32], activations: &mut Activations) -> i32 {
    let half = own.len() / 2;
    let own_mask = activate(own, &mut activations[..half]);
    let enemy_mask = activate(enemy, &mut activations[half..2 * half]);
    let mut sums = [I32x16::ZERO; 2];
    sums[..stack.first_bias.len()].copy_from_slice(&stack.first_bias);
    let blocks = stack.first_bias.len();
    for (mut word, base) in sparse::words(own_mask, enemy_mask, half * 8) {
        while word != 0 {
            let chunk = base + word.trailing_zeros() as usize;
            word &= word - 1;
            let inputs = &activations[chunk / 8].0[chunk % 8 * 4..][..4];
            for (sums, weights) in sums.iter_mut().zip(&stack.first[chunk * blocks..][..blocks]) {
                for (sum, weights) in sums.0.iter_mut().zip(weights.0.as_chunks::<4>().0) {
                    *sum += dot(weights, inputs);
                }
            }
        }
    }
    upper(stack, &sums[..blocks])
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

/// A side's pairs, and which chunks of them are not all zeros.
fn activate(sums: &[I16x32], activations: &mut [U8x32]) -> Mask {
    let mut mask = [0; 2];
    let (low, high) = sums.split_at(sums.len() / 2);
    for (block, ((low, high), activations)) in low.iter().zip(high).zip(activations).enumerate() {
        for (lane, activation) in activations.0.iter_mut().enumerate() {
            let clip = |sum: i16| i32::from(sum.clamp(0, TRANSFORMER_ONE));
            *activation = ((clip(low.0[lane]) * clip(high.0[lane])) >> PAIR_SHIFT) as u8;
        }
        for (chunk, inputs) in activations.0.as_chunks::<4>().0.iter().enumerate() {
            let place = block * 8 + chunk;
            mask[place / 64] |= u64::from(*inputs != [0; 4]) << (place % 64);
        }
    }
    mask
}

fn clipped(sum: i32) -> i32 {
    sum.clamp(0, SUM_LIMIT) >> WEIGHT_SHIFT
}

fn dot(weights: &[i8; 4], inputs: &[u8]) -> i32 {
    weights.iter().zip(inputs).map(|(weight, input)| i32::from(*weight) * i32::from(*input)).sum()
}
