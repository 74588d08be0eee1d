//! Search results, after each iteration and at the end.

use std::time::Duration;

use xiangqi::Move;

use crate::score::Score;

/// A line of play with its score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The score for the side to move at the root.
    pub score: Score,
    /// Whether the score is only a bound, after an unfinished iteration.
    pub bound: LineBound,
    /// The moves; empty only if there is no legal move.
    pub moves: Vec<Move>,
}

/// The bound type of a line's score.
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
    /// The completed depth.
    pub depth: u32,
    /// The maximum ply reached.
    pub selective_depth: usize,
    /// Nodes of all threads: moves made in main search and quiescence.
    pub nodes: u64,
    /// The elapsed time; zero without a clock.
    pub time: Duration,
    /// The part of the transposition table filled by this search, in thousandths.
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
