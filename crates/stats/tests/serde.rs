//! The stored and sent forms: a restarted coordinator must resume the same test.

use serde_json::json;
use stats::{Counts, Decision, EloModel, Hypotheses, Overshoot, Pentanomial, Sprt, Trinomial};

#[test]
fn counts_are_lists() {
    let pairs = Pentanomial::new([1, 2, 3, 4, 5]);
    assert_eq!(serde_json::to_value(pairs).unwrap(), json!([1, 2, 3, 4, 5]));
    assert_eq!(serde_json::to_value(Counts::from(pairs)).unwrap(), json!([1, 2, 3, 4, 5]));
    assert_eq!(serde_json::from_value::<Counts>(json!([1, 2, 3, 4, 5])).unwrap(), pairs.into());
    assert_eq!(serde_json::from_value::<Counts>(json!([1, 2, 3])).unwrap(), Trinomial::new([1, 2, 3]).into());
    let error = serde_json::from_value::<Counts>(json!([1, 2])).unwrap_err();
    assert_eq!(error.to_string(), "expected 5 counts (LL,LD,DD,WD,WW) or 3 (L,D,W), found 2");
}

#[test]
fn a_test_is_its_terms_and_is_checked_when_read() {
    let test = Sprt::new(EloModel::Normalized, Hypotheses::new(0.0, 2.0).unwrap());
    let terms = json!({"model": "normalized", "elo0": 0.0, "elo1": 2.0, "alpha": 0.05, "beta": 0.05});
    assert_eq!(serde_json::to_value(test).unwrap(), terms);
    assert_eq!(serde_json::from_value::<Sprt>(terms.clone()).unwrap(), test);
    for (name, value, message) in [
        ("elo1", -1.0, "elo1 -1 is not at least 0.001 above elo0 0"),
        ("elo0", 1e9, "Elo 1000000000 is not between -2000 and 2000"),
        ("beta", 0.5, "beta 0.5 is not at least 0.000000001 and below 0.5"),
    ] {
        let mut bad = terms.clone();
        bad[name] = json!(value);
        assert_eq!(serde_json::from_value::<Sprt>(bad).unwrap_err().to_string(), message);
    }
}

#[test]
fn the_overshoot_resumes_from_its_stored_state() {
    let (before, after) = ([0.3, -0.4, 0.9], [1.7, -0.9, 2.6]);
    let mut uninterrupted = Overshoot::default();
    for llr in before.iter().chain(&after) {
        uninterrupted.observe(*llr);
    }

    let mut stopped = Overshoot::default();
    for llr in before {
        stopped.observe(llr);
    }
    let stored = serde_json::to_string(&stopped).unwrap();
    let mut resumed: Overshoot = serde_json::from_str(&stored).unwrap();
    for llr in after {
        resumed.observe(llr);
    }
    assert_eq!(resumed, uninterrupted);
}

#[test]
fn verdicts_are_words() {
    for decision in [Decision::Continue, Decision::AcceptH0, Decision::AcceptH1] {
        assert_eq!(serde_json::to_value(decision).unwrap(), json!(decision.to_string()));
    }
}
