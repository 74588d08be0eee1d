//! All kernels and update paths yield the same score.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod common;

use std::sync::Arc;

use common::{Numbers, STARTS, declared, random_move, sizes, with_attackers};
use nnue::{
    Evaluator, Kernel, Net, Parameters,
    architecture::{Attackers, Inputs},
};
use proptest::prelude::*;
use xiangqi::{Color, Move, Position, Undo};

/// Evaluates a position with a new evaluator.
fn fresh(net: &Arc<Net>, kernel: Kernel, position: &Position) -> i32 {
    let mut evaluator = Evaluator::new(Arc::clone(net), kernel);
    evaluator.reset(position);
    evaluator.evaluate(position)
}

fn kernels() -> Vec<Kernel> {
    Kernel::available().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// All kernels agree with the scalar one, on nets of all shapes, after any pushes and pops.
    #[test]
    fn kernels_agree(
        width in (2_usize..=16).prop_map(|width| width * 64),
        first in (1_usize..=4).prop_map(|first| first * 8),
        second in (1_usize..=8).prop_map(|second| second * 8),
        stacks in 1_usize..=16,
        inputs in proptest::sample::select(&Inputs::ALL[..]),
        seed: u64,
    ) {
        let net = Arc::new(Net::random(sizes(width, first, second, stacks).with_inputs(inputs), seed));
        let mut numbers = Numbers(seed);
        let mut evaluators: Vec<_> =
            kernels().into_iter().map(|kernel| Evaluator::new(Arc::clone(&net), kernel)).collect();
        let mut position = Position::start();
        let mut made: Vec<(Move, Undo)> = Vec::new();
        for evaluator in &mut evaluators {
            evaluator.reset(&position);
        }
        for _ in 0..150 {
            let step = numbers.below(8);
            let mv = random_move(&position, &mut numbers);
            if let (0, Some((mv, undo))) = (step, made.last().copied()) {
                made.pop();
                position.unmake(mv, undo);
                evaluators.iter_mut().for_each(Evaluator::pop);
            } else if let Some(mv) = mv {
                for evaluator in &mut evaluators {
                    evaluator.push(&position, mv);
                }
                made.push((mv, position.make(mv)));
            }
            if step > 4 {
                let scores: Vec<_> = evaluators.iter_mut().map(|evaluator| evaluator.evaluate(&position)).collect();
                prop_assert!(scores.iter().all(|score| *score == scores[0]), "{scores:?} in {position}");
            }
        }
    }

    /// Scores are symmetric under exchange of sides, and under mirroring unless both kings are on
    /// the axis.
    #[test]
    fn symmetries_hold(seed: u64, inputs in proptest::sample::select(&Inputs::ALL[..])) {
        let net = Arc::new(Net::random(sizes(128, 8, 8, 4).with_inputs(inputs), seed));
        let mut numbers = Numbers(seed);
        let mut position = Position::start();
        let mut mirrored = 0;
        for _ in 0..100 {
            let Some(mv) = random_move(&position, &mut numbers) else { break };
            let _ = position.make(mv);
            let score = fresh(&net, Kernel::best(), &position);
            prop_assert_eq!(fresh(&net, Kernel::best(), &position.flipped()), score);
            if Color::ALL.into_iter().any(|color| position.king(color).file() != 4) {
                mirrored += 1;
                prop_assert_eq!(fresh(&net, Kernel::best(), &position.mirrored()), score);
            }
        }
        // In a few games no king leaves the axis.
        prop_assume!(mirrored > 0);
    }
}

/// Incremental scores equal the declared ones after every move of 1,500 games, with pops and null
/// moves. They do so in 500 more games in which positions are skipped.
#[test]
fn scores_are_the_declared_ones() {
    let kernels: Vec<_> = Kernel::available().collect();
    let nets = [
        sizes(128, 8, 8, 3),
        with_attackers(sizes(128, 16, 16, 4)),
        sizes(192, 16, 32, 9),
        sizes(128, 24, 40, 16),
        sizes(128, 32, 16, 1),
        with_attackers(sizes(192, 8, 32, 8)),
    ];
    let parameters: Vec<_> = (0..).zip(nets).map(|(seed, sizes)| Parameters::random(sizes, seed)).collect();
    let nets: Vec<_> = parameters.iter().map(|parameters| Arc::new(Net::new(parameters).unwrap())).collect();
    let mut evaluators: Vec<_> = (0..nets.len() * kernels.len())
        .map(|place| Evaluator::new(Arc::clone(&nets[place % nets.len()]), kernels[place / nets.len()]))
        .collect();
    let (mut evaluated, mut views_met) = (0, Inputs::ALL.map(|inputs| vec![0; inputs.views()]));
    let mut lost = 0;
    for game in 0..2000 {
        let mut numbers = Numbers(game);
        let place = game as usize % evaluators.len();
        let evaluator = &mut evaluators[place];
        let inputs = parameters[place % nets.len()].sizes.inputs();
        let mut position = Position::from_fen(STARTS[numbers.below(STARTS.len())]).unwrap();
        evaluator.reset(&position);
        let mut check = |evaluator: &mut Evaluator, position: &Position| {
            let declared = declared::score(&parameters[place % nets.len()], position);
            assert_eq!(evaluator.evaluate(position), declared, "{position}");
            evaluated += 1;
            views_met[inputs as usize][inputs.view(position, Color::Red).index()] += 1;
        };
        let mut made = Vec::new();
        for _ in 0..60 {
            let Some(mv) = random_move(&position, &mut numbers) else { break };
            evaluator.push(&position, mv);
            let before = Color::ALL.map(|side| Attackers::of(&position, side));
            made.push((mv, position.make(mv)));
            lost += usize::from(before != Color::ALL.map(|side| Attackers::of(&position, side)));
            if game >= 1500 && numbers.below(3) == 0 {
                continue;
            }
            check(evaluator, &position);
            if numbers.below(8) == 0 && !position.in_check() {
                let undo = position.make_null();
                check(evaluator, &position);
                position.unmake_null(undo);
            }
            if numbers.below(8) == 0 {
                for _ in 0..=numbers.below(made.len().min(4)) {
                    let (mv, undo) = made.pop().unwrap();
                    position.unmake(mv, undo);
                    evaluator.pop();
                }
                check(evaluator, &position);
            }
        }
    }
    assert!(evaluated > 40_000, "{evaluated}");
    assert!(lost > 1_000, "{lost}");
    assert!(views_met.iter().flatten().all(|times| *times > 20), "{views_met:?}");
}

/// Scores of a generated net vary; otherwise tests of equality would prove nothing.
#[test]
fn scores_differ() {
    let net = Arc::new(Net::random(sizes(256, 16, 32, 8), 2));
    let mut numbers = Numbers(1);
    let mut position = Position::start();
    let mut scores = Vec::new();
    for _ in 0..60 {
        let Some(mv) = random_move(&position, &mut numbers) else { break };
        let _ = position.make(mv);
        scores.push(fresh(&net, Kernel::best(), &position));
    }
    scores.sort_unstable();
    scores.dedup();
    assert!(scores.len() > 40, "{scores:?}");
}
