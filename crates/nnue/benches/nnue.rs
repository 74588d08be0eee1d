//! `cargo bench -p chuhe-nnue`: the cost of a score by width and kernel. The nets are generated,
//! with the activation sparsity of trained ones. Figures and their history: docs/BENCHMARKS.md.

#![allow(clippy::unwrap_used, reason = "a benchmark fails by a panic")]

use std::{fmt, sync::Arc};

use divan::{Bencher, black_box, counter::ItemsCount};
use nnue::{
    Evaluator, Kernel, Net,
    architecture::{Inputs, Sizes},
};
use xiangqi::{Move, Position};

fn main() {
    divan::main();
}

#[derive(Clone, Copy)]
struct Case {
    inputs: Inputs,
    width: usize,
    kernel: Kernel,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.inputs, self.width, self.kernel)
    }
}

fn cases() -> impl Iterator<Item = Case> {
    let at = |(inputs, width)| Kernel::available().map(move |kernel| Case { inputs, width, kernel });
    let kings = [128, 256, 512, 1024].map(|width| (Inputs::Kings, width));
    kings.into_iter().chain([(Inputs::KingsAttackers, 256)]).flat_map(at)
}

fn evaluator(case: Case) -> Evaluator {
    let net = Net::from_piece_values(Sizes::new(case.width, 16, 32, 8).unwrap().with_inputs(case.inputs), 1);
    Evaluator::new(Arc::new(net), case.kernel)
}

/// A position with its moves and the positions after them.
struct Node {
    position: Position,
    moves: Vec<(Move, Position)>,
}

/// Returns positions of random games.
fn sample() -> Vec<Node> {
    let mut sample = Vec::new();
    let mut state = 1_u64;
    for _ in 0..5 {
        let mut position = Position::start();
        for ply in 0..60 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            if ply % 6 == 0 {
                let after = |mv| {
                    let mut after = position.clone();
                    let _ = after.make(mv);
                    (mv, after)
                };
                sample.push(Node { position: position.clone(), moves: moves.iter().copied().map(after).collect() });
            }
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let _ = position.make(moves[(state >> 33) as usize % moves.len()]);
        }
    }
    sample
}

/// Incremental update and inference after each move of a position, as in a search.
#[divan::bench(args = cases())]
fn push_and_evaluate(bencher: Bencher<'_, '_>, case: Case) {
    let sample = sample();
    let mut evaluator = evaluator(case);
    let moves: usize = sample.iter().map(|node| node.moves.len()).sum();
    bencher.counter(ItemsCount::new(moves)).bench_local(|| {
        for node in &sample {
            evaluator.reset(&node.position);
            black_box(evaluator.evaluate(&node.position));
            for (mv, after) in &node.moves {
                evaluator.push(&node.position, *mv);
                black_box(evaluator.evaluate(after));
                evaluator.pop();
            }
        }
    });
}

/// Inference alone: the accumulators are up to date.
#[divan::bench(args = cases())]
fn evaluate_again(bencher: Bencher<'_, '_>, case: Case) {
    let sample = sample();
    let mut evaluator = evaluator(case);
    let times = 50;
    bencher.counter(ItemsCount::new(sample.len() * times)).bench_local(|| {
        for node in &sample {
            evaluator.reset(&node.position);
            for _ in 0..times {
                black_box(evaluator.evaluate(&node.position));
            }
        }
    });
}

/// Refreshes through the cache: positions six plies or a game apart.
#[divan::bench(args = cases())]
fn refresh_and_evaluate(bencher: Bencher<'_, '_>, case: Case) {
    let sample = sample();
    let mut evaluator = evaluator(case);
    bencher.counter(ItemsCount::new(sample.len())).bench_local(|| {
        for node in &sample {
            evaluator.reset(&node.position);
            black_box(evaluator.evaluate(&node.position));
        }
    });
}

/// Loading a file: checksum, proof, layout.
#[divan::bench(args = [(Inputs::Kings, 256), (Inputs::Kings, 512), (Inputs::KingsAttackers, 256)])]
fn load(bencher: Bencher<'_, '_>, (inputs, width): (Inputs, usize)) {
    let sizes = Sizes::new(width, 16, 32, 8).unwrap().with_inputs(inputs);
    let bytes = nnue::Parameters::from_piece_values(sizes, 1).to_bytes();
    bencher.bench_local(|| Net::from_bytes(black_box(&bytes)).unwrap());
}
