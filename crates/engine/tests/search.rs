//! Tests of the search: mates, verdicts, limits, threads.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use engine::{Control, Engine, Limits, NoClock, Settings, published, score};
use xiangqi::{
    Fen, Position,
    rules::{Game, Outcome, RuleSet, Status},
};

fn engine() -> Engine {
    Engine::new(&Settings { hash_mebibytes: 4, ..Settings::default() })
}

fn game(fen: &str) -> Game {
    Game::new(fen.parse::<Fen>().unwrap(), RuleSet::Cxr)
}

/// Whether the side to move can force mate (or stalemate, which also wins) within this many of its
/// own moves, by brute force.
fn can_force(position: &mut Position, moves: u32) -> bool {
    position.legal_moves().into_iter().any(|mv| {
        let undo = position.make(mv);
        let forced = !position.has_legal_move()
            || moves > 1
                && position.legal_moves().into_iter().all(|reply| {
                    let undo = position.make(reply);
                    let forced = can_force(position, moves - 1);
                    position.unmake(reply, undo);
                    forced
                });
        position.unmake(mv, undo);
        forced
    })
}

#[test]
fn mates_are_found_and_their_distance_is_the_shortest() {
    let mut counts = [0; 5];
    for row in include_str!("data/mates.csv").lines().skip(1) {
        let (fen, moves) = row.split_once(',').unwrap();
        let moves: u32 = moves.parse().unwrap();
        let game = game(fen);
        if moves <= 2 {
            let mut position = game.position().clone();
            assert!(can_force(&mut position, moves) && (moves == 1 || !can_force(&mut position, moves - 1)), "{row}");
        }
        let expected = Some(score::mate_in(2 * moves as usize - 1));
        let control = Control::default();
        let report = engine().search_with(&game, &Limits::nodes(1_000_000), &NoClock, &control, &mut |report| {
            if report.score() == expected {
                control.stop();
            }
        });
        assert_eq!(report.score(), expected, "{row}: {report:?}");
        counts[moves as usize] += 1;
    }
    assert!(counts[1..].iter().all(|count| *count >= 10), "{counts:?}");
}

/// Returns the rulebook's examples that end in a loss by verdict, with their moves.
fn verdict_cases() -> Vec<(Game, Vec<xiangqi::Move>, Outcome)> {
    include_str!("../../xiangqi/tests/data/cxr_examples.jsonl")
        .lines()
        .filter_map(|line| {
            let case: serde_json::Value = serde_json::from_str(line).unwrap();
            let mut game = game(case["fen"].as_str().unwrap());
            let mut moves = Vec::new();
            for text in case["moves"].as_array().unwrap() {
                let mv = game.position().parse_move(text.as_str().unwrap()).unwrap();
                game.push(mv).unwrap();
                moves.push(mv);
                if game.status() != &Status::Ongoing {
                    break;
                }
            }
            let ending = game.status().ending()?;
            ending.outcome.loser()?;
            let outcome = ending.outcome;
            Some((game, moves, outcome))
        })
        .collect()
}

#[test]
fn a_side_that_would_lose_by_a_verdict_deviates() {
    let mut deviated = 0;
    for (mut game, moves, outcome) in verdict_cases() {
        let loser = outcome.loser().unwrap();
        // Back to the loser's last choice.
        game.pop();
        while game.position().turn() != loser {
            game.pop();
        }
        let repeating = moves[game.len()];
        let report = engine().search(&game, &Limits { depth: Some(8), ..Limits::nodes(300_000) });
        let lost_anyway = report.score().unwrap() <= -score::MIN_VERDICT;
        assert!(report.best_move() != Some(repeating) || lost_anyway, "{} {report:?}", game.fen());
        deviated += usize::from(report.best_move() != Some(repeating));
    }
    assert!(deviated >= 15, "{deviated}");
}

/// The cycle lies wholly within the tree, where a second occurrence is judged. All moves of Red
/// lose by the rulebook; under rules by which every repetition draws there is no such verdict. The
/// deepest searches find a mate instead.
#[test]
fn cycles_within_the_tree_are_judged() {
    let only_checks = "3k5/9/9/9/9/9/9/9/1cr2Rn2/3AK4 w".parse::<Fen>().unwrap();
    let verdicts = |rules| -> Vec<_> {
        let game = Game::new(only_checks.clone(), rules);
        let settings = Settings { evaluation: published::evaluation(nnue::Kernel::best()), ..Settings::default() };
        let search = |depth| Engine::new(&settings).search(&game, &Limits::depth(depth)).score().unwrap();
        let scores = (1..=9).map(search);
        scores.filter(|score| score::is_verdict(*score)).collect()
    };
    let (simple, cxr) = (verdicts(RuleSet::Simple), verdicts(RuleSet::Cxr));
    assert!(simple.is_empty() && !cxr.is_empty() && cxr.iter().all(|score| *score < 0), "{simple:?} {cxr:?}");
}

#[test]
fn a_side_that_wins_by_a_verdict_sees_it() {
    let mut seen = 0;
    for (mut game, moves, outcome) in verdict_cases() {
        let winner = !outcome.loser().unwrap();
        game.pop();
        if game.position().turn() != winner {
            continue;
        }
        let limits = Limits { root_moves: vec![moves[game.len()]], ..Limits::depth(3) };
        let report = engine().search(&game, &limits);
        assert_eq!(report.score(), Some(score::VERDICT - 1), "{}", game.fen());
        seen += 1;
    }
    assert!(seen >= 5, "{seen}");
}

