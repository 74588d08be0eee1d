//! AVX-512: registers of thirty-two sums or sixty-four activations. The layers are in [`plain`],
//! and with products of four in one instruction in [`vnni`].

#![allow(unsafe_code, reason = "blocks are read as registers")]
#![allow(clippy::wildcard_imports, reason = "intrinsics, whose names are unmistakable")]

pub(super) mod plain;
pub(super) mod vnni;

use std::{arch::x86_64::*, array, ptr};

use super::{
    Activations,
    blocks::{I8x64, I16x32, I32x16, U8x32},
};
use crate::architecture::{PAIR_SHIFT, SQUARE_SHIFT, SUM_LIMIT, TRANSFORMER_ONE, WEIGHT_SHIFT};

/// A block that is exactly one register.
///
/// # Safety
///
/// The type must be 64 bytes, aligned to 64, and allow any bits.
unsafe trait Block {}
// SAFETY: plain numbers in 64 bytes, aligned to 64.
unsafe impl Block for I16x32 {}
// SAFETY: as above.
unsafe impl Block for I32x16 {}
// SAFETY: as above.
unsafe impl Block for I8x64 {}

fn register<B: Block>(block: &B) -> &__m512i {
    // SAFETY: `Block` promises size, alignment and that any bits will do; registers have no bits
    // that will not.
    unsafe { &*ptr::from_ref(block).cast() }
}

fn register_mut<B: Block>(block: &mut B) -> &mut __m512i {
    // SAFETY: as in `register`, and the borrow is as exclusive as the block's.
    unsafe { &mut *ptr::from_mut(block).cast() }
}

fn chunks(activations: &Activations) -> &[i32; 256] {
    // SAFETY: the same 1,024 bytes, aligned to 32; any bits are numbers.
    unsafe { &*ptr::from_ref(activations).cast() }
}

/// All blocks but the last hold numbers of 16 bits, the last those of the head.
#[target_feature(enable = "avx2,bmi1,avx512f,avx512bw,avx512vl")]
pub(super) fn add_sub(source: &[I16x32], target: &mut [I16x32], added: &[I16x32], removed: &[I16x32]) {
    let head = target.len() - 1;
    let blocks = target[..head].iter_mut().zip(&source[..head]).zip(&added[..head]).zip(&removed[..head]);
    for (((target, source), added), removed) in blocks {
        let moved = _mm512_add_epi16(*register(source), *register(added));
        *register_mut(target) = _mm512_sub_epi16(moved, *register(removed));
    }
    let moved = _mm512_add_epi32(*register(&source[head]), *register(&added[head]));
    *register_mut(&mut target[head]) = _mm512_sub_epi32(moved, *register(&removed[head]));
}

#[target_feature(enable = "avx2,bmi1,avx512f,avx512bw,avx512vl")]
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
        let moved = _mm512_add_epi16(*register(source), *register(added));
        let gone = _mm512_add_epi16(*register(removed), *register(captured));
        *register_mut(target) = _mm512_sub_epi16(moved, gone);
    }
    let moved = _mm512_add_epi32(*register(&source[head]), *register(&added[head]));
    let gone = _mm512_add_epi32(*register(&removed[head]), *register(&captured[head]));
    *register_mut(&mut target[head]) = _mm512_sub_epi32(moved, gone);
}

/// Register tiling: eight registers hold a tile of the sums while all rows are added to it.
#[target_feature(enable = "avx2,bmi1,avx512f,avx512bw,avx512vl")]
pub(super) fn apply(sums: &mut [I16x32], rows: &[I16x32], added: &[u16], removed: &[u16]) {
    let blocks = sums.len();
    let (tiles, rest) = sums.as_chunks_mut::<8>();
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
        let row = |index: &u16| *register(&rows[start + usize::from(*index) * blocks]);
        let sum = added.iter().fold(*register(head), |sum, index| _mm512_add_epi32(sum, row(index)));
        *register_mut(head) = removed.iter().fold(sum, |sum, index| _mm512_sub_epi32(sum, row(index)));
    }
}

