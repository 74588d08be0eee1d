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
    /// Standard error of that difference, from the covariance of all strengths. None for the first
    /// player, and without games that link the two. It is that of games without draws, and so
    /// slightly too large: draws and pairs reduce the variance.
    pub error: Option<f64>,
    /// Number of games.
    pub games: u64,
}

/// Maximum iterations of the fit.
const MAX_STEPS: u32 = 10_000;

/// Prior: this many drawn games between any two that met keep a perfect score finite.
const PRIOR_DRAWS: f64 = 1.0;

/// Fits the strengths. The first player has 0, and so has one without games; neither has an error.
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
    let errors = errors(&gamma, &met);
    (0..players)
        .map(|one| Strength {
            elo: if met[one].is_empty() { 0.0 } else { elo(gamma[one]) },
            error: errors[one],
            games: games[one],
        })
        .collect()
}

/// The standard errors of the differences to the first player, in Elo. Their covariance matrix is
/// the inverse of the Fisher information of all strengths but the first, which is fixed.
fn errors(gamma: &[f64], met: &[Vec<(usize, f64)>]) -> Vec<Option<f64>> {
    // The players that games link to the first one; others have no difference to it.
    let mut linked = vec![0];
    let mut row_of = vec![None; gamma.len()];
    let mut next = 0;
    while let Some(&one) = linked.get(next).filter(|one| **one < gamma.len()) {
        for &(other, _) in &met[one] {
            if other != 0 && row_of[other].is_none() {
                row_of[other] = Some(linked.len() - 1);
                linked.push(other);
            }
        }
        next += 1;
    }
    let size = linked.len() - 1;
    let mut information = vec![vec![0.0; size]; size];
    for (row, &one) in linked[1..].iter().enumerate() {
        for &(other, count) in &met[one] {
            let chance = gamma[one] / (gamma[one] + gamma[other]);
            let weight = count * chance * (1.0 - chance);
            information[row][row] += weight;
            if let Some(column) = row_of[other] {
                information[row][column] -= weight;
            }
        }
    }
    let variances = inverse_diagonal(information);
    row_of.into_iter().map(|row| Some(400.0 / LN_10 * variances.get(row?)?.sqrt())).collect()
}

/// The diagonal of the inverse of a symmetric positive definite matrix, by its Cholesky factor.
fn inverse_diagonal(mut matrix: Vec<Vec<f64>>) -> Vec<f64> {
    let size = matrix.len();
    for row in 0..size {
        for column in 0..=row {
            let known: f64 = (0..column).map(|at| matrix[row][at] * matrix[column][at]).sum();
            let rest = matrix[row][column] - known;
            matrix[row][column] = if row == column { rest.sqrt() } else { rest / matrix[column][column] };
        }
    }
    // The sum of squares of a column of the factor's inverse, which forward substitution yields.
    (0..size)
        .map(|unit| {
            let mut column = vec![0.0; size];
            for row in unit..size {
                let known: f64 = (unit..row).map(|at| matrix[row][at] * column[at]).sum();
                column[row] = (f64::from(u8::from(row == unit)) - known) / matrix[row][row];
            }
            column.iter().map(|value| value * value).sum()
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
        assert_eq!(found[0].error, None);
    }

    #[test]
    fn strengths_link_players_that_never_met() {
        let found = strengths(4, &[score(1, 0, 6_000.0), score(2, 1, 6_000.0)]);
        assert!((found[2].elo - 2.0 * found[1].elo).abs() < 0.01 && found[1].elo > 70.0, "{found:?}");
        assert_eq!((found[3].elo, found[3].error, found[3].games), (0.0, None, 0));
        // The variance of a sum of two independent differences.
        let [one, two] = [1, 2].map(|player| found[player].error.unwrap().powi(2));
        assert!((two - 2.0 * one).abs() < 0.01, "{found:?}");
        let apart = strengths(4, &[score(1, 0, 6_000.0), score(3, 2, 6_000.0)]);
        assert_eq!([apart[2].error, apart[3].error], [None; 2]);
        assert_eq!(strengths(0, &[]), []);
    }

    /// Standard errors and their intervals are those of repeated tournaments without draws.
    #[test]
    fn errors_are_the_spread_of_repeated_tournaments() {
        const REPEATS: usize = 1_500;
        const GAMES: u64 = 60;
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        // Even players, uneven ones, and a gauntlet of the first against all others.
        let cases = [([0.0; 6], false), ([0.0, 150.0, -100.0, 50.0, -200.0, 100.0], false), ([0.0; 6], true)];
        for (elo, is_gauntlet) in cases {
            let (mut squares, mut errors, mut inside) = ([0.0; 6], [0.0; 6], 0);
            for _ in 0..REPEATS {
                let mut scores = Vec::new();
                for one in 1..6 {
                    for other in 0..if is_gauntlet { 1 } else { one } {
                        let chance = 1.0 / (1.0 + 10.0_f64.powf((elo[other] - elo[one]) / 400.0));
                        let points = (0..GAMES).filter(|_| random() < chance).count() as f64;
                        scores.push(Score { one, other, games: GAMES, points });
                    }
                }
                let found = strengths(6, &scores);
                assert_eq!(found[0].error, None);
                for player in 1..6 {
                    let (deviation, error) = (found[player].elo - elo[player], found[player].error.unwrap());
                    squares[player] += deviation * deviation;
                    errors[player] += error;
                    inside += usize::from(deviation.abs() < 1.96 * error);
                }
            }
            for player in 1..6 {
                let (spread, error) = ((squares[player] / REPEATS as f64).sqrt(), errors[player] / REPEATS as f64);
                assert!((0.93..1.07).contains(&(error / spread)), "player {player} of {elo:?}: {error} for {spread}");
            }
            let coverage = inside as f64 / (5 * REPEATS) as f64;
            assert!((0.935..0.965).contains(&coverage), "{coverage} of the intervals hold the truth");
        }
    }

    #[test]
    fn a_perfect_score_gives_a_finite_strength() {
        let found = strengths(2, &[Score { one: 1, other: 0, games: 20, points: 20.0 }]);
        assert!((200.0..1_000.0).contains(&found[1].elo), "{found:?}");
    }
}
