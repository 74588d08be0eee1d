//! The strengths that explain results best (Bradley and Terry's model; a draw is half a win and half a loss).

use std::f64::consts::LN_10;

/// What one player got from another.
#[derive(Clone, Copy, Debug)]
pub struct Score {
    /// Who got the points.
    pub one: usize,
    /// From whom.
    pub other: usize,
    /// In how many games.
    pub games: u64,
    /// How many points.
    pub points: f64,
}

/// How strong a player is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strength {
    /// Relative to the first player.
    pub elo: f64,
    /// The standard error if all others' strengths were known and games were won or lost: a little too much, for draws
    /// and pairs make results steadier.
    pub error: Option<f64>,
    /// In how many games it was seen.
    pub games: u64,
}

/// Results are found so often at most.
const MOST_STEPS: u32 = 10_000;

/// Whoever won all games is not infinitely strong: every two who met have drawn as many games as this besides.
const DRAWN_BESIDES: f64 = 1.0;

/// The strengths of so many players, the first of whom has 0. Who has met nobody has 0 too, and no error.
#[must_use]
pub fn strengths(players: usize, scores: &[Score]) -> Vec<Strength> {
    let mut points = vec![0.0; players];
    let mut games = vec![0; players];
    let mut met = vec![Vec::new(); players];
    for score in scores {
        let count = score.games as f64 + DRAWN_BESIDES;
        points[score.one] += score.points + DRAWN_BESIDES / 2.0;
        points[score.other] += score.games as f64 - score.points + DRAWN_BESIDES / 2.0;
        for (one, other) in [(score.one, score.other), (score.other, score.one)] {
            met[one].push((other, count));
            games[one] += score.games;
        }
    }
    // Each step makes what was seen likelier (Hunter 2004, MM algorithms for generalized Bradley-Terry models).
    let mut gamma = vec![1.0_f64; players];
    for _ in 0..MOST_STEPS {
        let mut change = 0.0_f64;
        for one in 0..players {
            let expected: f64 = met[one].iter().map(|&(other, count)| count / (gamma[one] + gamma[other])).sum();
            if expected > 0.0 {
                let next = points[one] / expected;
                change = change.max((next / gamma[one]).ln().abs());
                gamma[one] = next;
            }
        }
        if change < 1e-10 {
            break;
        }
    }
    let first = gamma.first().copied().unwrap_or(1.0);
    let elo = |gamma: f64| 400.0 * (gamma / first).log10();
    (0..players)
        .map(|one| {
            let chance = |other: usize| gamma[one] / (gamma[one] + gamma[other]);
            let known: f64 = met[one].iter().map(|&(other, count)| count * chance(other) * (1.0 - chance(other))).sum();
            let error = (known > 0.0).then(|| 400.0 / LN_10 / known.sqrt());
            Strength { elo: if met[one].is_empty() { 0.0 } else { elo(gamma[one]) }, error, games: games[one] }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(one: usize, other: usize, points: f64) -> Score {
        Score { one, other, games: 10_000, points }
    }

    #[test]
    fn three_of_four_points_are_190_elo() {
        let found = strengths(2, &[score(1, 0, 7_500.0)]);
        assert!(found[0].elo.abs() < 1e-9 && (found[1].elo - 190.8).abs() < 0.1, "{found:?}");
        assert!((found[1].error.unwrap() - 400.0 / LN_10 / 1875.0_f64.sqrt()).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn what_is_known_of_others_says_something_of_those_who_never_met() {
        let found = strengths(4, &[score(1, 0, 6_000.0), score(2, 1, 6_000.0)]);
        assert!((found[2].elo - 2.0 * found[1].elo).abs() < 0.01 && found[1].elo > 70.0, "{found:?}");
        assert_eq!((found[3].elo, found[3].error, found[3].games), (0.0, None, 0));
    }

    #[test]
    fn who_won_everything_is_strong_and_not_infinitely_so() {
        let found = strengths(2, &[Score { one: 1, other: 0, games: 20, points: 20.0 }]);
        assert!((200.0..1_000.0).contains(&found[1].elo), "{found:?}");
    }
}
