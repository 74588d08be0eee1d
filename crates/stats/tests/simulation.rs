//! Thousands of small tests of players of known strength: error rates and lengths.

use stats::{Counts, Decision, EloModel, Hypotheses, Overshoot, PairResult, Pentanomial, Sprt};

const RUNS: u32 = 2_000;
const PAIRS_PER_BATCH: usize = 8;

/// Three deviations of a rate of 5 % in [`RUNS`] tests.
const NOISE: f64 = 0.015;

/// `SplitMix64`: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn pair(&mut self, chances: [f64; 5]) -> PairResult {
        let mut point = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        for (result, chance) in PairResult::ALL.into_iter().zip(chances) {
            if point < chance {
                return result;
            }
            point -= chance;
        }
        PairResult::TwoWins
    }
}

/// Probabilities as counts so large that rounding is negligible.
fn player_counts(chances: [f64; 5]) -> Pentanomial {
    Pentanomial::new(chances.map(|chance| (chance * 1e12) as u64))
}

/// The result probabilities of a player with this normalised Elo, from a family that shifts the
/// probabilities of neighbours.
fn player(elo: f64) -> [f64; 5] {
    let shifted = |x: f64| [0.04 - x / 4.0, 0.22 - x, 0.48, 0.22 + x, 0.04 + x / 4.0];
    let elo_of = |chances| Counts::from(player_counts(chances)).normalized_elo().elo;
    let (mut low, mut high) = (-0.15, 0.15);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if elo_of(shifted(middle)) < elo { low = middle } else { high = middle }
    }
    shifted(low)
}

/// The error rate and the number of games of one decision rule.
#[derive(Default)]
struct Outcome {
    wrong: u32,
    games: u64,
}

impl Outcome {
    fn add(&mut self, wrong: bool, counts: Pentanomial) {
        self.wrong += u32::from(wrong);
        self.games += counts.games();
    }

    fn error_rate(&self) -> f64 {
        f64::from(self.wrong) / f64::from(RUNS)
    }

    fn mean_games(&self) -> f64 {
        self.games as f64 / f64::from(RUNS)
    }
}

/// The same games decided within Wald's bounds, and within the corrected ones.
fn simulate(test: &Sprt, elo: f64, seed: u64) -> (Outcome, Outcome) {
    let (chances, mut random) = (player(elo), Random(seed));
    let wrong = if elo <= test.hypotheses().elo0() { Decision::AcceptH1 } else { Decision::AcceptH0 };
    let (mut plain, mut corrected) = (Outcome::default(), Outcome::default());
    for _ in 0..RUNS {
        let (mut counts, mut overshoot) = (Pentanomial::default(), Overshoot::default());
        let mut open = true;
        loop {
            counts.extend((0..PAIRS_PER_BATCH).map(|_| random.pair(chances)));
            let llr = test.llr(counts).expect("a usual hypothesis has a solution");
            overshoot.observe(llr);
            let verdict = test.decide_corrected(llr, &overshoot);
            if open && verdict != Decision::Continue {
                corrected.add(verdict == wrong, counts);
                open = false;
            }
            // The corrected bounds are the narrower ones, so both have decided here.
            let verdict = test.decide(llr);
            if verdict != Decision::Continue {
                plain.add(verdict == wrong, counts);
                break;
            }
        }
    }
    (plain, corrected)
}

#[test]
fn errors_are_as_rare_as_promised() {
    let hypotheses = Hypotheses::new(0.0, 40.0).unwrap();
    let test = Sprt::new(EloModel::Normalized, hypotheses);
    for (elo, seed) in [(hypotheses.elo0(), 1), (hypotheses.elo1(), 2)] {
        let (plain, corrected) = simulate(&test, elo, seed);
        let expected = test.expected_games(player_counts(player(elo))).unwrap();
        println!("{elo}: {:.4} wrong in {:.1} games without correction", plain.error_rate(), plain.mean_games());
        println!(
            "{elo}: {:.4} wrong in {:.1} games, expected {expected:.1}",
            corrected.error_rate(),
            corrected.mean_games()
        );
        // Without correction the bounds are overshot: fewer errors than allowed, at the price of
        // more games.
        assert!(plain.error_rate() < 0.05 + NOISE && plain.mean_games() > 1.05 * corrected.mean_games());
        assert!((corrected.error_rate() - 0.05).abs() < NOISE);
        assert!((corrected.mean_games() / expected - 1.0).abs() < 0.06);
    }
}

#[test]
fn unequal_error_rates_are_kept_apart() {
    let hypotheses = Hypotheses::new(-20.0, 30.0).unwrap();
    let test = Sprt::new(EloModel::Normalized, hypotheses).with_error_rates(0.02, 0.15).unwrap();
    let alpha = simulate(&test, hypotheses.elo0(), 3).1.error_rate();
    let beta = simulate(&test, hypotheses.elo1(), 4).1.error_rate();
    // Three deviations again: 0.0094 and 0.024.
    assert!((alpha - 0.02).abs() < 0.0094 && (beta - 0.15).abs() < 0.024, "{alpha} {beta}");
}
