//! The net, declared once. Reader, inference and trainer take every constant from here.
//!
//! # Inputs
//!
//! Each side sees the board from its own end ([`View`]): own and enemy pieces, its own first rank at the bottom, and
//! mirrored left to right so that its king stands on the d or e file; on the e file the enemy king is then not on the f
//! file. An input says that a piece stands on one of [`PIECE_POINTS`] points in one of the net's *buckets*. What tells
//! buckets apart is the net's choice ([`Inputs`]): the own king's place, of which there are [`KING_PLACES`], alone, or with it
//! what the own side has left to attack with ([`Attackers`]). About thirty inputs are on at a time.
//!
//! # Arithmetic
//!
//! `W` is [`Sizes::width`], `L1` [`Sizes::first`], `L2` [`Sizes::second`]. Everything is an exact integer operation;
//! `>>` rounds down, `/` towards zero. The loader proves that every sum fits its type ([`Overflow`](crate::Overflow)).
//!
//! 1. *Transformer.* For each side, `a` = bias + the rows of the inputs that are on: `W` values of 16 bits, 1.0 being
//!    [`TRANSFORMER_ONE`]. Sums may wrap on the way (an update adds before it has subtracted); what counts is that the
//!    result fits, for 16-bit addition is exact modulo 2¹⁶.
//! 2. *Pairs.* With `c = clamp(a, 0, 255)`, `x[i] = (c[i] · c[i + W/2]) >> 9`: `W/2` values from 0 to 127. The side to
//!    move comes first, then the other: `W` values, 1.0 being [`ACTIVATION_ONE`].
//! 3. *First layer.* `s = bias + Σ weight · x`, `L1` sums of 32 bits; weights of 8 bits, 1.0 being [`WEIGHT_ONE`]. Each
//!    sum goes on twice: its square, `min(|s|, 8191)² >> 19`, and clipped, `clamp(s, 0, 8191) >> 6`. All `L1` squares come
//!    first, then the `L1` clipped values.
//! 4. *Second layer.* `r = bias + Σ weight · y` over these `2·L1`; `L2` sums, clipped like the others.
//! 5. *Output.* `o = bias + Σ weight · z`, one sum of 32 bits; weights of 16 bits. It counts 1/256 of a score's unit.
//! 6. *Piece-square head.* For each side `p` = the sum of the 32-bit head weights of the inputs that are on, in 1/256 of a
//!    unit.
//! 7. *Score.* `(2·o + p(side to move) − p(other)) / 512`, clamped to ±[`SCORE_LIMIT`]: from the side to move, a pawn
//!    near 100.
//!
//! Layers 3 to 5 and the head's columns exist once per stack; the stack is chosen by material ([`stack`]).

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
pub use view::{KING_PLACES, View};

pub(crate) use points::point;

/// What 1.0 is in the transformer's sums, and where they are clipped.
pub const TRANSFORMER_ONE: i16 = 255;

/// How far the product of a pair is shifted down: 255² >> 9 is 127.
pub const PAIR_SHIFT: u32 = 9;

/// What 1.0 is in an activation that enters a layer. No activation is greater, so that two products of it with weights
/// of 8 bits never exceed 16.
pub const ACTIVATION_ONE: i32 = 127;

/// What 1.0 is in a weight of 8 bits.
pub const WEIGHT_ONE: i32 = 1 << WEIGHT_SHIFT;

/// How far a layer's sum is shifted down to become an activation.
pub const WEIGHT_SHIFT: u32 = 6;

/// The greatest sum that a layer's activation tells from greater ones: 8191 >> 6 is 127.
pub const SUM_LIMIT: i32 = ((ACTIVATION_ONE + 1) << WEIGHT_SHIFT) - 1;

/// How far a squared sum is shifted down: 8191² >> 19 is 127.
pub const SQUARE_SHIFT: u32 = 19;

/// How many parts of a score's unit the output and the piece-square head count.
pub const OUTPUT_ONE: i32 = 256;

/// No score is beyond: scores of mates and verdicts are the engine's, and lie outside.
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
