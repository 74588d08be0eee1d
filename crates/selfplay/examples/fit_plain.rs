//! Fits the weights of the plain evaluation to games that it plays against itself, and prints them
//! as `crates/nnue/src/plain/weights.rs`:
//!
//! ```text
//! cargo run --release -p chuhe-selfplay --example fit_plain -- \
//!     GAMES NODES SEED THREADS > weights.rs
//! ```
//!
//! The target of a quiet position is half the game's outcome and half the search score, as expected
//! scores. L2 regularisation holds weights near their previous values. Floating point is fine here:
//! only the printed integers are used in play.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for one's own terminal")]

use std::{convert::Infallible, env, error::Error};

use engine::{Evaluation, Parameters};
use nnue::plain;
use selfplay::{
    Adjudication, Filter, Openings, Reason,
    selfplay::{Finished, GameSettings, Run},
};
use xiangqi::rules::{Outcome, RuleSet};

/// A position with its targets, for the side to move.
struct Sample {
    features: Vec<(plain::Feature, i8)>,
    fullness: f64,
    outcome: f64,
    score: f64,
}

/// The weight of the outcome in the target.
const OUTCOME_SHARE: f64 = 0.5;

/// The strength of the pull to the previous weights, in samples.
const ANCHOR_SAMPLES: f64 = 100.0;

const EPOCHS: u32 = 60;
const BATCH: usize = 4096;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<u64> = env::args().skip(1).map(|argument| argument.parse()).collect::<Result<_, _>>()?;
    let &[games, nodes, seed, threads] = arguments.as_slice() else {
        return Err("usage: fit_plain GAMES NODES SEED THREADS".into());
    };
    let samples = play(games, nodes, seed, threads as usize)?;
    let scale = fit_scale(&samples);
    eprintln!("{} positions; a score of {scale:.0} is worth an expected score of 0.73", samples.len());
    print_weights(&fit(&samples, scale));
    Ok(())
}

fn play(games: u64, nodes: u64, seed: u64, threads: usize) -> Result<Vec<Sample>, Box<dyn Error>> {
    let run = Run {
        evaluation: Evaluation::Plain,
        opponent: None,
        parameters: Parameters::default(),
        timed: None,
        settings: GameSettings {
            hash_mebibytes: 16,
            soft_nodes: None,
            hard_nodes: nodes,
            adjudication: Adjudication::default(),
            ply_cap: 400,
        },
        openings: Openings {
            rules: RuleSet::Cxr,
            book: None,
            plies: 8,
            filter: Some(Filter { nodes: 1000, bound: 300 }),
        },
        seed,
        first: 0,
        games,
        threads,
    };
    let mut samples = Vec::new();
    run.play(|number, finished| {
        add_samples(&finished, &mut samples);
        if (number + 1) % 500 == 0 {
            eprintln!("{} games, {} positions", number + 1, samples.len());
        }
        Ok::<_, Infallible>(())
    })?;
    Ok(samples)
}

/// Adds the quiet positions of a game: no check, no capture played, no decided score.
fn add_samples(finished: &Finished, samples: &mut Vec<Sample>) {
    let record = &finished.record;
    if record.reason == Reason::PlyCap {
        return;
    }
    let mut game = record.opening.game();
    for scored in &record.moves {
        let position = game.position();
        let turn = position.turn();
        if let Some(score) = scored.score
            && score.abs() <= 1500
            && !position.in_check()
            && position.piece_at(scored.mv.to()).is_none()
        {
            let mut features = Vec::new();
            plain::visit_features(position, |feature, count| {
                if count != 0 {
                    features.push((feature, count as i8));
                }
            });
            samples.push(Sample {
                features,
                fullness: f64::from(plain::fullness(position)) / f64::from(plain::FULL),
                outcome: match record.outcome {
                    Outcome::Draw => 0.5,
                    outcome if outcome == Outcome::loss_of(turn) => 0.0,
                    _ => 1.0,
                },
                score: f64::from(score),
            });
        }
        game.push_legal(scored.mv);
    }
}

fn expected(score: f64, scale: f64) -> f64 {
    1.0 / (1.0 + (-score / scale).exp())
}