/// A chariot against a bare king: won, unless the natural limit is a move away.
#[test]
fn the_natural_limit_is_foreseen() {
    for (counter, won) in [(0, true), (100, true), (119, false)] {
        let game = game(&format!("3k5/9/9/9/9/9/9/4B4/R8/4K1B2 w - - {counter}"));
        let report = engine().search(&game, &Limits { depth: Some(12), ..Limits::nodes(400_000) });
        let score = report.score().unwrap();
        assert_eq!(score > 500, won, "counter {counter}: {report:?}");
        assert!(won || score == score::DRAW, "counter {counter}: {report:?}");
    }
}

/// A mate on the last ply before the limit counts.
#[test]
fn mate_comes_before_the_natural_limit() {
    let report = engine().search(&game("3k5/9/3P5/9/9/9/9/9/3R5/4K4 w - - 119"), &Limits::depth(3));
    assert_eq!(report.score(), Some(score::mate_in(1)));
}

#[test]
fn bare_defenders_draw() {
    // Taking the last pawn leaves no attacker.
    let report = engine().search(&game("3k5/9/9/9/9/9/9/3p5/4A4/4KA3 w"), &Limits::depth(4));
    assert_eq!(report.score(), Some(score::DRAW), "{report:?}");
}

#[test]
fn lines_are_legal_in_ten_thousand_positions() {
    let mut engine = engine();
    let mut state = 99_u64;
    let mut searched = 0;
    while searched < 10_000 {
        let mut game = Game::new(Fen::start(), RuleSet::Cxr);
        while game.status() == &Status::Ongoing && searched < 10_000 {
            let report = engine.search(&game, &Limits { lines: 2, ..Limits::nodes(150) });
            for line in &report.lines {
                let mut after = game.clone();
                assert!(!line.moves.is_empty());
                for mv in &line.moves {
                    assert!(after.position().is_legal(*mv), "{mv} of {line:?} after {}", game.fen());
                    after.make_unjudged(*mv);
                }
            }
            searched += 1;
            let moves = game.position().legal_moves();
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            game.push_legal(moves[(state >> 33) as usize % moves.len()]);
        }
    }
}

#[test]
fn a_search_is_deterministic() {
    let mut engine = engine();
    let game = game(Position::START_FEN);
    let limits = Limits::nodes(20_000);
    let first = engine.search(&game, &limits);
    assert_eq!(first.nodes, 20_000, "a limit of nodes is exact");
    // A new game clears the histories and the table.
    engine.new_game();
    assert_eq!(engine.search(&game, &limits), first);
}

#[test]
fn a_soft_limit_lets_the_iteration_end() {
    let limits = Limits { soft_nodes: Some(5_000), ..Limits::default() };
    let mut nodes = Vec::new();
    let mut record = |report: &engine::Report| nodes.push(report.nodes);
    let _ = engine().search_with(&game(Position::START_FEN), &limits, &NoClock, &Control::default(), &mut record);
    let (last, before) = nodes.split_last().unwrap();
    assert!(*last >= 5_000 && before.iter().all(|nodes| *nodes < 5_000), "{nodes:?}");
}

/// The first iteration always finishes.
#[test]
fn a_search_that_is_stopped_before_it_begins_finds_a_move() {
    let control = Control::default();
    control.stop();
    let game = game("3k5/9/3P5/9/9/9/9/9/3R5/4K4 w");
    let report = engine().search_with(&game, &Limits::default(), &NoClock, &control, &mut |_| {});
    assert!(report.score() == Some(score::mate_in(1)) && report.nodes <= 256, "{report:?}");
}

#[test]
fn threads_share_a_limit_of_nodes() {
    let mut engine = Engine::new(&Settings { threads: 4, ..Settings::default() });
    let report = engine.search(&game(Position::START_FEN), &Limits::nodes(40_000));
    // Each thread checks the sum only every 256 nodes.
    assert!((38_000..=40_000 + 4 * 512).contains(&report.nodes), "{report:?}");
}

#[test]
fn a_stopped_search_ends_within_a_clock_period() {
    let control = Control::default();
    let mut stopped_at = 0;
    let report =
        engine().search_with(&game(Position::START_FEN), &Limits::default(), &NoClock, &control, &mut |report| {
            if report.depth == 9 {
                control.stop();
                stopped_at = report.nodes;
            }
        });
    assert!(stopped_at > 0 && report.nodes <= stopped_at + 256, "{} after {stopped_at}", report.nodes);
    assert!(report.best_move().is_some());
}

#[test]
fn several_lines_begin_with_different_moves_and_are_sorted() {
    let report = engine().search(&game(Position::START_FEN), &Limits { lines: 5, ..Limits::depth(7) });
    let firsts: std::collections::BTreeSet<_> = report.lines.iter().map(|line| line.moves[0]).collect();
    assert_eq!(firsts.len(), 5);
    assert!(report.lines.is_sorted_by(|a, b| a.score >= b.score), "{report:?}");
}

#[test]
fn a_mated_side_has_no_move_and_no_line() {
    let report = engine().search(&game("3k5/3P5/9/9/9/9/9/9/3R5/4K4 b"), &Limits::depth(3));
    assert_eq!(report.best_move(), None);
}

#[test]
fn several_threads_find_the_mate_too() {
    let mut engine = Engine::new(&Settings { threads: 3, ..Settings::default() });
    let report = engine.search(&game("3k5/9/3P5/9/9/9/9/9/3R5/4K4 w"), &Limits::depth(6));
    assert_eq!(report.score(), Some(score::mate_in(1)));
}
