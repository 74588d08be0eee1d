//! NEON: registers of eight sums or sixteen activations.

#![allow(unsafe_code, reason = "blocks are read as registers")]
#![allow(clippy::wildcard_imports, reason = "intrinsics, whose names are unmistakable")]

use std::{arch::aarch64::*, array, ptr};

use super::{
    Activations, GROUP, GROUP_BLOCKS,
    blocks::{I8x64, I16x32, I32x16, U8x32},
};
use crate::{
    architecture::{PAIR_SHIFT, SQUARE_SHIFT, SUM_LIMIT, TRANSFORMER_ONE, WEIGHT_SHIFT},
    net::Stack,
};

/// A block that is exactly four registers.
///
/// # Safety
///
/// The type and four of `Register` must be 64 bytes, the type aligned to at least 16, and both
/// allow any bits.
unsafe trait Block {
    type Register: Copy;
}
// SAFETY: plain numbers in 64 bytes, aligned to 64.
unsafe impl Block for I16x32 {
    type Register = int16x8_t;
}
// SAFETY: as above.
unsafe impl Block for I32x16 {
    type Register = int32x4_t;
}
// SAFETY: as above.
unsafe impl Block for I8x64 {
    type Register = int8x16_t;
}

fn registers<B: Block>(block: &B) -> &[B::Register; 4] {
    // SAFETY: `Block` promises sizes, alignment and that any bits will do.
    unsafe { &*ptr::from_ref(block).cast() }
}

fn registers_mut<B: Block>(block: &mut B) -> &mut [B::Register; 4] {
    // SAFETY: as in `registers`, and the borrow is as exclusive as the block's.
    unsafe { &mut *ptr::from_mut(block).cast() }
}

fn chunks(activations: &Activations) -> &[i32; 256] {
    // SAFETY: the same 1,024 bytes, aligned to 32; any bits are numbers.
    unsafe { &*ptr::from_ref(activations).cast() }
}

/// All blocks but the last hold numbers of 16 bits, the last those of the head.
#[target_feature(enable = "neon")]
pub(super) fn add_sub(source: &[I16x32], target: &mut [I16x32], added: &[I16x32], removed: &[I16x32]) {
    let head = target.len() - 1;
    let blocks = target[..head].iter_mut().zip(&source[..head]).zip(&added[..head]).zip(&removed[..head]);
    for (((target, source), added), removed) in blocks {
        let (source, added, removed) = (registers(source), registers(added), registers(removed));
        for (lane, target) in registers_mut(target).iter_mut().enumerate() {
            *target = vsubq_s16(vaddq_s16(source[lane], added[lane]), removed[lane]);
        }
    }
    let (source, added, removed) = (wide(&source[head]), wide(&added[head]), wide(&removed[head]));
    set_wide(&mut target[head], array::from_fn(|lane| vsubq_s32(vaddq_s32(source[lane], added[lane]), removed[lane])));
}

#[target_feature(enable = "neon")]
pub(super) fn add_sub_sub(
    source: &[I16x32],
    target: &mut [I16x32],
    added: &[I16x32],
    removed: &[I16x32],
    captured: &[I16x32],
) {
    let head = target.len() - 1;
    let rows = added[..head].iter().zip(&removed[..head]).zip(&captured[..head]);
    for ((target, source), ((added, removed), captured)) in target[..head].iter_mut().zip(&source[..head]).zip(rows) {
        let (source, added) = (registers(source), registers(added));
        let (removed, captured) = (registers(removed), registers(captured));
        for (lane, target) in registers_mut(target).iter_mut().enumerate() {
            let gone = vaddq_s16(removed[lane], captured[lane]);
            *target = vsubq_s16(vaddq_s16(source[lane], added[lane]), gone);
        }
    }
    let (source, added) = (wide(&source[head]), wide(&added[head]));
    let (removed, captured) = (wide(&removed[head]), wide(&captured[head]));
    let moved = |lane: usize| vsubq_s32(vaddq_s32(source[lane], added[lane]), removed[lane]);
    set_wide(&mut target[head], array::from_fn(|lane| vsubq_s32(moved(lane), captured[lane])));
}

