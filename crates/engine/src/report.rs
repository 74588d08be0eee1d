//! What a search tells while it runs and when it ends.

use std::time::Duration;

use xiangqi::Move;

use crate::score::Score;

/// A line of play and what it is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The score for the side to move at the root.
    pub score: Score,
    /// Whether the score is only a bound: some iteration was cut off in the middle.
    pub bound: LineBound,
    /// The moves; empty only if there is no legal move.
    pub moves: Vec<Move>,
}

/// What a line's score says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineBound {
    /// The score itself.
    Exact,
    /// At least the score.
    AtLeast,
    /// At most the score.
    AtMost,
}

/// The state of a search after an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The depth that was completed.
    pub depth: u32,
    /// The deepest ply that was looked at.
    pub selective_depth: usize,
    /// Positions reached by a move, in main search and quiescence, by all threads.
    pub nodes: u64,
    /// How long it took; zero if nobody asked for the time.
    pub time: Duration,
    /// How much of the table this search has filled, in thousandths.
    pub table_fullness: u32,
    /// The best lines, best first.
    pub lines: Vec<Line>,
}

impl Report {
    /// The best move, if there is a legal one.
    #[must_use]
    pub fn best_move(&self) -> Option<Move> {
        self.lines.first()?.moves.first().copied()
    }

    /// The best line's score.
    #[must_use]
    pub fn score(&self) -> Option<Score> {
        Some(self.lines.first()?.score)
    }
}
