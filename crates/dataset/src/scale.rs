//! The score→result scale: how sure a score of a hundred is, in the games it comes from.
//!
//! An evaluation's unit drifts from net to net: what one calls 100 wins more often than what the next calls 100. One
//! scale for games of several nets would mislabel all of them, so each entry of a manifest has its own, fitted on its
//! own games: the `s` for which `1 / (1 + exp(-score / s))`, a draw counting half, has the greatest likelihood.
//!
//! No record, move or digest depends on it, but a manifest's hash does. So the sums are taken in whole numbers, and the
//! rest with a software `exp`, always in the same order: the same games give the same bits on every machine.

use crate::record::Score;

/// Scores are counted by their distance from even, in classes of so many.
const WIDTH: usize = 10;

/// Scores beyond are of games that are decided, and say nothing of the unit.
const MOST: Score = 3_000;

/// How often a score of each class went with each result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Twice the points scored, and twice the number of games, by the class of the score's distance from even.
    classes: Vec<[u64; 2]>,
}

impl Default for Scale {
    fn default() -> Self {
        Self { classes: vec![[0; 2]; MOST as usize / WIDTH + 1] }
    }
}

impl Scale {
    /// Counts a score; `result` is 1, 0 or −1 for a win, draw or loss of whoever has it.
    pub fn add(&mut self, score: Score, result: i8) {
        if score.abs() > MOST {
            return;
        }
        // Both sides' views are one: a lost score below zero is a won one above.
        let points = if score < 0 { 1 - i64::from(result) } else { 1 + i64::from(result) };
        let class = &mut self.classes[score.unsigned_abs() as usize / WIDTH];
        class[0] += points as u64;
        class[1] += 2;
    }

    /// The scale, in tenths; `None` if the scores say nothing of the results.
    #[must_use]
    pub fn fit(&self) -> Option<u32> {
        // The likelihood has one top; its slope there changes sign. Between 1 and 10,000 hundredths of a pawn.
        let (mut low, mut high) = (10_u32, 100_000_u32);
        if self.slope(low) <= 0.0 || self.slope(high) >= 0.0 {
            return None;
        }
        while high - low > 1 {
            let middle = low.midpoint(high);
            if self.slope(middle) > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(low)
    }

    /// Which way the likelihood grows: positive if a larger scale is likelier.
    fn slope(&self, tenths: u32) -> f64 {
        let scale = f64::from(tenths) / 10.0;
        let mut slope = 0.0;
        for (class, [points, count]) in self.classes.iter().enumerate() {
            let score = (class * WIDTH) as f64 + (WIDTH - 1) as f64 / 2.0;
            let expected = 1.0 / (1.0 + libm::exp(-score / scale));
            slope += score * (*count as f64 * expected - *points as f64);
        }
        slope
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Stream, Use};

    #[test]
    fn the_scale_of_games_that_follow_one_is_found() {
        let mut scale = Scale::default();
        let mut stream = Stream::new(Use::BookOrder, 1, 1);
        for _ in 0..200_000 {
            let score = stream.below(1_201) as Score - 600;
            let wins = 1.0 / (1.0 + libm::exp(-f64::from(score) / 250.0));
            let won = (stream.below(1 << 20) as f64) < wins * f64::from(1 << 20);
            scale.add(score, if won { 1 } else { -1 });
        }
        let found = scale.fit().unwrap();
        assert!((2_400..2_600).contains(&found), "{found}");
    }

    #[test]
    fn scores_that_say_nothing_have_no_scale() {
        assert_eq!(Scale::default().fit(), None);
        let mut scale = Scale::default();
        for score in [-300, 300] {
            scale.add(score, 1);
            scale.add(score, -1);
        }
        assert_eq!(scale.fit(), None);
        let mut scale = Scale::default();
        scale.add(500, 1);
        assert_eq!(scale.fit(), None, "certain");
    }
}
