//! Scores: hundredths of a pawn for the side to move, and the ranges of decided games.
//!
//! From the top: mates by their distance, verdicts by their distance, evaluations. A verdict is a
//! loss by perpetual check or chase. It ranks below a mate, since a player can still leave the
//! cycle.

/// A score for the side to move.
pub type Score = i32;

/// The maximum ply of a search.
pub const MAX_PLY: usize = 128;

/// An even score.
pub const DRAW: Score = 0;

/// Greater than any score.
pub const INFINITE: Score = 32_500;

/// A mate on the board; one in `n` plies is `n` less.
pub const MATE: Score = 32_000;

/// An immediate verdict; one in `n` plies is `n` less.
pub const VERDICT: Score = 30_000;

/// The lowest score that announces a mate.
pub const MIN_MATE: Score = MATE - MAX_PLY as Score;

/// The lowest score that announces a verdict.
pub const MIN_VERDICT: Score = VERDICT - MAX_PLY as Score;

/// The bound of evaluations.
pub const MAX_EVALUATION: Score = 20_000;

/// Lost by mate after this many plies from the root.
#[must_use]
pub const fn mated_in(ply: usize) -> Score {
    ply as Score - MATE
}

/// Won by mate after this many plies from the root.
#[must_use]
pub const fn mate_in(ply: usize) -> Score {
    MATE - ply as Score
}

/// Whether the score announces a mate or a verdict for either side.
#[must_use]
pub const fn is_decided(score: Score) -> bool {
    score.abs() >= MIN_VERDICT
}

/// Whether the score announces a verdict, which depends on the path.
#[must_use]
pub const fn is_verdict(score: Score) -> bool {
    score.abs() >= MIN_VERDICT && score.abs() <= VERDICT
}

/// Converts a mate score from root distance to node distance, for the transposition table.
#[must_use]
pub const fn from_node(score: Score, ply: usize) -> Score {
    if score >= MIN_MATE {
        score + ply as Score
    } else if score <= -MIN_MATE {
        score - ply as Score
    } else {
        score
    }
}

/// The inverse of [`from_node`].
#[must_use]
pub const fn from_root(score: Score, ply: usize) -> Score {
    if score >= MIN_MATE {
        score - ply as Score
    } else if score <= -MIN_MATE {
        score + ply as Score
    } else {
        score
    }
}