/// Fits the scale under which scores predict outcomes best.
fn fit_scale(samples: &[Sample]) -> f64 {
    let error = |scale: f64| -> f64 {
        samples.iter().map(|sample| (expected(sample.score, scale) - sample.outcome).powi(2)).sum()
    };
    let candidates = (50..1000).step_by(10).map(f64::from);
    candidates.min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap_or(400.0)
}

type Weights = Vec<[f64; 2]>;

fn evaluate(sample: &Sample, weights: &Weights) -> f64 {
    let phases = [sample.fullness, 1.0 - sample.fullness];
    let sum = |phase: usize| -> f64 {
        let each = sample.features.iter();
        each.map(|(feature, count)| weights[usize::from(*feature)][phase] * f64::from(*count)).sum()
    };
    phases[0] * sum(0) + phases[1] * sum(1)
}

/// Adam over batches with linear learning-rate decay; a twentieth of the samples is held out.
fn fit(samples: &[Sample], scale: f64) -> Weights {
    let before: Weights = plain::weights().iter().map(|weights| weights.map(f64::from)).collect();
    let mut weights = before.clone();
    let target =
        |sample: &Sample| OUTCOME_SHARE * sample.outcome + (1.0 - OUTCOME_SHARE) * expected(sample.score, scale);
    let (validation, training): (Vec<_>, Vec<_>) =
        samples.chunks(200).enumerate().partition(|(number, _)| number % 20 == 0);
    let validation: Vec<_> = validation.into_iter().flat_map(|(_, chunk)| chunk).collect();
    let mut training: Vec<_> = training.into_iter().flat_map(|(_, chunk)| chunk).collect();
    let error = |weights: &Weights| {
        let sum: f64 =
            validation.iter().map(|sample| (expected(evaluate(sample, weights), scale) - target(sample)).powi(2)).sum();
        sum / validation.len() as f64
    };
    eprintln!("validation error: {:.6} before", error(&weights));
    let mut first = vec![[0.0; 2]; weights.len()];
    let mut second = vec![[0.0; 2]; weights.len()];
    let mut step = 0;
    for epoch in 0..EPOCHS {
        let rate = 3.0 * f64::from(EPOCHS - epoch) / f64::from(EPOCHS);
        let middle = training.len() / 2;
        training.rotate_left(middle / 3 + 17);
        let batches = training.len().div_ceil(BATCH);
        for batch in 0..batches {
            let mut gradient = vec![[0.0; 2]; weights.len()];
            for sample in training.iter().skip(batch).step_by(batches) {
                let prediction = expected(evaluate(sample, &weights), scale);
                let slope = (prediction - target(sample)) / scale;
                for (feature, count) in &sample.features {
                    let of = &mut gradient[usize::from(*feature)];
                    of[0] += slope * f64::from(*count) * sample.fullness;
                    of[1] += slope * f64::from(*count) * (1.0 - sample.fullness);
                }
            }
            step += 1;
            let hold = ANCHOR_SAMPLES / training.len() as f64 * BATCH as f64 / (scale * scale);
            let rest = [0.9_f64, 0.999].map(|decay| 1.0 - decay.powi(step));
            for (index, slopes) in gradient.iter().enumerate() {
                for phase in 0..2 {
                    let slope = slopes[phase] + hold * (weights[index][phase] - before[index][phase]);
                    first[index][phase] = 0.9 * first[index][phase] + 0.1 * slope;
                    second[index][phase] = 0.999 * second[index][phase] + 0.001 * slope * slope;
                    let (mean, spread): (f64, f64) = (first[index][phase] / rest[0], second[index][phase] / rest[1]);
                    weights[index][phase] -= rate * mean / (spread.sqrt() + 1e-9);
                }
            }
        }
        if epoch % 10 == 9 {
            eprintln!("epoch {}: {:.6}", epoch + 1, error(&weights));
        }
    }
    weights
}

fn print_weights(weights: &Weights) {
    println!(
        "//! The weights of the plain evaluation: on full and on empty boards, by feature. Printed by `fit_plain`."
    );
    println!("\nuse super::FEATURES;\n");
    println!("pub(super) static WEIGHTS: [[i16; 2]; FEATURES] = [");
    for [full, empty] in weights {
        println!("    [{:.0}, {:.0}],", full.round() + 0.0, empty.round() + 0.0);
    }
    println!("];");
}
