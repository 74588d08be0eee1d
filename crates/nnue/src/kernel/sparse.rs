//! Which of the first layer's inputs are worth a visit. Inputs are visited four at a time, a chunk; about two chunks in
//! three are all zeros.

/// A bit for each chunk of one side's activations that is not all zeros: up to 128.
pub(super) type Mask = [u64; 2];

/// Words of bits, each with the chunk that its lowest bit stands for: those of the side to move, then the other's. A
/// side has `chunks` chunks.
#[inline]
pub(super) fn words(own: Mask, enemy: Mask, chunks: usize) -> [(u64, usize); 4] {
    if chunks <= 32 {
        // Both in one word: one loop, one guess at where it ends.
        [(own[0] | enemy[0] << chunks, 0), (0, 0), (0, 0), (0, 0)]
    } else {
        [(own[0], 0), (own[1], 64), (enemy[0], chunks), (enemy[1], chunks + 64)]
    }
}
