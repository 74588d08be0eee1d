//! AVX-512 without VNNI: a product of four is a product of two, twice.

#![allow(clippy::wildcard_imports, reason = "intrinsics, whose names are unmistakable")]

use std::{arch::x86_64::*, array};

use super::{
    super::{
        Activations, GROUP, GROUP_BLOCKS,
        blocks::{I8x64, I16x32},
    },
    chunks, crelu, pairwise_activations, register, squared_crelu,
};
use crate::net::Stack;

super::layers!("avx2,bmi1,avx512f,avx512bw,avx512vl");

/// Adds four products to each sum. Two products of at most 127 · 128 fit 16 bits, so nothing
/// saturates.
#[target_feature(enable = "avx2,bmi1,avx512f,avx512bw,avx512vl")]
fn dot(sum: __m512i, inputs: __m512i, weights: __m512i) -> __m512i {
    let pairs = _mm512_maddubs_epi16(inputs, weights);
    _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)))
}
