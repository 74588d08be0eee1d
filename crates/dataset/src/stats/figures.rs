//! What positions are like: their scores and how many pieces they have.

use crate::{codec::Ply, record::Score};

/// Where the table of scores ends: in hundreds.
const MOST_CLASS: Score = 20;

/// So many classes of scores there are.
pub const SCORE_CLASSES: usize = 2 * MOST_CLASS as usize + 2;

/// So many numbers of pieces: from none to all.
pub const PIECE_CLASSES: usize = 33;

/// Counts of positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    /// By their score for the side to move, in hundreds of units rounded down: the first class is below −2,000, the last
    /// from 2,000 on.
    pub scores: [u64; SCORE_CLASSES],
    /// By how many pieces are on the board.
    pub pieces: [u64; PIECE_CLASSES],
    /// Without a score.
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

    /// The least score of a class; of the first class, whose scores have no least, a hundred below its end.
    #[must_use]
    pub const fn least_score(class: usize) -> Score {
        (class as Score - MOST_CLASS - 1) * 100
    }
}

fn class_of(score: Score) -> usize {
    (score.div_euclid(100).clamp(-MOST_CLASS - 1, MOST_CLASS) + MOST_CLASS + 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_of_a_hundred() {
        for (score, least) in [
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
            assert_eq!(Figures::least_score(class_of(score)), least, "{score}");
        }
    }
}
