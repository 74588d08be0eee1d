//! Coding of a score, in the context of those before it.
//!
//! Both players search the same game: the opponent's score a ply ago and the own score two plies
//! ago bracket the next. Their distance, and the volatility of the last plies, predict the error.
//! Three likely scores are tried first: zero, the opponent's, the own one before.

use super::{
    coder::Coder,
    slots::{AS_BEFORE, AS_OPPONENT, FRACTION, MAGNITUDE, SIGN, Slots, UNSCORED, ZERO},
};
use crate::record::{MAX_SCORE, Score, ScoredMove};

/// From here on a score announces the end of the game, and the next is all but certain.
const DECIDED: Score = 29_800;

/// The last scores of a game, the newest first, each from its own player's view; a missing score
/// counts as zero.
#[derive(Clone, Copy, Default)]
pub(super) struct Previous {
    scores: [Score; 4],
    count: u32,
    unscored: bool,
}

impl Previous {
    #[inline]
    pub(super) const fn then(self, score: Option<Score>) -> Self {
        let [newest, second, third, _] = self.scores;
        let now = match score {
            Some(score) => score,
            None => 0,
        };
        let count = if self.count < 4 { self.count + 1 } else { 4 };
        Self { scores: [now, newest, second, third], count, unscored: score.is_none() }
    }
}

/// The context of a score.
struct Context {
    /// From the view of the side to move: the opponent's last score, the own one before, and so on.
    opponent: Score,
    before: Score,
    zeros: usize,
    /// Which of the last scores are equal.
    alike: usize,
    decided: bool,
    gap: usize,
    unrest: usize,
}

impl Context {
    #[inline]
    fn new(previous: Previous) -> Self {
        let [s1, s2, s3, s4] = previous.scores;
        let a = -s1;
        let b = if previous.count >= 2 { s2 } else { a };
        let c = if previous.count >= 3 { -s3 } else { b };
        let d = if previous.count >= 4 { s4 } else { b };
        let gap = (a - b).abs();
        let unrest = ((b - d).abs() + (a - c).abs() + gap) / 3;
        let alike =
            |one: bool, two: bool, three: bool| usize::from(one) | usize::from(two) << 1 | usize::from(three) << 2;
        Self {
            opponent: a,
            before: b,
            zeros: alike(a == 0, b == 0, c == 0),
            alike: alike(previous.count >= 2 && a == b, previous.count >= 3 && b == c, previous.count >= 3 && a == c),
            decided: a.abs() >= DECIDED,
            gap: length(gap),
            unrest: length(unrest),
        }
    }

    /// The expected score.
    #[inline]
    const fn center(&self) -> Score {
        if self.decided { self.opponent } else { (self.opponent * 5 + self.before * 3) >> 3 }
    }
}

/// The decoded score is out of range.
pub(super) struct Beyond;

/// Codes a move's score, if it has one.
#[inline]
pub(super) fn code<C: Coder>(
    coder: &mut C,
    slots: &mut Slots,
    previous: Previous,
    known: Option<ScoredMove>,
) -> Result<Option<Score>, Beyond> {
    let unscored = known.is_some_and(|known| known.score.is_none());
    if coder.bit(slots, UNSCORED + usize::from(previous.unscored), unscored) {
        return Ok(None);
    }
    let known = known.and_then(|known| known.score).unwrap_or(0);
    let context = Context::new(previous);
    if coder.bit(slots, ZERO + context.zeros, known == 0) {
        return Ok(Some(0));
    }
    let (a, b) = (context.opponent, context.before);
    let index = (context.alike << 1 | usize::from(context.decided)) * 11 + context.gap;
    if a != 0 && coder.bit(slots, AS_OPPONENT + index, known == a) {
        return Ok(Some(a));
    }
    if b != 0 && a != b && coder.bit(slots, AS_BEFORE + index, known == b) {
        return Ok(Some(b));
    }
    let score = context.center() + code_difference(coder, slots, &context, known - context.center());
    if score.abs() <= MAX_SCORE { Ok(Some(score)) } else { Err(Beyond) }
}

/// Codes the difference from the expected score: its class (two per power of two), its sign, and
/// the offset within the class.
#[inline]
fn code_difference<C: Coder>(coder: &mut C, slots: &mut Slots, context: &Context, known: Score) -> Score {
    let known_size = known.unsigned_abs();
    let known_class = class(known_size);
    let tree = MAGNITUDE + 32 * if context.decided { 121 } else { context.gap * 11 + context.unrest };
    let class = coder.tree(slots, tree, 5, known_class);
    let size = if class < 4 { class } else { code_within(coder, slots, class, known_size) };
    if size == 0 {
        return 0;
    }
    let order = (context.opponent - context.before).signum() + 1;
    let index = SIGN + (order as usize * 11 + context.gap) * 9 + (class as usize / 2).min(8);
    if coder.bit(slots, index, known > 0) { size as Score } else { -(size as Score) }
}

#[inline]
fn code_within<C: Coder>(coder: &mut C, slots: &mut Slots, class: u32, known: u32) -> u32 {
    let mut below = class / 2 - 1;
    let mut size = 2 | class & 1;
    if below > 0 {
        below -= 1;
        size = size << 1 | u32::from(coder.bit(slots, FRACTION + class as usize, known >> below & 1 == 1));
    }
    size << below | coder.raw(below, known & ((1 << below) - 1))
}

/// The class of a number: 0 to 3 are their own; above, two per power of two.
#[inline]
const fn class(size: u32) -> u32 {
    if size < 4 {
        return size;
    }
    let top = size.ilog2();
    top << 1 | size >> (top - 1) & 1
}

/// The length of a number in bits, less one, at most ten.
#[inline]
fn length(number: Score) -> usize {
    (31_u32.saturating_sub(number.leading_zeros()) as usize).min(10)
}
