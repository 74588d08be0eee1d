//! AVX2: registers of sixteen sums or thirty-two activations.

#![allow(unsafe_code, reason = "blocks are read as registers")]
#![allow(clippy::wildcard_imports, reason = "intrinsics, whose names are unmistakable")]

use std::{arch::x86_64::*, array, ptr};

use super::{
    Activations, GROUP, GROUP_BLOCKS,
    blocks::{I8x64, I16x32, I32x16, U8x32},
};
use crate::{
    architecture::{PAIR_SHIFT, SQUARE_SHIFT, SUM_LIMIT, TRANSFORMER_ONE, WEIGHT_SHIFT},
    net::Stack,
};

/// A block of 64 bytes.
type Registers = [__m256i; 2];

/// A block that is exactly two registers.
///
/// # Safety
///
/// The type must be 64 bytes, aligned to at least 32, and allow any bits.
unsafe trait Block {}
// SAFETY: plain numbers in 64 bytes, aligned to 64.
unsafe impl Block for I16x32 {}
// SAFETY: as above.
unsafe impl Block for I32x16 {}
// SAFETY: as above.
unsafe impl Block for I8x64 {}

fn registers<B: Block>(block: &B) -> &Registers {
    // SAFETY: `Block` promises size, alignment and that any bits will do; registers have no bits
    // that will not.
    unsafe { &*ptr::from_ref(block).cast() }
}

fn registers_mut<B: Block>(block: &mut B) -> &mut Registers {
    // SAFETY: as in `registers`, and the borrow is as exclusive as the block's.
    unsafe { &mut *ptr::from_mut(block).cast() }
}

/// All blocks but the last hold numbers of 16 bits, the last those of the head.
#[target_feature(enable = "avx2,bmi1")]
pub(super) fn add_sub(source: &[I16x32], target: &mut [I16x32], added: &[I16x32], removed: &[I16x32]) {
    let head = target.len() - 1;
    let blocks = target[..head].iter_mut().zip(&source[..head]).zip(&added[..head]).zip(&removed[..head]);
    for (((target, source), added), removed) in blocks {
        let (source, added, removed) = (registers(source), registers(added), registers(removed));
        for (lane, target) in registers_mut(target).iter_mut().enumerate() {
            *target = _mm256_sub_epi16(_mm256_add_epi16(source[lane], added[lane]), removed[lane]);
        }
    }
    let (source, added, removed) = (registers(&source[head]), registers(&added[head]), registers(&removed[head]));
    for (lane, target) in registers_mut(&mut target[head]).iter_mut().enumerate() {
        *target = _mm256_sub_epi32(_mm256_add_epi32(source[lane], added[lane]), removed[lane]);
    }
}

#[target_feature(enable = "avx2,bmi1")]
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
            let gone = _mm256_add_epi16(removed[lane], captured[lane]);
            *target = _mm256_sub_epi16(_mm256_add_epi16(source[lane], added[lane]), gone);
        }
    }
    let (source, added) = (registers(&source[head]), registers(&added[head]));
    let (removed, captured) = (registers(&removed[head]), registers(&captured[head]));
    for (lane, target) in registers_mut(&mut target[head]).iter_mut().enumerate() {
        let gone = _mm256_add_epi32(removed[lane], captured[lane]);
        *target = _mm256_sub_epi32(_mm256_add_epi32(source[lane], added[lane]), gone);
    }
}

/// Register tiling: eight registers hold a tile of the sums while all rows are added to it.
#[target_feature(enable = "avx2,bmi1")]
pub(super) fn apply(sums: &mut [I16x32], rows: &[I16x32], added: &[u16], removed: &[u16]) {
    let blocks = sums.len();
    let (tiles, rest) = sums.as_chunks_mut::<4>();
    let mut start = 0;
    for tile in tiles {
        apply_tile(tile, &rows[start..], blocks, added, removed);
        start += tile.len();
    }
    let (tiles, rest) = rest.as_chunks_mut::<2>();
    for tile in tiles {
        apply_tile(tile, &rows[start..], blocks, added, removed);
        start += tile.len();
    }
    if let [head] = rest {
        let row = |index: &u16| registers(&rows[start + usize::from(*index) * blocks]);
        for (lane, head) in registers_mut(head).iter_mut().enumerate() {
            let sum = added.iter().fold(*head, |sum, index| _mm256_add_epi32(sum, row(index)[lane]));
            *head = removed.iter().fold(sum, |sum, index| _mm256_sub_epi32(sum, row(index)[lane]));
        }
    }
}

