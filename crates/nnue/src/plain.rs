//! The hand-crafted evaluation of generation zero: material, piece-square values, mobility,
//! threats, king safety.
//!
//! It is linear and tapered: the score is the sum over the features of weight times count, with
//! weights interpolated between full and empty boards. [`visit_features`] enumerates the features
//! for both the evaluation and the fitting of weights. Integers only.

mod features;
mod weights;

use xiangqi::{Color, PieceKind, Position};

pub use features::{FEATURES, Feature, visit_features};
use weights::WEIGHTS;

/// The bound of scores, below those of decided games.
pub const LIMIT: i32 = 20_000;

/// The weights on full and on empty boards, for fitting.
#[must_use]
pub const fn weights() -> &'static [[i16; 2]; FEATURES] {
    &WEIGHTS
}

/// The fullness of the starting position, where only the weights for full boards count.
pub const FULL: i32 = 16;

/// Both weights of a feature packed into one number: one multiplication serves both.
static PACKED: [i64; FEATURES] = {
    let mut packed = [0; FEATURES];
    let mut feature = 0;
    while feature < FEATURES {
        let [full, empty] = WEIGHTS[feature];
        packed[feature] = ((full as i64) << 32) + empty as i64;
        feature += 1;
    }
    packed
};

/// Returns the score for the side to move, in hundredths of a pawn.
#[must_use]
pub fn evaluate(position: &Position) -> i32 {
    let mut sum = 0;
    visit_features(position, |feature, count| sum += PACKED[usize::from(feature)] * i64::from(count));
    let empty = sum as i32;
    let full = ((sum - i64::from(empty)) >> 32) as i32;
    let fullness = fullness(position);
    let score = (full * fullness + empty * (FULL - fullness)) / FULL;
    score.clamp(-LIMIT, LIMIT)
}

/// Returns the game phase from 0 to [`FULL`]: chariots count two, horses and cannons one.
#[must_use]
pub fn fullness(position: &Position) -> i32 {
    let count = |kind| position.by_kind(kind).count() as i32;
    2 * count(PieceKind::Chariot) + count(PieceKind::Horse) + count(PieceKind::Cannon)
}

/// The sign of a side's features in a score for the side to move.
const fn sign(side: Color, turn: Color) -> i32 {
    if side as u8 == turn as u8 { 1 } else { -1 }
}
