//! `cargo bench -p xiangqi`: the cost of the parts that others build on. Figures and their history:
//! docs/BENCHMARKS.md.

use divan::{Bencher, black_box, counter::ItemsCount};
use xiangqi::{
    Fen, Move, MoveList, Position,
    rules::{Game, RuleSet, Status, judge_cycle},
};

fn main() {
    divan::main();
}

/// The positions of some random games, and a move made in each.
fn sample() -> Vec<(Position, Move)> {
    let mut sample = Vec::new();
    let mut state = 1_u64;
    for _ in 0..20 {
        let mut game = Game::new(Fen::start(), RuleSet::Cxr);
        while game.status() == &Status::Ongoing {
            let moves = game.position().legal_moves();
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let mv = moves[(state >> 33) as usize % moves.len()];
            sample.push((game.position().clone(), mv));
            game.push_legal(mv);
        }
    }
    sample
}

fn over_sample(bencher: Bencher<'_, '_>, mut work: impl FnMut(&mut Position, Move)) {
    let mut sample = sample();
    bencher.counter(ItemsCount::new(sample.len())).bench_local(|| {
        for (position, mv) in &mut sample {
            work(position, *mv);
        }
    });
}

#[divan::bench]
fn legal_moves(bencher: Bencher<'_, '_>) {
    let mut moves = MoveList::new();
    over_sample(bencher, |position, _| {
        position.list_legal_moves(&mut moves);
        black_box(&moves);
    });
}

#[divan::bench]
fn count_legal_moves(bencher: Bencher<'_, '_>) {
    over_sample(bencher, |position, _| {
        black_box(position.count_legal_moves());
    });
}

#[divan::bench]
fn has_legal_move(bencher: Bencher<'_, '_>) {
    over_sample(bencher, |position, _| {
        black_box(position.has_legal_move());
    });
}

#[divan::bench]
fn is_legal(bencher: Bencher<'_, '_>) {
    over_sample(bencher, |position, mv| {
        black_box(position.is_legal(mv));
    });
}

#[divan::bench]
fn gives_check(bencher: Bencher<'_, '_>) {
    over_sample(bencher, |position, mv| {
        black_box(position.gives_check(mv));
    });
}

#[divan::bench]
fn make_unmake(bencher: Bencher<'_, '_>) {
    over_sample(bencher, |position, mv| {
        let undo = position.make(mv);
        black_box(&position);
        position.unmake(mv, undo);
    });
}

/// SEE of every capture of each position.
#[divan::bench]
fn see(bencher: Bencher<'_, '_>) {
    let captures: Vec<_> = sample()
        .into_iter()
        .flat_map(|(position, _)| position.captures().into_iter().map(move |mv| (position.clone(), mv)))
        .collect();
    bencher.counter(ItemsCount::new(captures.len())).bench_local(|| {
        for (position, mv) in &captures {
            black_box(position.see_ge(*mv, 0));
        }
    });
}

/// A game of 400 plies in which nothing repeats, pushed from its start.
#[divan::bench]
fn push_without_repetition(bencher: Bencher<'_, '_>) {
    let moves = game_without_repetition();
    bencher
        .counter(ItemsCount::new(moves.len()))
        .with_inputs(|| Game::new(Fen::start(), RuleSet::Cxr))
        .bench_local_values(|mut game| {
            for &mv in &moves {
                black_box(game.push_legal(mv));
            }
            game
        });
}

fn game_without_repetition() -> Vec<Move> {
    let mut state = 7_u64;
    loop {
        let mut game = Game::new(Fen::start(), RuleSet::Cxr);
        let mut keys = vec![game.position().key()];
        while game.status() == &Status::Ongoing && game.len() < 400 {
            let moves = game.position().legal_moves();
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            game.push_legal(moves[(state >> 33) as usize % moves.len()]);
            keys.push(game.position().key());
        }
        keys.sort_unstable();
        keys.dedup();
        if keys.len() == 401 {
            return game.moves().collect();
        }
    }
}

/// Rulebook example 26: both sides chase all round the ring, one of them a pinned chariot.
#[divan::bench]
fn judge_chases(bencher: Bencher<'_, '_>) {
    judge(bencher, "3k5/9/9/9/9/9/9/9/1cr2Rn2/3AK4 w", &["d0e1", "c1c2", "e1d0", "c2c1"]);
}

/// Rulebook example 13: a perpetual check.
#[divan::bench]
fn judge_checks(bencher: Bencher<'_, '_>) {
    judge(bencher, "5k3/9/9/9/9/9/9/9/2p6/3KR1Bc1 w", &["e0f0", "f9e9", "f0e0", "e9f9"]);
}

fn judge(bencher: Bencher<'_, '_>, fen: &str, loop_moves: &[&str]) {
    let start = Position::from_fen(fen).expect("a sound position");
    let mut position = start.clone();
    let mut moves = Vec::new();
    for text in loop_moves.iter().chain(loop_moves) {
        let mv = position.parse_move(text).expect("a legal move");
        let _ = position.make(mv);
        moves.push(mv);
    }
    bencher.bench_local(|| black_box(judge_cycle(&start, black_box(&moves), RuleSet::Cxr)));
}
