//! The score→result scale: the winning probability of a score, in the games it comes from.
//!
//! An evaluation's unit drifts from net to net: one net's 100 wins more often than the next one's.
//! One scale for the games of several nets would mislabel all of them. So each entry of a manifest
//! has its own, fitted on its own games. It is the `s` of the logistic model `1 / (1 + exp(-score /
//! s))` with the maximum likelihood, a draw counting half.
//!
//! A manifest's hash depends on it. So the sums are integers, and the rest uses a software `exp` in
//! a fixed order: equal games give equal bits on every machine.

use crate::record::Score;

/// The width of a class of scores.
const WIDTH: usize = 10;

/// Larger scores belong to decided games and do not determine the unit.
const MAX_COUNTED_SCORE: Score = 3_000;

/// The results by class of score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Twice the points and twice the number of games, by the class of the score's distance from
    /// zero.
    classes: Vec<[u64; 2]>,
}

impl Default for Scale {
    fn default() -> Self {
        Self { classes: vec![[0; 2]; MAX_COUNTED_SCORE as usize / WIDTH + 1] }
    }
}

impl Scale {
    /// Adds a score; `result` is 1, 0 or −1 for a win, draw or loss of the side it is for.
    pub fn add(&mut self, score: Score, result: i8) {
        if score.abs() > MAX_COUNTED_SCORE {
            return;
        }
        // By symmetry, a loss with a negative score counts as a win with a positive one.
        let points = if score < 0 { 1 - i64::from(result) } else { 1 + i64::from(result) };
        let class = &mut self.classes[score.unsigned_abs() as usize / WIDTH];
        class[0] += points as u64;
        class[1] += 2;
    }

    /// The scale in tenths; `None` if the scores do not predict the results.
    #[must_use]
    pub fn fit(&self) -> Option<u32> {
        // Bisection: the likelihood has one maximum, where its slope changes sign. The bounds are 1
        // and 10,000 hundredths of a pawn.
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

    /// The slope of the likelihood: positive if a larger scale is likelier.
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
