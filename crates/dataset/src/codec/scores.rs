//! Which score, given those before it.
//!
//! Searches of two players who look at one game: what the opponent said a ply ago and what was said oneself two plies
//! ago lie to both sides of what is said now. How far they differ, and how restless the last plies were, says how far off
//! it will be. Three scores are asked for first: zero, what the opponent said, what was said before.

use super::{
    coder::Coder,
    slots::{AS_BEFORE, AS_OPPONENT, FRACTION, MAGNITUDE, SIGN, Slots, UNSCORED, ZERO},
};
use crate::record::{MOST_SCORE, Score, ScoredMove};

/// From here on a score announces the end of the game, and the next one is as good as known.
const DECIDED: Score = 29_800;

/// The last scores of a game, the newest first, from the view of whoever said them; a move without one counts as zero.
#[derive(Clone, Copy, Default)]
pub(super) struct Said {
    scores: [Score; 4],
    count: u32,
    unscored: bool,
}

impl Said {
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

/// What stands in the circumstances of a score.
struct Context {
    /// From the view of the side to move: what the opponent said last, what was said oneself, and so on.
    opponent: Score,
    before: Score,
    zeros: usize,
    /// Which of the last scores were alike.
    alike: usize,
    decided: bool,
    gap: usize,
    unrest: usize,
}

impl Context {
    #[inline]
    fn new(said: Said) -> Self {
        let [s1, s2, s3, s4] = said.scores;
        let a = -s1;
        let b = if said.count >= 2 { s2 } else { a };
        let c = if said.count >= 3 { -s3 } else { b };
        let d = if said.count >= 4 { s4 } else { b };
        let gap = (a - b).abs();
        let unrest = ((b - d).abs() + (a - c).abs() + gap) / 3;
        let alike =
            |one: bool, two: bool, three: bool| usize::from(one) | usize::from(two) << 1 | usize::from(three) << 2;
        Self {
            opponent: a,
            before: b,
            zeros: alike(a == 0, b == 0, c == 0),
            alike: alike(said.count >= 2 && a == b, said.count >= 3 && b == c, said.count >= 3 && a == c),
            decided: a.abs() >= DECIDED,
            gap: length(gap),
            unrest: length(unrest),
        }
    }

    /// Around which the score is expected.
    #[inline]
    const fn center(&self) -> Score {
        if self.decided { self.opponent } else { (self.opponent * 5 + self.before * 3) >> 3 }
    }
}

/// What was read is beyond all scores.
pub(super) struct Beyond;

/// A move's score, if it has one.
#[inline]
pub(super) fn code<C: Coder>(
    coder: &mut C,
    slots: &mut Slots,
    said: Said,
    known: Option<ScoredMove>,
) -> Result<Option<Score>, Beyond> {
    let unscored = known.is_some_and(|known| known.score.is_none());
    if coder.bit(slots, UNSCORED + usize::from(said.unscored), unscored) {
        return Ok(None);
    }
    let known = known.and_then(|known| known.score).unwrap_or(0);
    let context = Context::new(said);
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
    if score.abs() <= MOST_SCORE { Ok(Some(score)) } else { Err(Beyond) }
}

/// How far a score is from where it was expected: its class, which has two to a power of two; its sign; what lies
/// between its class and itself.
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

/// The class of a number: 0 to 3 are their own; above there are two to a power of two.
#[inline]
const fn class(size: u32) -> u32 {
    if size < 4 {
        return size;
    }
    let top = size.ilog2();
    top << 1 | size >> (top - 1) & 1
}

/// How long a number is in bits, one less, at most ten.
#[inline]
fn length(number: Score) -> usize {
    (31_u32.saturating_sub(number.leading_zeros()) as usize).min(10)
}