/// Register tiling: eight registers hold a tile of the sums while all rows are added to it.
#[target_feature(enable = "neon")]
pub(super) fn apply(sums: &mut [I16x32], rows: &[I16x32], added: &[u16], removed: &[u16]) {
    let blocks = sums.len();
    let (tiles, rest) = sums.as_chunks_mut::<2>();
    let mut start = 0;
    for tile in tiles {
        apply_tile(tile, &rows[start..], blocks, added, removed);
        start += tile.len();
    }
    if let [head] = rest {
        let mut sums = wide(head);
        for (lane, sum) in sums.iter_mut().enumerate() {
            let row = |index: &u16| wide(&rows[start + usize::from(*index) * blocks])[lane];
            *sum = added.iter().fold(*sum, |sum, index| vaddq_s32(sum, row(index)));
            *sum = removed.iter().fold(*sum, |sum, index| vsubq_s32(sum, row(index)));
        }
        set_wide(head, sums);
    }
}

#[target_feature(enable = "neon")]
fn apply_tile<const N: usize>(tile: &mut [I16x32; N], rows: &[I16x32], blocks: usize, added: &[u16], removed: &[u16]) {
    let mut sums: [[int16x8_t; 4]; N] = array::from_fn(|block| *registers(&tile[block]));
    for index in added {
        let row = &rows[usize::from(*index) * blocks..][..N];
        for (sums, row) in sums.iter_mut().zip(row) {
            for (sum, weights) in sums.iter_mut().zip(registers(row)) {
                *sum = vaddq_s16(*sum, *weights);
            }
        }
    }
    for index in removed {
        let row = &rows[usize::from(*index) * blocks..][..N];
        for (sums, row) in sums.iter_mut().zip(row) {
            for (sum, weights) in sums.iter_mut().zip(registers(row)) {
                *sum = vsubq_s16(*sum, *weights);
            }
        }
    }
    for (block, sums) in tile.iter_mut().zip(sums) {
        *registers_mut(block) = sums;
    }
}

/// The head's block.
#[target_feature(enable = "neon")]
fn wide(block: &I16x32) -> [int32x4_t; 4] {
    registers(block).map(|lanes| vreinterpretq_s32_s16(lanes))
}

#[target_feature(enable = "neon")]
fn set_wide(block: &mut I16x32, numbers: [int32x4_t; 4]) {
    *registers_mut(block) = numbers.map(|lanes| vreinterpretq_s16_s32(lanes));
}

#[target_feature(enable = "neon")]
pub(super) fn infer(stack: &Stack, own: &[I16x32], enemy: &[I16x32], activations: &mut Activations) -> i32 {
    match stack.first_bias.len() {
        1 => layers::<1>(stack, own, enemy, activations),
        _ => layers::<2>(stack, own, enemy, activations),
    }
}

const _: () = assert!(PAIR_SHIFT == 8 + 1);

/// Pairwise multiplication of a group's clipped sums; returns a bit for each non-zero chunk.
#[target_feature(enable = "neon")]
fn pairwise_activations(low: &[I16x32], high: &[I16x32], activations: &mut [U8x32]) -> u64 {
    let (zero, one) = (vdupq_n_s16(0), vdupq_n_s16(TRANSFORMER_ONE));
    let clip = |sums| vreinterpretq_u16_s16(vmaxq_s16(vminq_s16(sums, one), zero));
    // SAFETY: four numbers for four lanes; the load asks for no more than their alignment.
    let bits = unsafe { vld1q_u32([1, 2, 4, 8].as_ptr()) };
    let (mut nonzero, mut place) = (0, 0);
    for ((low, high), activations) in low.iter().zip(high).zip(activations) {
        let products: [uint8x8_t; 4] = array::from_fn(|lane| {
            let (low, high) = (clip(registers(low)[lane]), clip(registers(high)[lane]));
            // 255 · 255 fits sixteen bits that have no sign. Down by eight when the bytes are
            // taken, by one after.
            vshr_n_u8::<1>(vshrn_n_u16::<8>(vmulq_u16(low, high)))
        });
        for half in 0..2 {
            let packed = vcombine_u8(products[2 * half], products[2 * half + 1]);
            // SAFETY: sixteen bytes at either half of thirty-two.
            unsafe { vst1q_u8(activations.0.as_mut_ptr().add(16 * half), packed) };
            let chunks = vreinterpretq_u32_u8(packed);
            nonzero |= u64::from(vaddvq_u32(vandq_u32(vtstq_u32(chunks, chunks), bits))) << place;
            place += 4;
        }
    }
    nonzero
}

