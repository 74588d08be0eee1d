//! The net architecture, declared once. Reader, inference and trainer take every constant from
//! here.
//!
//! # Inputs
//!
//! Each side sees the board from its own perspective ([`View`]): own and enemy pieces, its first
//! rank at the bottom. The board is mirrored so that the own king stands on the d or e file. If it
//! is on the e file, the enemy king is not on the f file. An input is a piece on one of
//! [`PIECE_POINTS`] points in one of the net's *buckets*. Buckets are king buckets, the
//! [`KING_BUCKETS`] places of the own king, optionally times the own side's [`Attackers`]
//! ([`Inputs`]). About 30 inputs are active.
//!
//! # Arithmetic
//!
//! `W` is [`Sizes::width`], `L1` [`Sizes::first`], `L2` [`Sizes::second`]. All operations are exact
//! integer operations; `>>` rounds down, `/` towards zero. The loader proves that every sum fits
//! its type ([`Overflow`](crate::Overflow)).
//!
//! 1. *Feature transformer.* For each side the accumulator `a` = bias + the rows of the active
//!    inputs: `W` values of 16 bits, 1.0 being [`TRANSFORMER_ONE`]. Intermediate sums may wrap, as
//!    an update adds before it subtracts; the result is exact, since it fits and addition is modulo
//!    2¹⁶.
//! 2. *Pairwise multiplication.* With the clipped ReLU `c = clamp(a, 0, 255)`,
//!    `x[i] = (c[i] · c[i + W/2]) >> 9`: `W/2` values from 0 to 127. The side to move comes first,
//!    then the other: `W` values, 1.0 being [`ACTIVATION_ONE`].
//! 3. *First layer.* `s = bias + Σ weight · x`, `L1` sums of 32 bits; weights of 8 bits, 1.0 being
//!    [`WEIGHT_ONE`]. Two activations of each sum: squared (SqrCReLU), `min(|s|, 8191)² >> 19`, and
//!    clipped (CReLU), `clamp(s, 0, 8191) >> 6`. All `L1` squares come first, then the `L1` clipped
//!    values.
//! 4. *Second layer.* `r = bias + Σ weight · y` over these `2·L1`; `L2` sums, clipped as above.
//! 5. *Output.* `o = bias + Σ weight · z`, one sum of 32 bits in 1/256 of a score's unit; weights
//!    of 16 bits.
//! 6. *Piece-square head* (PSQT). For each side `p` = the sum of the 32-bit head weights of the
//!    active inputs, in 1/256 of a unit.
//! 7. *Score.* `(2·o + p(side to move) − p(other)) / 512`, clamped to ±[`SCORE_LIMIT`]: for the
//!    side to move, a pawn near 100.
//!
//! Layers 3 to 5 and the head's columns exist once per stack (output bucket), which material
//! selects ([`stack`]).

mod attackers;
mod inputs;
mod points;
mod sizes;
mod stacks;
mod view;

pub use attackers::Attackers;
pub use inputs::{Inputs, ParseInputsError};
pub use points::PIECE_POINTS;
pub use sizes::{Sizes, SizesError};
pub use stacks::{stack, stack_of_pieces};
pub use view::{KING_BUCKETS, View};

pub(crate) use points::point;

/// The value of 1.0 in the transformer's sums, and their upper clipping bound.
pub const TRANSFORMER_ONE: i16 = 255;

/// The right shift of pairwise products: 255² >> 9 is 127.
pub const PAIR_SHIFT: u32 = 9;

/// The value of 1.0 in an activation, and its maximum: two products with 8-bit weights fit 16 bits.
pub const ACTIVATION_ONE: i32 = 127;

/// The value of 1.0 in an 8-bit weight.
pub const WEIGHT_ONE: i32 = 1 << WEIGHT_SHIFT;

/// The right shift from a layer's sum to an activation.
pub const WEIGHT_SHIFT: u32 = 6;

/// The upper clipping bound of a layer's sums: 8191 >> 6 is 127.
pub const SUM_LIMIT: i32 = ((ACTIVATION_ONE + 1) << WEIGHT_SHIFT) - 1;

/// The right shift of squared sums: 8191² >> 19 is 127.
pub const SQUARE_SHIFT: u32 = 19;

/// The units of the output and of the piece-square head per unit of the score.
pub const OUTPUT_ONE: i32 = 256;

/// The bound of scores; mates and verdicts of the engine lie outside.
pub const SCORE_LIMIT: i32 = 20_000;

/// The score that an output sum and the two piece-square sums make.
#[must_use]
pub(crate) fn score(output: i32, own_head: i32, enemy_head: i32) -> i32 {
    let doubled = 2 * i64::from(output) + i64::from(own_head) - i64::from(enemy_head);
    let score = doubled / i64::from(2 * OUTPUT_ONE);
    score.clamp(i64::from(-SCORE_LIMIT), i64::from(SCORE_LIMIT)) as i32
}

const _: () = {
    let one = TRANSFORMER_ONE as i32;
    assert!((one * one) >> PAIR_SHIFT == ACTIVATION_ONE);
    assert!(SUM_LIMIT >> WEIGHT_SHIFT == ACTIVATION_ONE);
    assert!((SUM_LIMIT * SUM_LIMIT) >> SQUARE_SHIFT == ACTIVATION_ONE);
};
