//! The gate: a sequential probability ratio test (SPRT) of a candidate.
//!
//! A decision is a function of the test, its batch size and the results of the pairs in the order
//! of their numbers. Players and order of arrival do not matter. The test looks after every whole
//! batch of the prefix without a gap, and after the last pair of the match. Its first decision is
//! final.

use protocol::campaign::Gate;
use serde::{Deserialize, Serialize};
use stats::{Counts, Decision, EloEstimate, NoSolution, Overshoot, PairResult, Pentanomial, Sprt};

/// The verdict of a match.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Number of evaluated pairs.
    pub pairs: u64,
    /// Their results for the candidate.
    pub counts: Pentanomial,
    /// Their log-likelihood ratio (LLR).
    pub llr: f64,
    /// Lower and upper bound of the LLR, corrected for overshoot.
    pub bounds: (f64, f64),
    /// Decision of the test on these pairs.
    pub decision: Decision,
}

/// The verdict with which a match was closed, as it is stored.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Decided {
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The Elo of its pairs; none before the first pair, and in matches of older versions.
    #[serde(default)]
    pub elo: Option<EloEstimate>,
}

/// Runs the SPRT over the pairs of a match. The last batch may be smaller than the others.
///
/// # Errors
///
/// If the hypotheses are so extreme that the test has no solution.
pub fn judge(test: &Sprt, plan: &Gate, pairs: &[u8]) -> Result<Verdict, NoSolution> {
    let (mut counts, mut overshoot) = (Pentanomial::default(), Overshoot::default());
    let bounds = test.bounds();
    let mut verdict =
        Verdict { pairs: 0, counts, llr: 0.0, bounds: (bounds.lower, bounds.upper), decision: Decision::Continue };
    let batch_pairs = plan.batch_pairs.max(1) as usize;
    let is_over = pairs.len() >= plan.most_pairs as usize;
    for batch in pairs.chunks(batch_pairs).filter(|batch| is_over || batch.len() == batch_pairs) {
        for &pair in batch {
            counts.add(result_of(pair));
        }
        let llr = test.llr(counts)?;
        overshoot.observe(llr);
        let bounds = overshoot.narrow(test.bounds());
        verdict = Verdict {
            pairs: verdict.pairs + batch.len() as u64,
            counts,
            llr,
            bounds: (bounds.lower, bounds.upper),
            decision: test.decide_corrected(llr, &overshoot),
        };
        if verdict.decision != Decision::Continue {
            break;
        }
    }
    Ok(verdict)
}

/// Evaluates all pairs of a match of fixed length, without a decision.
///
/// # Errors
///
/// As [`judge`].
pub fn undecided(test: &Sprt, counts: Pentanomial) -> Result<Verdict, NoSolution> {
    let bounds = test.bounds();
    let llr = if counts.games() > 0 { test.llr(counts)? } else { 0.0 };
    let bounds = (bounds.lower, bounds.upper);
    Ok(Verdict { pairs: counts.pairs(), counts, llr, bounds, decision: Decision::Continue })
}

/// Returns the LLR after batches of evaluated pairs, thinned to about `max_points` and the last.
/// Only these points are computed, since each is costly.
///
/// # Errors
///
/// As [`judge`].
pub fn curve(test: &Sprt, batch_pairs: u32, pairs: &[u8], max_points: usize) -> Result<Vec<(u64, f64)>, NoSolution> {
    let batches = pairs.chunks(batch_pairs.max(1) as usize);
    let (step, last) = (batches.len().div_ceil(max_points.max(1)).max(1), batches.len().saturating_sub(1));
    let (mut counts, mut done, mut curve) = (Pentanomial::default(), 0, Vec::new());
    for (place, batch) in batches.enumerate() {
        for &pair in batch {
            counts.add(result_of(pair));
        }
        done += batch.len() as u64;
        if place % step == 0 || place == last {
            curve.push((done, test.llr(counts)?));
        }
    }
    Ok(curve)
}