/// The layers, with 16·`N` neurons in the first.
#[target_feature(enable = "neon")]
fn layers<const N: usize>(stack: &Stack, own: &[I16x32], enemy: &[I16x32], activations: &mut Activations) -> i32 {
    let half = own.len() / 2;
    let mut words = [(0, 0); 4];
    let mut count = 0;
    let mut block = 0;
    for sums in [own, enemy] {
        let (low, high) = sums.split_at(half);
        for (low, high) in low.chunks(GROUP_BLOCKS).zip(high.chunks(GROUP_BLOCKS)) {
            words[count] = (pairwise_activations(low, high, &mut activations[block..block + low.len()]), block * 8);
            block += low.len();
            count += 1;
        }
    }
    let chunks = chunks(activations);
    let weights = stack.first.as_chunks::<N>().0;
    let mut sums: [[int32x4_t; 4]; N] = array::from_fn(|block| *registers(&stack.first_bias[block]));
    for &(mut word, base) in &words[..count] {
        let chunks = chunks[base..].first_chunk::<GROUP>().expect("no group begins beyond the last");
        let weights = weights[base..].first_chunk::<GROUP>().expect("weights are filled up by a group");
        while word != 0 {
            let chunk = word.trailing_zeros() as usize;
            word &= word - 1;
            for (sums, weights) in sums.iter_mut().zip(&weights[chunk]) {
                add_chunk(sums, chunks[chunk], weights);
            }
        }
    }
    upper_layers(stack, &sums)
}

/// Adds the products of four inputs to the sums of sixteen neurons. Inputs are below 128 and so may
/// have a sign, and two products of at most 127 · 128 fit sixteen bits.
#[target_feature(enable = "neon")]
fn add_chunk(sums: &mut [int32x4_t; 4], inputs: i32, weights: &I8x64) {
    let inputs = vreinterpretq_s8_s32(vdupq_n_s32(inputs));
    for (sum, weights) in sums.iter_mut().zip(registers(weights)) {
        let low = vmull_s8(vget_low_s8(inputs), vget_low_s8(*weights));
        let high = vmull_high_s8(inputs, *weights);
        *sum = vpadalq_s16(*sum, vpaddq_s16(low, high));
    }
}

/// The layers above the first.
#[target_feature(enable = "neon")]
fn upper_layers<const N: usize>(stack: &Stack, first: &[[int32x4_t; 4]; N]) -> i32 {
    // For each block sixteen squares, then sixteen clipped values: a chunk is the four of a
    // register.
    let mut inputs = [[0; 8]; N];
    for (inputs, sums) in inputs.iter_mut().zip(first) {
        for (place, sums) in sums.iter().enumerate() {
            inputs[place] = chunk(squared_crelu(*sums));
            inputs[4 + place] = chunk(crelu(*sums));
        }
    }
    let mut outputs = vdupq_n_s32(0);
    let rows = stack.second.chunks_exact(8 * N);
    for ((bias, rows), weights) in stack.second_bias.iter().zip(rows).zip(&stack.output) {
        let mut sums = *registers(bias);
        for (inputs, weights) in inputs.as_flattened().iter().zip(rows) {
            add_chunk(&mut sums, *inputs, weights);
        }
        for (sum, weights) in sums.iter().zip(registers(weights)) {
            outputs = vmlaq_s32(outputs, crelu(*sum), *weights);
        }
    }
    stack.output_bias + vaddvq_s32(outputs)
}

/// Four numbers from 0 to 127 as a chunk of inputs.
#[target_feature(enable = "neon")]
fn chunk(numbers: int32x4_t) -> i32 {
    let narrow = vmovn_s32(numbers);
    let bytes = vmovn_s16(vcombine_s16(narrow, narrow));
    vget_lane_s32::<0>(vreinterpret_s32_s8(bytes))
}

#[target_feature(enable = "neon")]
fn squared_crelu(sums: int32x4_t) -> int32x4_t {
    // Saturated, since `i32::MIN` has no positive counterpart.
    let limited = vminq_s32(vqabsq_s32(sums), vdupq_n_s32(SUM_LIMIT));
    vshrq_n_s32::<{ SQUARE_SHIFT as i32 }>(vmulq_s32(limited, limited))
}

#[target_feature(enable = "neon")]
fn crelu(sums: int32x4_t) -> int32x4_t {
    let limited = vminq_s32(vmaxq_s32(sums, vdupq_n_s32(0)), vdupq_n_s32(SUM_LIMIT));
    vshrq_n_s32::<{ WEIGHT_SHIFT as i32 }>(limited)
}
