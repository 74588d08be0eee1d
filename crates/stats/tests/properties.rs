//! Properties of all counts: symmetry, order, finiteness, and independence of order and batches.

use proptest::prelude::*;
use stats::{
    Counts, Decision, EloEstimate, EloModel, GameResult, Hypotheses, Outlook, PairResult, Pentanomial, Sprt, Trinomial,
};

/// Counts of every size up to 10¹², often zero.
fn cell() -> impl Strategy<Value = u64> {
    prop_oneof![2 => Just(0), 3 => 1..30u64, 4 => (0.0..12.0f64).prop_map(|x| 10f64.powf(x) as u64)]
}

fn counts() -> impl Strategy<Value = Counts> {
    prop_oneof![
        3 => [cell(), cell(), cell(), cell(), cell()].prop_map(|cells| Pentanomial::new(cells).into()),
        1 => [cell(), cell(), cell()].prop_map(|cells| Trinomial::new(cells).into()),
    ]
}

fn model() -> impl Strategy<Value = EloModel> {
    prop_oneof![Just(EloModel::Logistic), Just(EloModel::Normalized)]
}

/// Hypotheses as used in practice.
fn usual_test() -> impl Strategy<Value = Sprt> {
    (model(), -60.0..60.0f64, 0.5..60.0f64).prop_map(|(model, elo0, width)| {
        Sprt::new(model, Hypotheses::new(elo0, elo0 + width).expect("hypotheses in order"))
    })
}

/// Any valid test.
fn any_test() -> impl Strategy<Value = Sprt> {
    let elo = || prop_oneof![-10.0..10.0f64, -500.0..500.0f64, -2_000.0..2_000.0f64];
    (model(), elo(), elo(), 1e-9..0.499f64, 1e-9..0.499f64).prop_filter_map(
        "too close",
        |(model, a, b, alpha, beta)| {
            Sprt::new(model, Hypotheses::new(a.min(b), a.max(b)).ok()?).with_error_rates(alpha, beta).ok()
        },
    )
}

/// Two cells of a pentanomial.
fn worse_and_better() -> impl Strategy<Value = (usize, usize)> {
    (1..5usize).prop_flat_map(|better| (0..better, Just(better)))
}

fn with_one_more(mut cells: [u64; 5], cell: usize) -> Pentanomial {
    cells[cell] += 1;
    Pentanomial::new(cells)
}

fn observations(counts: Counts) -> f64 {
    counts.cells().iter().map(|&count| count as f64).sum()
}

