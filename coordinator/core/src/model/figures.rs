//! Statistics of the positions in validated games, counted at validation and added up by job. So no
//! page reads shards.

use serde::{Deserialize, Serialize};

/// Positions by score and by number of pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// Counts by the classes of [`dataset::stats::Figures::scores`].
    pub scores: Vec<i64>,
    /// Counts by the number of pieces on the board.
    pub pieces: Vec<i64>,
    /// Positions without a score.
    pub unscored: i64,
    /// Positions that occurred before in the same shard.
    pub repeated: i64,
}

impl Figures {
    /// The figures of one shard.
    #[must_use]
    pub fn of(figures: &dataset::stats::Figures, repeated: u64) -> Self {
        let whole = |counts: &[u64]| counts.iter().map(|count| *count as i64).collect();
        Self {
            scores: whole(&figures.scores),
            pieces: whole(&figures.pieces),
            unscored: figures.unscored as i64,
            repeated: repeated as i64,
        }
    }

    /// Adds others, or subtracts them if the sign is −1.
    pub fn add(&mut self, others: &Self, sign: i64) {
        for (own, others) in [(&mut self.scores, &others.scores), (&mut self.pieces, &others.pieces)] {
            own.resize(own.len().max(others.len()), 0);
            own.iter_mut().zip(others).for_each(|(own, other)| *own += sign * other);
        }
        self.unscored += sign * others.unscored;
        self.repeated += sign * others.repeated;
    }

    /// Returns the number of counted positions.
    #[must_use]
    pub fn positions(&self) -> i64 {
        self.pieces.iter().sum()
    }

    /// Reads stored figures.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// Serializes the figures for the database.
    #[must_use]
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_figures_can_be_subtracted() {
        let one = Figures { scores: vec![1, 2], pieces: vec![0, 0, 3], unscored: 1, repeated: 2 };
        let mut all = Figures::default();
        all.add(&one, 1);
        all.add(&Figures { scores: vec![5, 5, 5], pieces: vec![15], ..Figures::default() }, 1);
        assert_eq!((all.positions(), all.scores[1]), (18, 7));
        all.add(&one, -1);
        assert_eq!(all, Figures { scores: vec![5, 5, 5], pieces: vec![15, 0, 0], unscored: 0, repeated: 0 });
        assert_eq!(Figures::from_text(&all.to_text()), all);
    }
}
