//! The evaluation for generation zero, when there is no net: material, piece-square, mobility, threats and king safety.
//!
//! It is linear: a position's score is the sum over its features of weight times count, between a weight for full
//! boards and one for empty ones. [`features`](visit_features) names the features once for both readers: the
//! evaluation, which adds up weights, and whoever fits the weights, who wants the counts. Integers only.

mod features;
mod weights;

use xiangqi::{Color, PieceKind, Position};

pub use features::{FEATURES, Feature, visit_features};
use weights::WEIGHTS;

/// Scores are clamped to this, below anything that stands for a decided game.
pub const LIMIT: i32 = 20_000;

/// The weights as they are, on full and on empty boards: for whoever fits them.
#[must_use]
pub const fn weights() -> &'static [[i16; 2]; FEATURES] {
    &WEIGHTS
}

/// The material at which the weights for full boards hold alone.
pub const FULL: i32 = 16;

/// Both weights of a feature in one number, so that one multiplication and one addition serve both.
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

/// The position's score for the side to move, in hundredths of a pawn.
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

/// How full the board is, from 0 to [`FULL`]: chariots count two, horses and cannons one.
#[must_use]
pub fn fullness(position: &Position) -> i32 {
    let count = |kind| position.by_kind(kind).count() as i32;
    2 * count(PieceKind::Chariot) + count(PieceKind::Horse) + count(PieceKind::Cannon)
}

/// The sign of a side's features in a score for the side to move.
const fn sign(side: Color, turn: Color) -> i32 {
    if side as u8 == turn as u8 { 1 } else { -1 }
}