#[target_feature(enable = "avx2,bmi1")]
fn apply_tile<const N: usize>(tile: &mut [I16x32; N], rows: &[I16x32], blocks: usize, added: &[u16], removed: &[u16]) {
    let mut sums: [Registers; N] = array::from_fn(|block| *registers(&tile[block]));
    for index in added {
        let row = &rows[usize::from(*index) * blocks..][..N];
        for (sums, row) in sums.iter_mut().zip(row) {
            for (sum, weights) in sums.iter_mut().zip(registers(row)) {
                *sum = _mm256_add_epi16(*sum, *weights);
            }
        }
    }
    for index in removed {
        let row = &rows[usize::from(*index) * blocks..][..N];
        for (sums, row) in sums.iter_mut().zip(row) {
            for (sum, weights) in sums.iter_mut().zip(registers(row)) {
                *sum = _mm256_sub_epi16(*sum, *weights);
            }
        }
    }
    for (block, sums) in tile.iter_mut().zip(sums) {
        *registers_mut(block) = sums;
    }
}

#[target_feature(enable = "avx2,bmi1")]
pub(super) fn infer(stack: &Stack, own: &[I16x32], enemy: &[I16x32], activations: &mut Activations) -> i32 {
    match stack.first_bias.len() {
        1 => layers::<1>(stack, own, enemy, activations),
        _ => layers::<2>(stack, own, enemy, activations),
    }
}

/// Pairwise multiplication of a group's clipped sums; returns a bit for each non-zero chunk.
#[target_feature(enable = "avx2,bmi1")]
fn pairwise_activations(low: &[I16x32], high: &[I16x32], activations: &mut [U8x32]) -> u64 {
    let (mut nonzero, mut place) = (0, 0);
    for ((low, high), activations) in low.iter().zip(high).zip(activations) {
        let (low, high) = (registers(low), registers(high));
        let packed = _mm256_packus_epi16(pairwise_product(low[0], high[0]), pairwise_product(low[1], high[1]));
        let ordered = _mm256_permute4x64_epi64::<0b11_01_10_00>(packed);
        // SAFETY: the block is 32 bytes, aligned to 32.
        unsafe { _mm256_store_si256(ptr::from_mut(activations).cast(), ordered) };
        // No activation has its highest bit set, so what is not zero is greater.
        let greater = _mm256_cmpgt_epi32(ordered, _mm256_setzero_si256());
        nonzero |= u64::from(_mm256_movemask_ps(_mm256_castsi256_ps(greater)) as u8) << place;
        place += 8;
    }
    nonzero
}

/// One factor is shifted up, so that the high half of the 16-bit product is the product shifted
/// down. Only one factor is clipped at zero: the packing clips the product.
#[target_feature(enable = "avx2,bmi1")]
fn pairwise_product(low: __m256i, high: __m256i) -> __m256i {
    let one = _mm256_set1_epi16(TRANSFORMER_ONE);
    let low = _mm256_max_epi16(_mm256_min_epi16(low, one), _mm256_setzero_si256());
    let shifted = _mm256_slli_epi16::<{ 16 - PAIR_SHIFT as i32 }>(low);
    _mm256_mulhi_epi16(shifted, _mm256_min_epi16(high, one))
}

/// The layers, with 16·`N` neurons in the first.
#[target_feature(enable = "avx2,bmi1")]
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
    let mut sums: [Registers; N] = array::from_fn(|block| *registers(&stack.first_bias[block]));
    let weights = stack.first.as_chunks::<N>().0;
    for &(mut word, base) in &words[..count] {
        let chunks = chunks[base..].first_chunk::<GROUP>().expect("no group begins beyond the last");
        let weights = weights[base..].first_chunk::<GROUP>().expect("weights are filled up by a group");
        while word != 0 {
            let chunk = word.trailing_zeros() as usize;
            word &= word - 1;
            add_chunk(&mut sums, chunks[chunk], &weights[chunk]);
        }
    }
    upper_layers(stack, &sums)
}

fn chunks(activations: &Activations) -> &[i32; 256] {
    // SAFETY: the same 1,024 bytes, aligned to 32; any bits are numbers.
    unsafe { &*ptr::from_ref(activations).cast() }
}

