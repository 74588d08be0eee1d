//! Distributions of positions by score and by number of pieces.

use crate::{codec::Ply, record::Score};

/// The last class of scores, in hundreds.
const MAX_CLASS: Score = 20;

/// The number of score classes.
pub const SCORE_CLASSES: usize = 2 * MAX_CLASS as usize + 2;

/// The number of piece classes: from no pieces to all 32.
pub const PIECE_CLASSES: usize = 33;

/// Distributions of positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    /// By score for the side to move, in hundreds of units, rounded down: the first class is below
    /// −2,000, the last from 2,000 on.
    pub scores: [u64; SCORE_CLASSES],
    /// By number of pieces.
    pub pieces: [u64; PIECE_CLASSES],
    /// The number of positions without a score.
    pub unscored: u64,
}

impl Default for Figures {
    fn default() -> Self {
        Self { scores: [0; SCORE_CLASSES], pieces: [0; PIECE_CLASSES], unscored: 0 }
    }
}

impl Figures {
    /// Counts the position in which a move was made.
    pub fn add(&mut self, ply: &Ply<'_>) {
        self.pieces[ply.position.occupied().count() as usize] += 1;
        match ply.scored.score {
            Some(score) => self.scores[class_of(score)] += 1,
            None => self.unscored += 1,
        }
    }

    /// The lowest score of a class; for the unbounded first class, a hundred below its end.
    #[must_use]
    pub const fn min_score(class: usize) -> Score {
        (class as Score - MAX_CLASS - 1) * 100
    }
}

fn class_of(score: Score) -> usize {
    (score.div_euclid(100).clamp(-MAX_CLASS - 1, MAX_CLASS) + MAX_CLASS + 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_of_a_hundred() {
        for (score, min) in [
            (0, 0),
            (99, 0),
            (-1, -100),
            (-100, -100),
            (1_999, 1_900),
            (2_000, 2_000),
            (9_999, 2_000),
            (-2_001, -2_100),
            (-9_999, -2_100),
        ] {
            assert_eq!(Figures::min_score(class_of(score)), min, "{score}");
        }
    }
}
