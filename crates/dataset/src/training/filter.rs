//! Which positions are learned from.

use std::num::NonZeroU32;

use xiangqi::rules::{self, Outcome};

use crate::{
    codec::Ply,
    record::{Reason, Record, Score},
};

/// What is left out. By default nothing is but what has no label or no score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub struct Filter {
    /// Positions in which the side to move is in check.
    pub in_check: bool,
    /// Positions whose move takes something.
    pub captures: bool,
    /// Positions before so many plies of the game, its opening counted.
    pub before_ply: u32,
    /// Scores further from even.
    pub beyond: Option<Score>,
    /// Positions of which the score said that they were won by so much, and which were lost.
    pub contradicting: Option<Score>,
    /// Positions where the natural limit's counter is higher: their scores see a draw that is not on the board.
    pub limit_above: Option<u32>,
    /// Positions that stood before in their game, its opening not counted.
    pub repeated: bool,
    /// Positions that are in their pool already.
    pub duplicates: bool,
    /// Leaves nothing out: games that perpetual check or chase lost count as drawn.
    pub verdicts_as_draws: bool,
}

/// Which games are read: some can be held out, whole, to see what was learned from the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Games {
    /// All of them.
    #[default]
    All,
    /// One in so many, chosen by their seeds.
    HeldOut(NonZeroU32),
    /// The others.
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

/// Why a position was left out; the first of the filter's reasons counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named like the filter's fields")]
pub struct Rejected {
    /// The game ended by its ply cap.
    pub without_label: u64,
    /// The game is not among those read.
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
}

impl Rejected {
    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        let by_game = self.without_label + self.other_games + self.contradicting + self.duplicates;
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
    }
}

impl Filter {
    /// Whether a position is kept as far as its ply tells. `keys` are those of the game's positions before it.
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
        } else if self.beyond.is_some_and(|most| score.abs() > most) {
            &mut rejected.beyond
        } else if self.limit_above.is_some_and(|most| ply.limit.counted() > most) {
            &mut rejected.limit_above
        } else if self.repeated && keys.contains(&position.key()) {
            &mut rejected.repeated
        } else {
            return true;
        };
        *counter += 1;
        false
    }

    /// Whether a game has a label at all.
    pub(super) const fn labels(record: &Record) -> bool {
        record.reason.is_label()
    }

    /// What is learned of a game: how it ended.
    pub(super) fn label(&self, record: &Record) -> Outcome {
        let is_verdict =
            matches!(record.reason, Reason::Rules(rules::Reason::PerpetualCheck | rules::Reason::PerpetualChase));
        if self.verdicts_as_draws && is_verdict { Outcome::Draw } else { record.outcome }
    }

    /// Whether score and result say the opposite. `result` is 1 for a win of the side to move.
    #[inline]
    pub(super) fn contradicts(&self, score: Score, result: i8) -> bool {
        self.contradicting.is_some_and(|least| score.abs() >= least && score.signum() == -Score::from(result))
    }
}

/// 1, 0 or −1 for a side that won, drew or lost.
pub(crate) fn result_for(outcome: Outcome, turn: xiangqi::Color) -> i8 {
    match outcome.loser() {
        None => 0,
        Some(loser) if loser == turn => -1,
        Some(_) => 1,
    }
}