#[target_feature(enable = "avx2,bmi1")]
fn add_chunk<const N: usize>(sums: &mut [Registers; N], inputs: i32, weights: &[I8x64; N]) {
    let inputs = _mm256_set1_epi32(inputs);
    for (sums, weights) in sums.iter_mut().zip(weights) {
        for (sum, weights) in sums.iter_mut().zip(registers(weights)) {
            *sum = dot(*sum, inputs, *weights);
        }
    }
}

/// Adds four products to each sum. Two products of at most 127 · 128 fit 16 bits, so nothing
/// saturates.
#[target_feature(enable = "avx2,bmi1")]
fn dot(sum: __m256i, inputs: __m256i, weights: __m256i) -> __m256i {
    let pairs = _mm256_maddubs_epi16(inputs, weights);
    _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
}

/// The layers above the first.
#[target_feature(enable = "avx2,bmi1")]
fn upper_layers<const N: usize>(stack: &Stack, first: &[Registers; N]) -> i32 {
    // For each block sixteen squares, then sixteen clipped values.
    let mut inputs = [_mm256_setzero_si256(); N];
    for (inputs, sums) in inputs.iter_mut().zip(first) {
        let squares = _mm256_packs_epi32(squared_crelu(sums[0]), squared_crelu(sums[1]));
        let crelu = _mm256_packs_epi32(crelu(sums[0]), crelu(sums[1]));
        let packed = _mm256_packus_epi16(squares, crelu);
        *inputs = _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    }
    let mut outputs = _mm256_setzero_si256();
    let rows = stack.second.chunks_exact(8 * N);
    for ((bias, rows), weights) in stack.second_bias.iter().zip(rows).zip(&stack.output) {
        let mut squares = *registers(bias);
        let mut plain = [_mm256_setzero_si256(); 2];
        for (inputs, rows) in inputs.iter().zip(rows.as_chunks::<8>().0) {
            four(&mut squares, _mm256_broadcastsi128_si256(_mm256_castsi256_si128(*inputs)), &rows[..4]);
            four(&mut plain, _mm256_broadcastsi128_si256(_mm256_extracti128_si256::<1>(*inputs)), &rows[4..]);
        }
        for (lane, weights) in registers(weights).iter().enumerate() {
            // An activation fits 16 bits, with zeros above: the pair's product is its own.
            let activations = crelu(_mm256_add_epi32(squares[lane], plain[lane]));
            outputs = _mm256_add_epi32(outputs, _mm256_madd_epi16(activations, *weights));
        }
    }
    stack.output_bias + total(outputs)
}

/// Four chunks of inputs, which stand in both halves of the register.
#[target_feature(enable = "avx2,bmi1")]
fn four(sums: &mut Registers, inputs: __m256i, weights: &[I8x64]) {
    let chunks = [
        _mm256_shuffle_epi32::<0x00>(inputs),
        _mm256_shuffle_epi32::<0x55>(inputs),
        _mm256_shuffle_epi32::<0xaa>(inputs),
        _mm256_shuffle_epi32::<0xff>(inputs),
    ];
    for (chunk, weights) in chunks.into_iter().zip(weights) {
        for (sum, weights) in sums.iter_mut().zip(registers(weights)) {
            *sum = dot(*sum, chunk, *weights);
        }
    }
}

#[target_feature(enable = "avx2,bmi1")]
fn squared_crelu(sums: __m256i) -> __m256i {
    // Unsigned, since `i32::MIN` has no positive counterpart and must count as large.
    let limited = _mm256_min_epu32(_mm256_abs_epi32(sums), _mm256_set1_epi32(SUM_LIMIT));
    _mm256_srli_epi32::<{ SQUARE_SHIFT as i32 }>(_mm256_madd_epi16(limited, limited))
}

#[target_feature(enable = "avx2,bmi1")]
fn crelu(sums: __m256i) -> __m256i {
    let limited = _mm256_min_epi32(_mm256_max_epi32(sums, _mm256_setzero_si256()), _mm256_set1_epi32(SUM_LIMIT));
    _mm256_srli_epi32::<{ WEIGHT_SHIFT as i32 }>(limited)
}

/// The sum of the eight numbers.
#[target_feature(enable = "avx2,bmi1")]
fn total(numbers: __m256i) -> i32 {
    let four = _mm_add_epi32(_mm256_castsi256_si128(numbers), _mm256_extracti128_si256::<1>(numbers));
    let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
    let one = _mm_add_epi32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two));
    _mm_cvtsi128_si32(one)
}
