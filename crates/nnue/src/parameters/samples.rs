//! Generated nets, for tests and benchmarks.

use xiangqi::{Color, Piece, PieceKind, Square, attacks};

use super::Parameters;
use crate::architecture::{OUTPUT_ONE, PIECE_POINTS, Sizes, point};

/// The `SplitMix64` generator, equal on every platform.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Draws uniformly from `-limit..=limit`.
    fn within(&mut self, limit: i32) -> i32 {
        ((self.next() % (2 * limit as u64 + 1)) as i64 - i64::from(limit)) as i32
    }
}

/// The magnitudes of a generated net's parameters.
struct Magnitudes {
    transformer_bias: (i32, i32),
    transformer: i32,
    head: i32,
    first_bias: i32,
    first: i32,
    second_bias: i32,
    second: i32,
    output_bias: i32,
    output: i32,
}

/// Magnitudes at which some sums of each kind saturate, some vanish, and most lie between.
const LIVELY: Magnitudes = Magnitudes {
    transformer_bias: (0, 200),
    transformer: 60,
    head: 100_000,
    first_bias: 8_000,
    first: 24,
    second_bias: 8_000,
    second: 60,
    output_bias: 1_000_000,
    output: 600,
};

/// The largest magnitudes that pass the proof: 32 rows of 1,000 and a bias of 700 fit 16 bits.
const EXTREME: Magnitudes = Magnitudes {
    transformer_bias: (0, 700),
    transformer: 1_000,
    head: 60_000_000,
    first_bias: 2_000_000_000,
    first: 127,
    second_bias: 2_000_000_000,
    second: 127,
    output_bias: 1_800_000_000,
    output: 32_767,
};

/// Magnitudes as in trained nets: few active pairs, and small outputs beside the head.
const SPARSE: Magnitudes = Magnitudes {
    transformer_bias: (-60, 20),
    transformer: 40,
    head: 0,
    first_bias: 4_000,
    first: 20,
    second_bias: 4_000,
    second: 40,
    output_bias: 0,
    output: 10,
};

impl Parameters {
    /// A net of random numbers, deterministic by seed. Every fourth seed yields extreme magnitudes.
    #[must_use]
    pub fn random(sizes: Sizes, seed: u64) -> Self {
        let magnitudes = if seed % 4 == 3 { &EXTREME } else { &LIVELY };
        let mut parameters = filled(sizes, seed, magnitudes);
        parameters.description = format!("random numbers, seed {seed}");
        parameters
    }

    /// A net whose head counts material by piece-square values. Its layers have small random
    /// numbers, with the activation sparsity of a trained net: searches with it grow sensible
    /// trees.
    #[must_use]
    pub fn from_piece_values(sizes: Sizes, seed: u64) -> Self {
        let mut parameters = filled(sizes, seed, &SPARSE);
        parameters.description = format!("piece values, and small random numbers, seed {seed}");
        parameters.count_material();
        parameters
    }

    /// A net that counts material by piece-square values and is zero elsewhere. A campaign may
    /// begin with it, so that its first gate tests whether anything was learned.
    #[must_use]
    pub fn only_piece_values(sizes: Sizes) -> Self {
        let mut parameters = Self::zero(sizes);
        "piece values, and nothing else".clone_into(&mut parameters.description);
        parameters.count_material();
        parameters
    }

    fn count_material(&mut self) {
        let sizes = self.sizes;
        for piece in Piece::ALL {
            let sign = if piece.color() == Color::Red { 1 } else { -1 };
            for square in attacks::home(piece) {
                let Some(point) = point(piece, square) else { continue };
                let weight = sign * OUTPUT_ONE * value(piece, square);
                for bucket in 0..sizes.inputs().buckets() {
                    let row = (bucket * PIECE_POINTS + point) * sizes.stacks();
                    self.head[row..row + sizes.stacks()].fill(weight);
                }
            }
        }
    }
}

/// Returns the value of a piece on a point, in hundredths of a pawn.
fn value(piece: Piece, square: Square) -> i32 {
    let seen = if piece.color() == Color::Red { square } else { square.flipped() };
    let (file, rank) = (i32::from(seen.file()), i32::from(seen.rank()));
    let off_centre = (file - 4).abs();
    match piece.kind() {
        PieceKind::Chariot => 900 + 4 * rank.min(6) - 2 * off_centre,
        PieceKind::Horse => 390 + 6 * rank.min(6) - 6 * off_centre,
        PieceKind::Cannon => 450 + 2 * rank - 3 * off_centre,
        PieceKind::Pawn if rank < 5 => 90 + 10 * (rank - 3),
        PieceKind::Pawn if rank == 9 => 120,
        PieceKind::Pawn => 200 + 8 * (rank - 5) - 10 * off_centre,
        PieceKind::Advisor => 205 - 5 * off_centre,
        PieceKind::Elephant => 205 - 3 * off_centre,
        PieceKind::King => -20 * rank - 10 * off_centre,
    }
}

fn filled(sizes: Sizes, seed: u64, magnitudes: &Magnitudes) -> Parameters {
    let mut numbers = Numbers(seed);
    let mut parameters = Parameters::zero(sizes);
    let (centre, spread) = magnitudes.transformer_bias;
    parameters.transformer_bias.fill_with(|| (centre + numbers.within(spread)) as i16);
    parameters.transformer.fill_with(|| numbers.within(magnitudes.transformer) as i16);
    parameters.head.fill_with(|| numbers.within(magnitudes.head));
    for stack in &mut parameters.stacks {
        stack.first_bias.fill_with(|| numbers.within(magnitudes.first_bias));
        stack.first.fill_with(|| numbers.within(magnitudes.first) as i8);
        stack.second_bias.fill_with(|| numbers.within(magnitudes.second_bias));
        stack.second.fill_with(|| numbers.within(magnitudes.second) as i8);
        stack.output_bias = numbers.within(magnitudes.output_bias);
        stack.output.fill_with(|| numbers.within(magnitudes.output) as i16);
    }
    parameters
}