/// The Elo of a match wherever it is shown; none before the first pair. A sequential test corrects
/// for its early end.
#[must_use]
pub fn elo(test: Option<&Sprt>, counts: Pentanomial) -> Option<EloEstimate> {
    let estimate = || test.map_or_else(|| Counts::from(counts).logistic_elo(), |test| test.estimate(counts));
    (counts.games() > 0).then(estimate).filter(|elo| elo.elo_low.is_finite() && elo.elo_high.is_finite())
}

/// Counts the results of pairs.
#[must_use]
pub fn counts(pairs: &[u8]) -> Pentanomial {
    let mut counts = Pentanomial::default();
    for &pair in pairs {
        counts.add(result_of(pair));
    }
    counts
}

fn result_of(pair: u8) -> PairResult {
    const ALL: [PairResult; 5] = PairResult::ALL;
    ALL[usize::from(pair.min(4))]
}

#[cfg(test)]
mod tests {
    use stats::{EloModel, Hypotheses};

    use super::*;

    fn plan(batch_pairs: u32, most_pairs: u32) -> Gate {
        Gate { batch_pairs, most_pairs, ..Gate::default() }
    }

    fn test() -> Sprt {
        Sprt::new(EloModel::Normalized, Hypotheses::new(0.0, 50.0).expect("they are apart"))
    }

    #[test]
    fn the_first_decision_is_final() {
        let mut pairs = [2, 3, 3, 4, 2, 3, 2, 3].repeat(40);
        let early = judge(&test(), &plan(8, 10_000), &pairs).unwrap();
        assert_eq!(early.decision, Decision::AcceptH1);
        assert!(early.pairs < 320 && early.pairs.is_multiple_of(8), "{early:?}");
        pairs.extend([0].repeat(1_000));
        assert_eq!(judge(&test(), &plan(8, 10_000), &pairs).unwrap(), early);
    }

    #[test]
    fn an_unfinished_batch_is_ignored() {
        let pairs = [2, 3, 3, 4, 2, 3, 2, 3].repeat(2);
        let whole = judge(&test(), &plan(8, 10_000), &pairs).unwrap();
        assert_eq!((whole.pairs, whole.decision), (16, Decision::Continue));
        let more = [&pairs[..], &[0; 7]].concat();
        assert_eq!(judge(&test(), &plan(8, 10_000), &more).unwrap(), whole);
        assert_ne!(judge(&test(), &plan(8, 10_000), &[&more[..], &[0]].concat()).unwrap(), whole);
    }

    #[test]
    fn the_last_batch_of_a_match_may_be_small() {
        for most in [4, 12, 20] {
            let pairs = [2, 1, 2, 3].repeat(most / 4);
            let verdict = judge(&test(), &plan(8, most as u32), &pairs).unwrap();
            assert_eq!((verdict.pairs, verdict.counts), (most as u64, counts(&pairs)));
            let early = judge(&test(), &plan(8, most as u32), &pairs[..most - 1]).unwrap();
            assert_eq!(early.pairs, (most as u64 - 1) / 8 * 8, "before the last pair");
            assert_eq!(curve(&test(), 8, &pairs, 400).unwrap().last(), Some(&(most as u64, verdict.llr)));
        }
    }

    #[test]
    fn losing_pairs_are_rejected() {
        let verdict = judge(&test(), &plan(4, 10_000), &[1, 2, 0, 1].repeat(100)).unwrap();
        assert_eq!(verdict.decision, Decision::AcceptH0);
        let pairs = [1, 2, 0, 1].repeat(100);
        let curve = curve(&test(), 4, &pairs[..verdict.pairs as usize], 400).unwrap();
        assert_eq!(curve.last().map(|point| (point.0, point.1)), Some((verdict.pairs, verdict.llr)));
    }

    #[test]
    fn a_thin_curve_keeps_its_ends() {
        let pairs = [2, 3, 2, 1].repeat(1_001);
        let thin = curve(&test(), 4, &pairs, 40).unwrap();
        let whole = curve(&test(), 4, &pairs, usize::MAX).unwrap();
        assert_eq!((thin.len(), whole.len()), (40, 1_001));
        assert_eq!((thin[0], thin[38], thin[39]), (whole[0], whole[38 * 26], whole[1_000]));
        assert!(curve(&test(), 4, &[], 40).unwrap().is_empty());
    }
}
