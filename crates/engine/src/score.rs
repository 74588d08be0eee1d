//! What a position is worth, in hundredths of a pawn for the side to move, and what lies beyond that.
//!
//! From the top: mates, by their distance; verdicts (a loss by perpetual check or chase is certain once the loop goes
//! on, but somebody could still leave it); and what evaluations may say.

/// A score for the side to move.
pub type Score = i32;

/// The longest line a search looks at.
pub const MAX_PLY: usize = 128;

/// Nobody is better.
pub const DRAW: Score = 0;

/// Beyond all scores.
pub const INFINITE: Score = 32_500;

/// A mate on the board; one in `n` plies is `n` less.
pub const MATE: Score = 32_000;

/// A verdict at once; one in `n` plies is `n` less.
pub const VERDICT: Score = 30_000;

/// The least score that announces a mate.
pub const LEAST_MATE: Score = MATE - MAX_PLY as Score;

/// The least score that announces a verdict.
pub const LEAST_VERDICT: Score = VERDICT - MAX_PLY as Score;

/// What evaluations keep within.
pub const MOST_EVALUATION: Score = 20_000;

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
    score.abs() >= LEAST_VERDICT
}

/// Whether the score announces a verdict, which hangs on the path that led to it.
#[must_use]
pub const fn is_verdict(score: Score) -> bool {
    score.abs() >= LEAST_VERDICT && score.abs() <= VERDICT
}

/// A mate's distance counted from the node instead of the root, for the table.
#[must_use]
pub const fn from_node(score: Score, ply: usize) -> Score {
    if score >= LEAST_MATE {
        score + ply as Score
    } else if score <= -LEAST_MATE {
        score - ply as Score
    } else {
        score
    }
}

/// The inverse of [`from_node`].
#[must_use]
pub const fn from_root(score: Score, ply: usize) -> Score {
    if score >= LEAST_MATE {
        score - ply as Score
    } else if score <= -LEAST_MATE {
        score + ply as Score
    } else {
        score
    }
}
