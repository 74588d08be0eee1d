//! The rulebooks' examples, generated cycles and long games, each with its required verdict.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use serde_json::Value;
use xiangqi::{
    Fen,
    rules::{Class, Game, Outcome, RuleSet, Status},
};

/// The status in the words of the case files.
fn expectation(status: &Status) -> &'static str {
    match status.ending().map(|ending| ending.outcome) {
        None => "none",
        Some(Outcome::RedWins) => "black_loses",
        Some(Outcome::BlackWins) => "red_loses",
        Some(Outcome::Draw) => "draw",
    }
}

fn play(case: &Value, rules: RuleSet) -> Game {
    let fen: Fen = case["fen"].as_str().unwrap().parse().unwrap_or_else(|error| panic!("{case}: {error}"));
    let mut game = Game::new(fen, rules);
    for mv in case["moves"].as_array().unwrap() {
        if game.status() != &Status::Ongoing {
            break;
        }
        let mv = game.position().parse_move(mv.as_str().unwrap()).unwrap();
        game.push(mv).unwrap_or_else(|error| panic!("{case}: {error}"));
    }
    game
}

fn judge_all(text: &str, rules: RuleSet, count: usize, check: impl Fn(&Value, &Game)) {
    let mut seen = 0;
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let game = play(&case, rules);
        assert_eq!(expectation(game.status()), case["expected"], "{case}: {:?}", game.status());
        check(&case, &game);
        seen += 1;
    }
    assert_eq!(seen, count);
}

#[test]
fn the_competition_rulebooks_examples() {
    judge_all(include_str!("data/cxr_examples.jsonl"), RuleSet::Cxr, 39, |_, _| {});
}

#[test]
fn generated_cycles_of_all_levels() {
    judge_all(include_str!("data/cxr_cycles.jsonl"), RuleSet::Cxr, 441, |case, game| {
        let cycle = game.status().ending().unwrap().cycle.unwrap();
        for (side, level) in [(0, &case["red_level"]), (1, &case["black_level"])] {
            let expected = [Class::Allowed, Class::Chase, Class::ChasePinnedChariot, Class::Check];
            assert_eq!(cycle.conduct[side].class, expected[level.as_u64().unwrap() as usize], "{case}");
        }
    });
}

#[test]
fn the_world_rulebooks_diagrams() {
    let text = include_str!("data/wxf_sample.jsonl");
    judge_all(text, RuleSet::Wxf, 40, |_, _| {});
    judge_all(text, RuleSet::Axf, 40, |_, _| {});
}

#[test]
fn long_games_without_captures() {
    judge_all(include_str!("data/limit_sample.jsonl"), RuleSet::Cxr, 26, |case, game| {
        if let Some(ply) = case["first_judged_ply"].as_u64() {
            assert_eq!(game.len() as u64, ply, "{case}");
        }
    });
}
