//! The overshoot correction, step by step against the reference: a test of <0, 10> in batches of
//! eight pairs.

use std::collections::BTreeMap;

use stats::{Decision, EloModel, Hypotheses, Overshoot, Pentanomial, Sprt};

/// Relative; the file gives twelve digits, of which the fixed point of the likelihood leaves
/// eleven.
const TOLERANCE: f64 = 1e-6;

struct Step(BTreeMap<&'static str, &'static str>);

impl Step {
    fn number(&self, column: &str) -> f64 {
        self.0[column].parse().expect("a number")
    }

    fn counts(&self, columns: [&str; 5]) -> Pentanomial {
        Pentanomial::new(columns.map(|column| self.number(column) as u64))
    }

    fn check(&self, column: &str, found: f64) {
        let expected = self.number(column);
        // Zero means "no data yet" and is exact.
        let close = (found - expected).abs() <= TOLERANCE * expected.abs();
        assert!(close, "step {}, {column}: expected {expected}, found {found}", self.0["step"]);
    }

    fn decision(&self) -> Decision {
        match self.0["state"] {
            "continue" => Decision::Continue,
            "accepted" => Decision::AcceptH1,
            "rejected" => Decision::AcceptH0,
            other => panic!("unknown state {other}"),
        }
    }
}

fn steps() -> Vec<Step> {
    let mut lines = include_str!("data/sprt_overshoot_trace.csv").lines();
    let header: Vec<_> = lines.next().expect("a header").split(',').collect();
    lines.map(|line| Step(header.iter().copied().zip(line.split(',')).collect())).collect()
}

/// The state of the reference, recomputed from every LLR so far: the record in one direction, Σd
/// and Σd².
fn records(history: &[f64], beyond: impl Fn(f64, f64) -> bool) -> (f64, f64, f64) {
    history.iter().fold((0.0, 0.0, 0.0), |(record, sum, squares), &llr| {
        let step = llr - record;
        if beyond(llr, record) { (llr, sum + step, squares + step * step) } else { (record, sum, squares) }
    })
}

#[test]
fn every_step_agrees() {
    let test = Sprt::new(EloModel::Normalized, Hypotheses::new(0.0, 10.0).unwrap());
    let (mut counts, mut overshoot, mut history) = (Pentanomial::default(), Overshoot::default(), Vec::new());
    let mut decided = 0;
    for step in steps() {
        counts += step.counts(["dLL", "dLD", "dDDWL", "dWD", "dWW"]);
        assert_eq!(counts, step.counts(["LL", "LD", "DDWL", "WD", "WW"]));
        let llr = test.llr(counts).unwrap();
        overshoot.observe(llr);
        history.push(llr);
        step.check("llr", llr);
        let (ref0, m0, sq0) = records(&history, |llr, record| llr < record);
        let (ref1, m1, sq1) = records(&history, |llr, record| llr > record);
        let sums = [("ref0", ref0), ("m0", m0), ("sq0", sq0), ("ref1", ref1), ("m1", m1), ("sq1", sq1)];
        for (column, found) in sums {
            step.check(column, found);
        }
        step.check("o0", overshoot.below());
        step.check("o1", overshoot.above());
        let decision = test.decide_corrected(llr, &overshoot);
        assert_eq!(decision, step.decision(), "step {}", step.0["step"]);
        decided += usize::from(decision != Decision::Continue);
    }
    assert_eq!(decided, 1, "the trace ends with its verdict");
}

/// The opponent's view of the same games: everything is negated, and H0 and H1 are exchanged.
#[test]
fn the_mirrored_trace_is_rejected() {
    let test = Sprt::new(EloModel::Normalized, Hypotheses::new(0.0, 10.0).unwrap().reversed());
    let mut overshoot = Overshoot::default();
    let mut last = Decision::Continue;
    for step in steps() {
        let llr = test.llr(step.counts(["WW", "WD", "DDWL", "LD", "LL"])).unwrap();
        overshoot.observe(llr);
        step.check("o0", overshoot.above());
        step.check("o1", overshoot.below());
        assert_eq!(last, Decision::Continue);
        last = test.decide_corrected(llr, &overshoot);
    }
    assert_eq!(last, Decision::AcceptH0);
}

#[test]
fn without_correction_the_same_test_takes_longer() {
    let test = Sprt::new(EloModel::Normalized, Hypotheses::new(0.0, 10.0).unwrap());
    let mut overshoot = Overshoot::default();
    for step in [0.9, 1.8, 2.7] {
        overshoot.observe(step);
    }
    assert_eq!((test.decide(2.7), test.decide_corrected(2.7, &overshoot)), (Decision::Continue, Decision::AcceptH1));
    overshoot.observe(f64::NAN);
    overshoot.observe(f64::INFINITY);
    assert!((overshoot.above() - 0.45).abs() < 1e-15 && overshoot.below() == 0.0);
}
