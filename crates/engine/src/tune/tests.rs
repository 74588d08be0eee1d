//! Tests of the parameters: their list, their text, and that a search is sound with any of them.

use std::collections::BTreeSet;

use proptest::prelude::*;
use xiangqi::rules::{Game, RuleSet};

use super::*;
use crate::{
    bench,
    engine::{Engine, Settings},
    limits::Limits,
};

/// Values within the ranges, with both ends often.
fn any_parameters() -> impl Strategy<Value = Parameters> {
    let values = PARAMETERS
        .iter()
        .map(|parameter| {
            let &Parameter { default, min, max, .. } = parameter;
            prop_oneof![Just(default), Just(min), Just(max), min..=max]
        })
        .collect::<Vec<_>>();
    values.prop_map(|values| Parameters::from_values(values.try_into().expect("one value each")))
}

#[test]
fn defaults_are_within_their_ranges_and_names_are_distinct() {
    let names: BTreeSet<_> = PARAMETERS.iter().map(|parameter| parameter.name).collect();
    assert_eq!(names.len(), PARAMETERS.len());
    for parameter in PARAMETERS {
        let &Parameter { name, default, min, max, step, .. } = parameter;
        assert!(min <= default && default <= max && step >= 1 && step <= (max - min).max(1), "{name}");
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
    }
    assert_eq!(Parameters::DEFAULT.to_string(), "");
}

#[test]
fn the_text_of_a_set_is_canonical() {
    let text = "  rfp_slope=80 LMR_BASE=500\tiir_depth=4 ";
    assert_eq!(text.parse::<Parameters>().unwrap().to_string(), "lmr_base=500 rfp_slope=80");
    proptest!(|(parameters in any_parameters())| {
        let text = parameters.to_string();
        prop_assert_eq!(text.parse::<Parameters>().unwrap(), parameters);
    });
}

#[test]
fn invalid_assignments_are_refused() {
    for (text, error) in [
        ("lmr_base", "`lmr_base` is not `name=value`"),
        ("lmr=1", "there is no parameter `lmr` (docs/PARAMETERS.md lists them)"),
        ("lmr_base=-1", "lmr_base: `-1` is not a whole number from 0 to 1500"),
        ("lmr_base=", "lmr_base: `` is not a whole number from 0 to 1500"),
        ("lmr_base=1 lmr_base=1", "lmr_base: it is given twice"),
    ] {
        assert_eq!(text.parse::<Parameters>().unwrap_err().to_string(), error);
    }
    proptest!(|(text in "[ =a-z_0-9-]*")| {
        if let Ok(parameters) = text.parse::<Parameters>() {
            prop_assert_eq!(parameters.to_string().parse::<Parameters>(), Ok(parameters));
        }
    });
}

#[test]
fn the_document_lists_the_parameters() {
    let document = include_str!("../../../../docs/PARAMETERS.md");
    let listed: Vec<_> = document
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.rsplit_once(" | ").expect("the last column").0.to_owned())
        .collect();
    let expected: Vec<_> = PARAMETERS
        .iter()
        .map(|parameter| {
            let Parameter { name, default, min, max, step, effect } = parameter;
            format!("| `{name}` | {default} | {min} to {max} | {step} | {effect}")
        })
        .collect();
    assert_eq!(listed, expected);
}

/// No parameters within their ranges overflow, divide by zero or loop.
#[test]
fn a_search_is_sound_within_the_ranges() {
    let games: Vec<_> = bench::positions().map(|fen| Game::new(fen, RuleSet::Cxr)).collect();
    proptest!(ProptestConfig::with_cases(48), |(parameters in any_parameters(), game in 0..games.len())| {
        let mut engine = Engine::new(&Settings { hash_mebibytes: 1, parameters, ..Settings::default() });
        let report = engine.search(&games[game], &Limits::nodes(3_000));
        prop_assert!(report.best_move().is_some());
    });
}

#[test]
fn a_parameter_changes_the_search() {
    let nodes = |text: &str| {
        let settings = Settings { parameters: text.parse().unwrap(), ..Settings::default() };
        bench::run_with(&settings, 5, &mut |_, _| {})
    };
    assert_eq!(nodes(""), bench::run(&crate::Evaluation::Plain, 1, 5, &mut |_, _| {}));
    assert_ne!(nodes("lmr_base=600"), nodes(""));
}