#[target_feature(enable = "avx2,bmi1,avx512f,avx512bw,avx512vl")]
fn apply_tile<const N: usize>(tile: &mut [I16x32; N], rows: &[I16x32], blocks: usize, added: &[u16], removed: &[u16]) {
    let mut sums: [__m512i; N] = array::from_fn(|block| *register(&tile[block]));
    for index in added {
        let row = &rows[usize::from(*index) * blocks..][..N];
        for (sum, row) in sums.iter_mut().zip(row) {
            *sum = _mm512_add_epi16(*sum, *register(row));
        }
    }
    for index in removed {
        let row = &rows[usize::from(*index) * blocks..][..N];
        for (sum, row) in sums.iter_mut().zip(row) {
            *sum = _mm512_sub_epi16(*sum, *register(row));
        }
    }
    for (block, sum) in tile.iter_mut().zip(sums) {
        *register_mut(block) = sum;
    }
}

/// Pairwise multiplication of a group's clipped sums; returns a bit for each non-zero chunk.
#[target_feature(enable = "avx2,bmi1,avx512f,avx512bw,avx512vl")]
fn pairwise_activations(low: &[I16x32], high: &[I16x32], activations: &mut [U8x32]) -> u64 {
    let (low, low_rest) = low.as_chunks::<2>();
    let (high, high_rest) = high.as_chunks::<2>();
    let (activations, activations_rest) = activations.as_chunks_mut::<2>();
    let (mut nonzero, mut place) = (0, 0);
    for ((low, high), activations) in low.iter().zip(high).zip(activations) {
        let ordered = packed(pairwise_product(&low[0], &high[0]), pairwise_product(&low[1], &high[1]));
        // SAFETY: the blocks are 64 bytes together; the store asks for no alignment.
        unsafe { _mm512_storeu_si512(ptr::from_mut(activations).cast(), ordered) };
        nonzero |= u64::from(_mm512_test_epi32_mask(ordered, ordered)) << place;
        place += 16;
    }
    if let ([low], [high], [activations]) = (low_rest, high_rest, activations_rest) {
        let product = pairwise_product(low, high);
        let ordered = _mm512_castsi512_si256(packed(product, product));
        // SAFETY: the block is 32 bytes, aligned to 32.
        unsafe { _mm256_store_si256(ptr::from_mut(activations).cast(), ordered) };
        nonzero |= u64::from(_mm256_test_epi32_mask(ordered, ordered)) << place;
    }
    nonzero
}

/// One factor is shifted up, so that the high half of the 16-bit product is the product shifted
/// down. Only one factor is clipped at zero: the packing clips the product.
#[target_feature(enable = "avx2,bmi1,avx512f,avx512bw,avx512vl")]
fn pairwise_product(low: &I16x32, high: &I16x32) -> __m512i {
    let one = _mm512_set1_epi16(TRANSFORMER_ONE);
    let low = _mm512_max_epi16(_mm512_min_epi16(*register(low), one), _mm512_setzero_si512());
    let shifted = _mm512_slli_epi16::<{ 16 - PAIR_SHIFT }>(low);
    _mm512_mulhi_epi16(shifted, _mm512_min_epi16(*register(high), one))
}

/// Both registers' products as activations, in their order.
#[target_feature(enable = "avx2,bmi1,avx512f,avx512bw,avx512vl")]
fn packed(first: __m512i, second: __m512i) -> __m512i {
    let order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    _mm512_permutexvar_epi64(order, _mm512_packus_epi16(first, second))
}

#[target_feature(enable = "avx2,bmi1,avx512f,avx512bw,avx512vl")]
fn squared_crelu(sums: __m512i) -> __m512i {
    // Unsigned, since `i32::MIN` has no positive counterpart and must count as large.
    let limited = _mm512_min_epu32(_mm512_abs_epi32(sums), _mm512_set1_epi32(SUM_LIMIT));
    _mm512_srli_epi32::<SQUARE_SHIFT>(_mm512_madd_epi16(limited, limited))
}

#[target_feature(enable = "avx2,bmi1,avx512f,avx512bw,avx512vl")]
fn crelu(sums: __m512i) -> __m512i {
    let limited = _mm512_min_epi32(_mm512_max_epi32(sums, _mm512_setzero_si512()), _mm512_set1_epi32(SUM_LIMIT));
    _mm512_srli_epi32::<WEIGHT_SHIFT>(limited)
}

