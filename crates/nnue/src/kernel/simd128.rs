//! WebAssembly: registers of eight sums or sixteen activations. The compiler makes as good code for
//! the accumulators from the portable kernel.

#![allow(unsafe_code, reason = "blocks are read as registers")]
#![allow(clippy::wildcard_imports, reason = "intrinsics, whose names are unmistakable")]

use std::{arch::wasm32::*, array, ptr};

pub(super) use super::scalar::{add_sub, add_sub_sub, apply};
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
/// The type must be 64 bytes, aligned to at least 16, that allow any bits.
unsafe trait Block {}
// SAFETY: plain numbers in 64 bytes, aligned to 64.
unsafe impl Block for I16x32 {}
// SAFETY: as above.
unsafe impl Block for I32x16 {}
// SAFETY: as above.
unsafe impl Block for I8x64 {}

fn registers<B: Block>(block: &B) -> &[v128; 4] {
    // SAFETY: `Block` promises size, alignment and that any bits will do.
    unsafe { &*ptr::from_ref(block).cast() }
}

fn halves(activations: &mut U8x32) -> &mut [v128; 2] {
    // SAFETY: 32 bytes, aligned to 32, that allow any bits.
    unsafe { &mut *ptr::from_mut(activations).cast() }
}

fn chunks(activations: &Activations) -> &[i32; 256] {
    // SAFETY: the same 1,024 bytes, aligned to 32; any bits are numbers.
    unsafe { &*ptr::from_ref(activations).cast() }
}

pub(super) fn infer(stack: &Stack, own: &[I16x32], enemy: &[I16x32], activations: &mut Activations) -> i32 {
    match stack.first_bias.len() {
        1 => layers::<1>(stack, own, enemy, activations),
        _ => layers::<2>(stack, own, enemy, activations),
    }
}

/// Pairwise multiplication of a group's clipped sums; returns a bit for each non-zero chunk.
fn pairwise_activations(low: &[I16x32], high: &[I16x32], activations: &mut [U8x32]) -> u64 {
    let (zero, one) = (i16x8_splat(0), i16x8_splat(TRANSFORMER_ONE));
    let clip = |sums| i16x8_max(i16x8_min(sums, one), zero);
    let (mut nonzero, mut place) = (0, 0);
    for ((low, high), activations) in low.iter().zip(high).zip(activations) {
        // 255 · 255 fits sixteen bits that have no sign.
        let product = |lane: usize| i16x8_mul(clip(registers(low)[lane]), clip(registers(high)[lane]));
        let products: [v128; 4] = array::from_fn(|lane| u16x8_shr(product(lane), PAIR_SHIFT as u32));
        for (half, packed) in halves(activations).iter_mut().enumerate() {
            *packed = u8x16_narrow_i16x8(products[2 * half], products[2 * half + 1]);
            nonzero |= u64::from(i32x4_bitmask(i32x4_ne(*packed, zero))) << place;
            place += 4;
        }
    }
    nonzero
}

/// The sums of sixteen neurons: two for each, which are added up at the end.
type Sums = [[v128; 2]; 4];

/// The layers, with 16·`N` neurons in the first.
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
    let mut sums = [[[i32x4_splat(0); 2]; 4]; N];
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
    upper_layers::<N>(stack, &array::from_fn(|block| totals(&sums[block], &stack.first_bias[block])))
}

/// Adds the products of four inputs to the sums of sixteen neurons.
#[inline(always)]
fn add_chunk(sums: &mut Sums, inputs: i32, weights: &I8x64) {
    let inputs = i16x8_extend_low_i8x16(i32x4_splat(inputs));
    for ([low, high], weights) in sums.iter_mut().zip(registers(weights)) {
        *low = i32x4_add(*low, i32x4_dot_i16x8(inputs, i16x8_extend_low_i8x16(*weights)));
        *high = i32x4_add(*high, i32x4_dot_i16x8(inputs, i16x8_extend_high_i8x16(*weights)));
    }
}

/// The sums with the biases, one for each neuron.
fn totals(sums: &Sums, bias: &I32x16) -> [v128; 4] {
    array::from_fn(|lane| {
        let [low, high] = sums[lane];
        let (even, odd) = (i32x4_shuffle::<0, 2, 4, 6>(low, high), i32x4_shuffle::<1, 3, 5, 7>(low, high));
        i32x4_add(registers(bias)[lane], i32x4_add(even, odd))
    })
}

/// The layers above the first.
fn upper_layers<const N: usize>(stack: &Stack, first: &[[v128; 4]; N]) -> i32 {
    // For each block sixteen squares, then sixteen clipped values: a chunk is the four of a
    // register.
    let mut inputs = [[0; 8]; N];
    for (inputs, sums) in inputs.iter_mut().zip(first) {
        for (place, sums) in sums.iter().enumerate() {
            inputs[place] = chunk(squared_crelu(*sums));
            inputs[4 + place] = chunk(crelu(*sums));
        }
    }
    let mut outputs = i32x4_splat(0);
    let rows = stack.second.chunks_exact(8 * N);
    for ((bias, rows), weights) in stack.second_bias.iter().zip(rows).zip(&stack.output) {
        let mut sums = [[i32x4_splat(0); 2]; 4];
        for (inputs, weights) in inputs.as_flattened().iter().zip(rows) {
            add_chunk(&mut sums, *inputs, weights);
        }
        for (sum, weights) in totals(&sums, bias).into_iter().zip(registers(weights)) {
            outputs = i32x4_add(outputs, i32x4_mul(crelu(sum), *weights));
        }
    }
    let lanes = [
        i32x4_extract_lane::<0>(outputs),
        i32x4_extract_lane::<1>(outputs),
        i32x4_extract_lane::<2>(outputs),
        i32x4_extract_lane::<3>(outputs),
    ];
    stack.output_bias + lanes.iter().sum::<i32>()
}

/// Four numbers from 0 to 127 as a chunk of inputs.
fn chunk(numbers: v128) -> i32 {
    let narrow = i16x8_narrow_i32x4(numbers, numbers);
    i32x4_extract_lane::<0>(u8x16_narrow_i16x8(narrow, narrow))
}

fn squared_crelu(sums: v128) -> v128 {
    // Without a sign, since `i32::MIN` has no positive counterpart.
    let limited = u32x4_min(i32x4_abs(sums), i32x4_splat(SUM_LIMIT));
    u32x4_shr(i32x4_mul(limited, limited), SQUARE_SHIFT as u32)
}

fn crelu(sums: v128) -> v128 {
    let limited = i32x4_min(i32x4_max(sums, i32x4_splat(0)), i32x4_splat(SUM_LIMIT));
    u32x4_shr(limited, WEIGHT_SHIFT as u32)
}