fn check_estimate(EloEstimate { elo, elo_low, elo_high, los }: EloEstimate) -> Result<(), TestCaseError> {
    prop_assert!(elo_low.is_finite() && elo_high.is_finite());
    prop_assert!(elo_low <= elo && elo <= elo_high, "{elo_low} {elo} {elo_high}");
    prop_assert!((0.0..=1.0).contains(&los));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_ever_infinite_or_not_a_number(counts in counts(), test in any_test()) {
        if let Ok(llr) = test.llr(counts) {
            prop_assert!(llr.is_finite());
            let Outlook { games_to_go, chance_of_h1 } = test.outlook(counts).unwrap();
            prop_assert!(games_to_go >= 0.0 && games_to_go.is_finite(), "{games_to_go}");
            prop_assert!((0.0..=1.0).contains(&chance_of_h1), "{chance_of_h1}");
            let expected = test.expected_games(counts).unwrap();
            prop_assert!(expected >= 0.0 && expected.is_finite(), "{expected}");
        }
        check_estimate(test.estimate(counts))?;
        check_estimate(counts.logistic_elo())?;
        check_estimate(counts.normalized_elo())?;
    }

    #[test]
    fn usual_hypotheses_always_have_an_answer(counts in counts(), test in usual_test()) {
        prop_assert!(test.llr(counts).is_ok());
    }

    #[test]
    fn the_opponent_sees_the_negative(counts in counts(), test in usual_test()) {
        let opponent = Sprt::new(test.model(), test.hypotheses().reversed());
        let (llr, mirrored) = (test.llr(counts).unwrap(), opponent.llr(counts.reversed()).unwrap());
        let rounding = 1e-9 * llr.abs() + 1e-13 * observations(counts) + 1e-12;
        prop_assert!((llr + mirrored).abs() <= rounding, "{llr} {mirrored}");
        let (here, there) = (counts.logistic_elo(), counts.reversed().logistic_elo());
        prop_assert!((here.elo + there.elo).abs() < 1e-9 && (here.elo_low + there.elo_high).abs() < 1e-9);
    }

    /// A theorem for logistic Elo: the LLR moves by ln(q1/q0) of a result, which rises with its
    /// score.
    #[test]
    fn a_better_pair_is_never_evidence_against(
        cells in [0..3000u64, 0..3000u64, 0..3000u64, 0..3000u64, 0..3000u64],
        elo0 in -60.0..60.0f64, width in 0.5..60.0f64, (worse, better) in worse_and_better(),
    ) {
        let test = Sprt::new(EloModel::Logistic, Hypotheses::new(elo0, elo0 + width).unwrap());
        let (before, after) = (test.llr(with_one_more(cells, worse)), test.llr(with_one_more(cells, better)));
        prop_assert!(before.unwrap() < after.unwrap());
    }

    /// Normalised Elo penalises variance, so the same holds only where results are not lopsided:
    /// σ² > |μ − ½|/2, with margin for the hypotheses.
    #[test]
    fn a_better_pair_is_never_evidence_against_in_normalized_elo_near_equality(
        cells in [500..1500u64, 500..1500u64, 500..1500u64, 500..1500u64, 500..1500u64],
        elo0 in -20.0..20.0f64, width in 0.5..20.0f64, (worse, better) in worse_and_better(),
    ) {
        let test = Sprt::new(EloModel::Normalized, Hypotheses::new(elo0, elo0 + width).unwrap());
        let (before, after) = (test.llr(with_one_more(cells, worse)), test.llr(with_one_more(cells, better)));
        prop_assert!(before.unwrap() < after.unwrap());
    }

    #[test]
    fn merging_is_associative_and_commutative(a in any::<[u64; 5]>(), b in any::<[u64; 5]>(), c in any::<[u64; 5]>()) {
        let [a, b, c] = [a, b, c].map(Pentanomial::new);
        prop_assert_eq!(a.merge(b).merge(c), a.merge(b.merge(c)));
        prop_assert_eq!(a.merge(b), b.merge(a));
        prop_assert_eq!(a.merge(b).reversed(), a.reversed().merge(b.reversed()));
        prop_assert_eq!(a.merge(Pentanomial::default()), a);
    }

    #[test]
    fn batches_leave_no_trace(
        pairs in prop::collection::vec(prop::sample::select(PairResult::ALL.to_vec()), 0..400),
        sizes in prop::collection::vec(1..40usize, 1..40), test in usual_test(),
    ) {
        let at_once: Pentanomial = pairs.iter().copied().collect();
        let (mut rest, mut batches) = (pairs.as_slice(), Vec::new());
        for size in sizes.iter().cycle() {
            let (batch, later) = rest.split_at(rest.len().min(*size));
            batches.push(batch.iter().copied().collect::<Pentanomial>());
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        let backwards = batches.iter().rev().fold(Pentanomial::default(), |sum, batch| sum.merge(*batch));
        prop_assert_eq!(backwards, at_once);
        prop_assert_eq!(test.llr(backwards), test.llr(at_once));
        prop_assert_eq!(test.decision(backwards), test.decision(at_once));
    }

    /// With three results the distributions of a given normalised Elo are a line. Its best point
    /// can be searched for, with d, the share of draws, up to 1/(1 + t²):
    ///
    /// (w − l)² = t²(1 − d)/(1 + t²).
    #[test]
    fn single_games_agree_with_a_search_along_the_line(
        cells in [1..2000u64, 1..2000u64, 1..2000u64], elo0 in -60.0..60.0f64, width in 0.5..60.0f64,
    ) {
        let test = Sprt::new(EloModel::Normalized, Hypotheses::new(elo0, elo0 + width).unwrap());
        let best = |elo: f64| {
            let t = elo * std::f64::consts::LN_10 / 800.0;
            let likelihood = |draws: f64| {
                let decided = 1.0 - draws;
                let lead = t.signum() * (t * t * decided / (1.0 + t * t)).sqrt();
                let q = [f64::midpoint(decided, -lead), draws, f64::midpoint(decided, lead)];
                q.iter().zip(cells).map(|(q, count)| count as f64 * q.max(1e-300).ln()).sum::<f64>()
            };
            let (mut low, mut high) = (0.0, 1.0 / (1.0 + t * t));
            for _ in 0..200 {
                let (left, right) = (low + (high - low) * 0.4, low + (high - low) * 0.6);
                if likelihood(left) < likelihood(right) { low = left } else { high = right }
            }
            likelihood(f64::midpoint(low, high))
        };
        let (llr, searched) = (test.llr(Trinomial::new(cells)).unwrap(), best(elo0 + width) - best(elo0));
        prop_assert!((llr - searched).abs() < 1e-6 * searched.abs() + 1e-8, "{llr} {searched}");
    }
}

#[test]
fn normalized_elo_may_pay_for_a_second_win() {
    // Among draws a pair won twice adds more noise than lead: the better result is worth less.
    let (one_win, two_wins) = (Pentanomial::new([0, 1, 1000, 5, 0]), Pentanomial::new([0, 1, 1000, 4, 1]));
    let llr = |model| {
        let test = Sprt::new(model, Hypotheses::new(0.0, 50.0).unwrap());
        (test.llr(one_win).unwrap(), test.llr(two_wins).unwrap())
    };
    let (before, after) = llr(EloModel::Normalized);
    assert!(before > after + 1.0);
    let (before, after) = llr(EloModel::Logistic);
    assert!(before < after);
}

#[test]
fn pairs_say_more_than_their_games() {
    // The same 400 games: where openings decide, every second game offsets its pair.
    let pairs = Pentanomial::new([0, 0, 180, 20, 0]);
    let games: Trinomial = [(GameResult::Loss, 90), (GameResult::Draw, 200), (GameResult::Win, 110)]
        .into_iter()
        .flat_map(|(result, count)| std::iter::repeat_n(result, count))
        .collect();
    assert_eq!((pairs.games(), games.games()), (400, 400));
    assert!((pairs.score() - games.score()).abs() < 1e-4);
    let test = Sprt::new(EloModel::Logistic, Hypotheses::new(0.0, 15.0).unwrap());
    assert_eq!(test.decision(pairs), Ok(Decision::AcceptH1));
    assert_eq!(test.decision(games), Ok(Decision::Continue));
}
