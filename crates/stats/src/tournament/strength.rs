//! Bradley–Terry strengths, fitted by maximum likelihood; a draw is half a win and half a loss.

use std::f64::consts::LN_10;

/// The result between two players.
#[derive(Clone, Copy, Debug)]
pub struct Score {
    /// The scoring player.
    pub one: usize,
    /// The other player.
    pub other: usize,
    /// Number of games.
    pub games: u64,
    /// Points of the scoring player.
    pub points: f64,
}

/// The strength of a player.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Strength {
    /// Elo relative to the first player.
    pub elo: f64,
    /// Standard error, given the others' strengths and games without draws. Slightly too large:
    /// draws and pairs reduce the variance.
    pub error: Option<f64>,
    /// Number of games.
    pub games: u64,
}

/// Maximum iterations of the fit.
const MAX_STEPS: u32 = 10_000;

/// Prior: this many drawn games between any two that met keep a perfect score finite.
const PRIOR_DRAWS: f64 = 1.0;

/// Fits the strengths; the first player has 0, and so has one without games, which has no error.
#[must_use]
pub fn strengths(players: usize, scores: &[Score]) -> Vec<Strength> {
    let mut points = vec![0.0; players];
    let mut games = vec![0; players];
    let mut met = vec![Vec::new(); players];
    for score in scores {
        let count = score.games as f64 + PRIOR_DRAWS;
        points[score.one] += score.points + PRIOR_DRAWS / 2.0;
        points[score.other] += score.games as f64 - score.points + PRIOR_DRAWS / 2.0;
        for (one, other) in [(score.one, score.other), (score.other, score.one)] {
            met[one].push((other, count));
            games[one] += score.games;
        }
    }
    // Minorize–maximize (Hunter 2004, MM algorithms for generalized Bradley-Terry models): each
    // step increases the likelihood.
    let mut gamma = vec![1.0_f64; players];
    for _ in 0..MAX_STEPS {
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
    fn strengths_link_players_that_never_met() {
        let found = strengths(4, &[score(1, 0, 6_000.0), score(2, 1, 6_000.0)]);
        assert!((found[2].elo - 2.0 * found[1].elo).abs() < 0.01 && found[1].elo > 70.0, "{found:?}");
        assert_eq!((found[3].elo, found[3].error, found[3].games), (0.0, None, 0));
    }

    #[test]
    fn a_perfect_score_gives_a_finite_strength() {
        let found = strengths(2, &[Score { one: 1, other: 0, games: 20, points: 20.0 }]);
        assert!((200.0..1_000.0).contains(&found[1].elo), "{found:?}");
    }
}
