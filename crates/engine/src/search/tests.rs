//! Tests of the search's internals.

use xiangqi::{
    Fen,
    rules::{Game, RuleSet},
};

use super::{deepening::RootMove, *};
use crate::{report::LineBound, tune::Parameters};

fn game(fen: &str, moves: &str) -> Game {
    let mut game = Game::new(fen.parse::<Fen>().unwrap(), RuleSet::Cxr);
    for text in moves.split_whitespace() {
        let mv = game.position().parse_move(text).unwrap();
        game.push(mv).unwrap();
    }
    game
}

fn worker(game: &Game, root: usize) -> Worker {
    let mut worker = Worker::new(&Evaluation::Plain, None, 0);
    worker.game = game.clone();
    worker.root = root;
    worker
}

#[test]
fn a_repetition_within_the_tree_is_judged_and_one_that_begins_before_the_root_waits() {
    // Red's chariot gives check from e and d in turn; the king walks between these files.
    let (fen, once) = ("3k5/9/9/9/9/9/9/9/4R4/5K3 w", "e1d1 d9e9 d1e1 e9d9 ");
    let once = game(fen, once);
    let ply = once.len();
    let verdict = worker(&once, 0).verdict(ply).expect("the cycle is closed");
    assert_eq!(verdict, ply as Score - VERDICT, "Red, who is to move, has given check all the time");
    for root in 1..=ply {
        assert_eq!(worker(&once, root).verdict(ply - root), None, "root after {root}");
    }
    let twice = game(fen, "e1d1 d9e9 d1e1 e9d9 e1d1 d9e9 d1e1");
    assert_eq!(worker(&twice, twice.len()).verdict(0), None);
    let third = {
        let mut third = twice.clone();
        third.make_unjudged(third.position().parse_move("e9d9").unwrap());
        third
    };
    assert_eq!(worker(&third, third.len() - 1).verdict(1), Some(1 - VERDICT));
}

#[test]
fn keys_differ_for_repetitions_and_near_the_limit() {
    let (fen, loop_once) = ("3k5/9/9/9/9/9/9/8N/9/4K4 w", "i2g3 d9d8 g3i2 d8d9");
    let (first, second) = (game(fen, ""), game(fen, loop_once));
    assert_eq!(first.position(), second.position());
    assert_ne!(worker(&first, 0).key(), worker(&second, 4).key());
    let at = |counter: u32| worker(&game(&format!("{fen} - - {counter}"), ""), 0).key();
    assert_eq!(at(0), at(90));
    assert_ne!(at(90), at(100));
    assert_ne!(at(100), at(118));
}

#[test]
fn a_path_dependent_score_is_stored_without_a_bound() {
    let game = game("3k5/9/9/9/9/9/9/8N/9/4K4 w", "");
    let table = Table::new(1);
    let (limits, clock, control, stop) =
        (Limits::default(), crate::limits::NoClock, Control::default(), AtomicBool::new(false));
    let shared = Shared {
        table: &table,
        parameters: &Parameters::DEFAULT,
        reductions: &Reductions::new(&Parameters::DEFAULT),
        limits: &limits,
        clock: &clock,
        control: &control,
        stop: &stop,
        nodes: &[],
    };
    let mut worker = worker(&game, 0);
    let mv = game.position().legal_moves().first().copied();
    let entry = |score| Entry { mv, score, evaluation: Some(7), depth: 9, bound: Bound::Exact, tt_pv: false };
    let mut stored = |key, score, reach| {
        worker.reach = reach;
        worker.store(&shared, key, 3, entry(score));
        table.probe(key, 3).unwrap()
    };
    let free = stored(1, 55, 4);
    assert_eq!((free.bound, free.score, free.depth), (Bound::Exact, 55, 9));
    for (key, score, reach) in [(2, 55, 3), (3, 55, 0), (4, 100 - VERDICT, ANYWHERE), (5, VERDICT - 100, ANYWHERE)] {
        let bound = stored(key, score, reach);
        assert_eq!((bound.bound, bound.mv, bound.evaluation, bound.depth), (Bound::None, mv, Some(7), 0), "{key}");
    }
}

fn root_moves(scores: [(Score, LineBound); 3]) -> Vec<RootMove> {
    let game = game("3k5/9/9/9/9/9/9/8N/9/4K4 w", "");
    let moves = game.position().legal_moves();
    scores.iter().zip(&moves).map(|((score, bound), mv)| RootMove::new(*mv, *score, *bound)).collect()
}

#[test]
fn an_unfinished_iteration_reports_only_its_results() {
    use LineBound::{AtLeast, AtMost, Exact};
    let least = -score::INFINITE;
    let before = root_moves([(40, Exact), (least, Exact), (least, Exact)]);
    let settled = |now: Vec<RootMove>| {
        let mut worker = worker(&game("3k5/9/9/9/9/9/9/8N/9/4K4 w", ""), 0);
        worker.root_moves = now;
        worker.discard_unfinished(&before);
        let first = &worker.root_moves[0];
        (first.moves[0], first.score, first.bound)
    };
    let first = before[0].moves[0];
    // The first move has a new score, or none yet.
    assert_eq!(settled(root_moves([(52, Exact), (least, Exact), (least, Exact)])), (first, 52, Exact));
    assert_eq!(settled(before.clone()), (first, 40, Exact));
    // It failed low: the bound says little, and the previous score stands.
    assert_eq!(settled(root_moves([(-90, AtMost), (least, Exact), (least, Exact)])), (first, 40, Exact));
    // Another failed high: only a lower bound is known.
    let mut now = root_moves([(40, Exact), (75, AtLeast), (least, Exact)]);
    let better = now[1].moves[0];
    now.swap(0, 1);
    assert_eq!(settled(now), (better, 40, AtLeast));
    // A fail high in a window that had sunk: no more than that bound.
    let mut now = root_moves([(40, Exact), (12, AtLeast), (least, Exact)]);
    now.swap(0, 1);
    assert_eq!(settled(now), (better, 12, AtLeast));
}
