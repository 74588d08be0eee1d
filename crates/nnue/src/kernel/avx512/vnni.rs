//! AVX-512 with VNNI.

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

super::layers!("avx2,bmi1,avx512f,avx512bw,avx512vl,avx512vnni");

/// Adds four products to each sum.
#[target_feature(enable = "avx2,bmi1,avx512f,avx512bw,avx512vl,avx512vnni")]
fn dot(sum: __m512i, inputs: __m512i, weights: __m512i) -> __m512i {
    _mm512_dpbusd_epi32(sum, inputs, weights)
}