/// The layers, for features that the includer names and with its `dot`.
macro_rules! layers {
    ($features:literal) => {
        pub(in super::super) use super::{add_sub, add_sub_sub, apply};

        #[target_feature(enable = $features)]
        pub(in super::super) fn infer(
            stack: &Stack,
            own: &[I16x32],
            enemy: &[I16x32],
            activations: &mut Activations,
        ) -> i32 {
            match stack.first_bias.len() {
                1 => layers::<1>(stack, own, enemy, activations),
                _ => layers::<2>(stack, own, enemy, activations),
            }
        }

        /// The layers, with 16·`N` neurons in the first.
        #[target_feature(enable = $features)]
        fn layers<const N: usize>(
            stack: &Stack,
            own: &[I16x32],
            enemy: &[I16x32],
            activations: &mut Activations,
        ) -> i32 {
            let half = own.len() / 2;
            let mut words = [(0, 0); 4];
            let mut count = 0;
            let mut block = 0;
            for sums in [own, enemy] {
                let (low, high) = sums.split_at(half);
                for (low, high) in low.chunks(GROUP_BLOCKS).zip(high.chunks(GROUP_BLOCKS)) {
                    words[count] =
                        (pairwise_activations(low, high, &mut activations[block..block + low.len()]), block * 8);
                    block += low.len();
                    count += 1;
                }
            }
            // Four independent sums hide the latency of the dot product.
            let chunks = chunks(activations);
            let weights = stack.first.as_chunks::<N>().0;
            let zero = _mm512_setzero_si512();
            let mut sums: [[__m512i; N]; 4] =
                [array::from_fn(|block| *register(&stack.first_bias[block])), [zero; N], [zero; N], [zero; N]];
            for &(mut word, base) in &words[..count] {
                let chunks = chunks[base..].first_chunk::<GROUP>().expect("no group begins beyond the last");
                let weights = weights[base..].first_chunk::<GROUP>().expect("weights are filled up by a group");
                'word: while word != 0 {
                    for sums in &mut sums {
                        let chunk = word.trailing_zeros() as usize;
                        add_chunk(sums, chunks[chunk], &weights[chunk]);
                        word &= word - 1;
                        if word == 0 {
                            break 'word;
                        }
                    }
                }
            }
            let sums: [__m512i; N] = array::from_fn(|block| {
                let [a, b, c, d] = sums.map(|sums| sums[block]);
                _mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d))
            });
            upper_layers(stack, &sums)
        }

        #[target_feature(enable = $features)]
        fn add_chunk<const N: usize>(sums: &mut [__m512i; N], inputs: i32, weights: &[I8x64; N]) {
            let inputs = _mm512_set1_epi32(inputs);
            for (sum, weights) in sums.iter_mut().zip(weights) {
                *sum = dot(*sum, inputs, *register(weights));
            }
        }

        /// The layers above the first.
        #[target_feature(enable = $features)]
        fn upper_layers<const N: usize>(stack: &Stack, first: &[__m512i; N]) -> i32 {
            // For each block sixteen squares, then sixteen clipped values.
            let inputs =
                first.map(|sums| [_mm512_cvtepi32_epi8(squared_crelu(sums)), _mm512_cvtepi32_epi8(crelu(sums))]);
            let zero = _mm512_setzero_si512();
            let mut outputs = zero;
            let rows = stack.second.chunks_exact(8 * N);
            for ((bias, rows), weights) in stack.second_bias.iter().zip(rows).zip(&stack.output) {
                let mut sums = [*register(bias), zero, zero, zero];
                for (inputs, rows) in inputs.as_flattened().iter().zip(rows.as_chunks::<4>().0) {
                    let inputs = _mm512_broadcast_i32x4(*inputs);
                    sums[0] = dot(sums[0], _mm512_shuffle_epi32::<0x00>(inputs), *register(&rows[0]));
                    sums[1] = dot(sums[1], _mm512_shuffle_epi32::<0x55>(inputs), *register(&rows[1]));
                    sums[2] = dot(sums[2], _mm512_shuffle_epi32::<0xaa>(inputs), *register(&rows[2]));
                    sums[3] = dot(sums[3], _mm512_shuffle_epi32::<0xff>(inputs), *register(&rows[3]));
                }
                let [a, b, c, d] = sums;
                let sums = _mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d));
                // An activation fits 16 bits, with zeros above: the pair's product is its own.
                outputs = _mm512_add_epi32(outputs, _mm512_madd_epi16(crelu(sums), *register(weights)));
            }
            stack.output_bias + _mm512_reduce_add_epi32(outputs)
        }
    };
}
use layers;
