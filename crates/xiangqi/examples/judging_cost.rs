//! The arbiter's cost beside move generation, for `scripts/bench-judging`, which counts
//! instructions.
//!
//! Plays the same random games once and then replays them in one of these modes:
//!
//! * `make`: makes the moves on a `Position`;
//! * `generate`: also lists the legal moves of every position;
//! * `advance`: makes unjudged moves in a `Game`, which keeps its history;
//! * `advance-generate`: also lists the legal moves of every position;
//! * `judge-generate`: the same, and judges every position (`Game::push_listing`);
//! * `judge`: judges every position, and must find out whether there is a legal move.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for a script")]

use std::hint::black_box;

use xiangqi::{
    Fen, Move, MoveList, Position,
    rules::{Game, RuleSet, Status},
};

const GAMES: u64 = 200;

/// A random game to its end by the rules.
fn random_game(seed: u64) -> Vec<Move> {
    let mut state = seed;
    let mut game = Game::new(Fen::start(), RuleSet::Cxr);
    while game.status() == &Status::Ongoing {
        let moves = game.position().legal_moves();
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        game.push_legal(moves[(state >> 33) as usize % moves.len()]);
    }
    game.moves().collect()
}

/// A way to replay a move. Each is a function of its own, so that they differ only in the work
/// measured.
type Step = fn(&mut Game, &mut Position, &mut MoveList, Move);

#[inline(never)]
fn make(_: &mut Game, position: &mut Position, _: &mut MoveList, mv: Move) {
    let _ = black_box(position.make(mv));
}

#[inline(never)]
fn generate(_: &mut Game, position: &mut Position, list: &mut MoveList, mv: Move) {
    let _ = black_box(position.make(mv));
    position.list_legal_moves(list);
}

#[inline(never)]
fn advance(game: &mut Game, _: &mut Position, _: &mut MoveList, mv: Move) {
    game.make_unjudged(mv);
}

#[inline(never)]
fn advance_generate(game: &mut Game, _: &mut Position, list: &mut MoveList, mv: Move) {
    game.make_unjudged(mv);
    game.position().list_legal_moves(list);
}

#[inline(never)]
fn judge_generate(game: &mut Game, _: &mut Position, list: &mut MoveList, mv: Move) {
    game.push_listing(mv, list);
}

#[inline(never)]
fn judge(game: &mut Game, _: &mut Position, _: &mut MoveList, mv: Move) {
    game.push_legal(mv);
}

fn main() {
    let step: Step = match std::env::args().nth(1).as_deref() {
        Some("make") => make,
        Some("generate") => generate,
        Some("advance") => advance,
        Some("advance-generate") => advance_generate,
        Some("judge-generate") => judge_generate,
        Some("judge") => judge,
        _ => {
            eprintln!("judging_cost: the modes are described at the top of its source");
            std::process::exit(2);
        }
    };
    let games: Vec<_> = (0..GAMES).map(random_game).collect();
    let plies: usize = games.iter().map(Vec::len).sum();
    for moves in &games {
        let mut game = Game::new(Fen::start(), RuleSet::Cxr);
        let mut position = Position::start();
        let mut list = MoveList::new();
        for &mv in moves {
            step(&mut game, &mut position, &mut list, mv);
            black_box((&game, &position, &list));
        }
    }
    println!("plies {plies}");
}
