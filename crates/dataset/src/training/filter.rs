//! Filters of positions and games.

use std::{num::NonZeroU32, ops::RangeInclusive};

use xiangqi::rules::{self, Outcome};

use super::Sample;
use crate::{
    codec::Ply,
    random::Stream,
    record::{Reason, Record, Score},
};

/// The positions to leave out. By default, only those without a label or a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is independent")]
pub struct Filter {
    /// Positions in which the side to move is in check.
    pub in_check: bool,
    /// Positions whose move is a capture.
    pub captures: bool,
    /// Positions before this ply of the game, the opening counted.
    pub before_ply: u32,
    /// Positions with a score further from zero.
    pub beyond: Option<Score>,
    /// Positions whose game was lost by the side that the score saw winning by at least this.
    pub contradicting: Option<Score>,
    /// Positions with a higher counter of the natural limit: their scores see a draw that is not on
    /// the board.
    pub limit_above: Option<u32>,
    /// Positions that occurred before in their game, the opening not counted.
    pub repeated: bool,
    /// Positions that occurred before in the sets ([`Duplicates`](super::Duplicates)).
    pub duplicates: bool,
    /// Filters nothing: games lost by perpetual check or chase count as drawn.
    pub verdicts_as_draws: bool,
}

/// The share of the draws of some positions that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The share, in hundredths.
    pub percent: u8,
    /// Their numbers of pieces.
    pub pieces: RangeInclusive<u32>,
    /// Their numbers of moves before.
    pub plies: RangeInclusive<u16>,
}

impl Share {
    /// Whether a draw counts.
    pub(super) fn keeps(&self, sample: &Sample, coins: &mut Stream) -> bool {
        let is_described = self.plies.contains(&sample.ply) && self.pieces.contains(&sample.position.count());
        !is_described || coins.below(100) < self.percent.into()
    }
}

/// The games to read: whole games can be held out for validation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Games {
    /// All of them.
    #[default]
    All,
    /// One in this many, selected by their seeds.
    HeldOut(NonZeroU32),
    /// All but those.
    NotHeldOut(NonZeroU32),
}

impl Games {
    /// Whether the game with this seed is read.
    pub(super) fn take(self, seed: u64) -> bool {
        // A seed's low bits are as random as the rest, and the moves do not depend on them alone.
        let is_held_out = |one_in: NonZeroU32| seed.is_multiple_of(one_in.get().into());
        match self {
            Self::All => true,
            Self::HeldOut(one_in) => is_held_out(one_in),
            Self::NotHeldOut(one_in) => !is_held_out(one_in),
        }
    }
}

/// The number of positions left out, by the first of the filter's reasons that applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named like the filter's fields")]
pub struct Rejected {
    /// The game ended by its ply cap.
    pub without_label: u64,
    /// The game is not selected by [`Games`].
    pub other_games: u64,
    /// The move has no score.
    pub without_score: u64,
    pub in_check: u64,
    pub captures: u64,
    pub before_ply: u64,
    pub beyond: u64,
    pub contradicting: u64,
    pub limit_above: u64,
    pub repeated: u64,
    pub duplicates: u64,
    /// This draw does not count ([`Share`]).
    pub shares: u64,
}

impl Rejected {
    /// The total.
    #[must_use]
    pub const fn total(&self) -> u64 {
        let by_game = self.without_label + self.other_games + self.contradicting + self.duplicates + self.shares;
        let by_score = self.without_score + self.beyond;
        by_game + by_score + self.in_check + self.captures + self.before_ply + self.limit_above + self.repeated
    }

    pub(super) const fn add(&mut self, other: &Self) {
        self.without_label += other.without_label;
        self.other_games += other.other_games;
        self.without_score += other.without_score;
        self.in_check += other.in_check;
        self.captures += other.captures;
        self.before_ply += other.before_ply;
        self.beyond += other.beyond;
        self.contradicting += other.contradicting;
        self.limit_above += other.limit_above;
        self.repeated += other.repeated;
        self.duplicates += other.duplicates;
        self.shares += other.shares;
    }
}

impl Filter {
    /// Whether a position is kept, as far as its ply decides. `keys` are those of the game's
    /// earlier positions.
    #[inline]
    pub(super) fn keeps(&self, ply: Ply<'_>, keys: &[u64], rejected: &mut Rejected) -> bool {
        let position = ply.position;
        let Some(score) = ply.scored.score else {
            rejected.without_score += 1;
            return false;
        };
        let counter = if self.in_check && position.in_check() {
            &mut rejected.in_check
        } else if self.captures && position.piece_at(ply.scored.mv.to()).is_some() {
            &mut rejected.captures
        } else if ply.number <= self.before_ply as usize {
            &mut rejected.before_ply
        } else if self.beyond.is_some_and(|max| score.abs() > max) {
            &mut rejected.beyond
        } else if self.limit_above.is_some_and(|max| ply.limit.counted() > max) {
            &mut rejected.limit_above
        } else if self.repeated && keys.contains(&position.key()) {
            &mut rejected.repeated
        } else {
            return true;
        };
        *counter += 1;
        false
    }

    /// Whether a game has a label.
    pub(super) const fn labels(record: &Record) -> bool {
        record.reason.is_label()
    }

    /// The label of a game: its outcome.
    pub(super) fn label(&self, record: &Record) -> Outcome {
        let is_verdict =
            matches!(record.reason, Reason::Rules(rules::Reason::PerpetualCheck | rules::Reason::PerpetualChase));
        if self.verdicts_as_draws && is_verdict { Outcome::Draw } else { record.outcome }
    }

    /// Whether score and result contradict each other. `result` is 1 for a win of the side to move.
    #[inline]
    pub(super) fn contradicts(&self, score: Score, result: i8) -> bool {
        self.contradicting.is_some_and(|min| score.abs() >= min && score.signum() == -Score::from(result))
    }
}

/// The result for a side: 1, 0 or −1 for a win, draw or loss.
pub(crate) fn result_for(outcome: Outcome, turn: xiangqi::Color) -> i8 {
    match outcome.loser() {
        None => 0,
        Some(loser) if loser == turn => -1,
        Some(_) => 1,
    }
}
