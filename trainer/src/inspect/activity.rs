//! The activity of a net's neurons on positions.
//!
//! The arithmetic is that of [`nnue::architecture`], unoptimised; a test compares it with the real
//! inference.

use nnue::{
    Parameters, StackParameters,
    architecture::{
        ACTIVATION_ONE, OUTPUT_ONE, PAIR_SHIFT, SCORE_LIMIT, SQUARE_SHIFT, SUM_LIMIT, TRANSFORMER_ONE, WEIGHT_SHIFT,
    },
};
use serde::Serialize;

use crate::batch::Batch;

/// The activity on some positions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Activity {
    /// The number of positions of each stack.
    pub positions: Vec<u64>,
    /// The layers, from the first on.
    pub layers: Vec<LayerActivity>,
}

/// The activity of a layer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LayerActivity {
    /// `pairs`, `first.squares`, `first.clipped` or `second`.
    pub layer: &'static str,
    /// The activity in each stack.
    pub stacks: Vec<Share>,
    /// The share of positions in which each neuron was active. Pairs are counted over all stacks;
    /// other layers have a row for each stack that had positions.
    pub neurons: Vec<f64>,
    /// The number of neurons that were never active, in stacks that had positions.
    pub never_on: usize,
}

/// Mean activity of a layer's neurons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Share {
    /// The share that was active: at least 1 in integers.
    pub on: f64,
    /// The share that was saturated.
    pub saturated: f64,
    /// The mean activation; the maximum is 1.
    pub mean: f64,
}

const LAYERS: [&str; 4] = ["pairs", "first.squares", "first.clipped", "second"];

/// Counts of a layer in one stack, by neuron.
#[derive(Clone, Default)]
struct Tally {
    /// The number of observations: two per position for a pair.
    observations: u64,
    on: Vec<u64>,
    saturated: u64,
    sum: u64,
}

impl Tally {
    fn add(&mut self, activations: &[i32]) {
        self.observations += 1;
        self.on.resize(activations.len(), 0);
        for (on, activation) in self.on.iter_mut().zip(activations) {
            *on += u64::from(*activation > 0);
            self.saturated += u64::from(*activation == ACTIVATION_ONE);
            self.sum += *activation as u64;
        }
    }

    fn share(&self) -> Share {
        let all = (self.observations * self.on.len() as u64).max(1) as f64;
        let on: u64 = self.on.iter().sum();
        let mean = self.sum as f64 / f64::from(ACTIVATION_ONE) / all;
        Share { on: on as f64 / all, saturated: self.saturated as f64 / all, mean }
    }
}

impl Activity {
    /// Runs a net on positions.
    #[must_use]
    pub fn of(parameters: &Parameters, batch: &Batch) -> Self {
        let stacks = parameters.sizes.stacks();
        let mut positions = vec![0; stacks];
        let mut tallies = vec![[const { Tally { observations: 0, on: Vec::new(), saturated: 0, sum: 0 } }; 4]; stacks];
        for place in 0..batch.len() {
            let stack = usize::from(batch.stacks[place]);
            positions[stack] += 1;
            score(parameters, batch, place, &mut tallies[stack]);
        }
        let layers = LAYERS.into_iter().enumerate().map(|(number, layer)| {
            let tallies: Vec<&Tally> = tallies.iter().map(|stack| &stack[number]).collect();
            let neurons = if number == 0 { vec![merged(&tallies)] } else { tallies.iter().copied().cloned().collect() };
            let share = |tally: &Tally, on: u64| on as f64 / tally.observations.max(1) as f64;
            LayerActivity {
                layer,
                stacks: tallies.iter().map(|tally| tally.share()).collect(),
                never_on: neurons.iter().flat_map(|tally| &tally.on).filter(|on| **on == 0).count(),
                neurons: neurons.iter().flat_map(|tally| tally.on.iter().map(|on| share(tally, *on))).collect(),
            }
        });
        Self { layers: layers.collect(), positions }
    }
}

/// The counts of all stacks together.
fn merged(tallies: &[&Tally]) -> Tally {
    let mut merged = Tally::default();
    for tally in tallies {
        merged.observations += tally.observations;
        merged.on.resize(merged.on.len().max(tally.on.len()), 0);
        for (sum, on) in merged.on.iter_mut().zip(&tally.on) {
            *sum += on;
        }
    }
    merged
}

/// Returns the score of a position, and counts activations.
fn score(parameters: &Parameters, batch: &Batch, place: usize, tallies: &mut [Tally; 4]) -> i32 {
    let (width, half) = (parameters.sizes.width(), parameters.sizes.width() / 2);
    let (stack, count) = (usize::from(batch.stacks[place]), usize::from(batch.counts[place]));
    let mut pairs = Vec::with_capacity(width);
    let mut heads = [0_i64; 2];
    for (active, head) in batch.active[place].iter().zip(&mut heads) {
        let mut sums: Vec<i32> = parameters.transformer_bias.iter().map(|bias| (*bias).into()).collect();
        for input in active[..count].iter().map(|input| usize::from(*input)) {
            for (sum, weight) in sums.iter_mut().zip(&parameters.transformer[input * width..]) {
                *sum += i32::from(*weight);
            }
            *head += i64::from(parameters.head[input * parameters.sizes.stacks() + stack]);
        }
        let (low, high) = sums.split_at(half);
        let clipped = |sum: &i32| (*sum).clamp(0, TRANSFORMER_ONE.into());
        pairs.extend(low.iter().zip(high).map(|(low, high)| (clipped(low) * clipped(high)) >> PAIR_SHIFT));
    }
    let StackParameters { first_bias, first, second_bias, second, output_bias, output } = &parameters.stacks[stack];
    let clip = |sum: &i32| (*sum).clamp(0, SUM_LIMIT) >> WEIGHT_SHIFT;
    let square = |sum: &i32| {
        let size = sum.abs().min(SUM_LIMIT);
        (size * size) >> SQUARE_SHIFT
    };
    let sums = layer(first_bias, first, &pairs);
    let mut middle: Vec<i32> = sums.iter().map(square).collect();
    middle.extend(sums.iter().map(clip));
    let last: Vec<i32> = layer(second_bias, second, &middle).iter().map(clip).collect();
    let (squares, clipped) = middle.split_at(sums.len());
    for side in pairs.chunks_exact(half) {
        tallies[0].add(side);
    }
    for (tally, activations) in tallies[1..].iter_mut().zip([squares, clipped, &last]) {
        tally.add(activations);
    }
    let sum = i64::from(*output_bias)
        + last.iter().zip(output).map(|(it, weight)| i64::from(*it) * i64::from(*weight)).sum::<i64>();
    let score = (2 * sum + heads[0] - heads[1]) / i64::from(2 * OUTPUT_ONE);
    score.clamp((-SCORE_LIMIT).into(), SCORE_LIMIT.into()) as i32
}

fn layer(biases: &[i32], rows: &[i8], inputs: &[i32]) -> Vec<i32> {
    let sum = |row: &[i8]| -> i32 { row.iter().zip(inputs).map(|(weight, input)| i32::from(*weight) * input).sum() };
    biases.iter().zip(rows.chunks_exact(inputs.len())).map(|(bias, row)| bias + sum(row)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dataset::training::{PackedPosition, Sample};
    use nnue::{
        Evaluator, Kernel, Net,
        architecture::{Inputs, Sizes},
    };
    use xiangqi::{Move, Position, Square};

    use super::*;
    use crate::{batch::Features, model::Shape};

    fn batch(fens: &[&str], sizes: Sizes) -> Batch {
        let mut batch = Batch::default();
        for fen in fens {
            let position = PackedPosition::from(&Position::from_fen(fen).unwrap());
            let mv = Move::new(Square::from_index(0).unwrap(), Square::from_index(1).unwrap());
            let sample = Sample { position, mv, score: 0, result: 0, limit_counter: 0, ply: 0, set: 0, shard: 0 };
            batch.push(&sample, Features::of(&Shape::new(sizes)), 1.0);
        }
        batch
    }

    const FENS: [&str; 4] = [
        Position::START_FEN,
        "3akab2/9/9/9/4c4/9/9/R8/9/3K5 b",
        "2bakab2/r3n4/9/p1p1p1p1p/9/9/P1P1P1P1P/9/R3N4/2BAKAB2 w",
        "3k5/9/9/9/9/9/9/4n4/4R4/4K4 w",
    ];

    #[test]
    fn scores_are_those_of_the_real_inference() {
        for (seed, inputs) in (0..8).zip(Inputs::ALL.into_iter().cycle()) {
            let sizes = Sizes::new(128, 16, 32, 5).unwrap().with_inputs(inputs);
            let parameters = Parameters::random(sizes, seed / 2);
            let batch = batch(&FENS, sizes);
            let mut evaluator = Evaluator::new(Arc::new(Net::new(&parameters).unwrap()), Kernel::best());
            for (place, fen) in FENS.iter().enumerate() {
                let position = Position::from_fen(fen).unwrap();
                evaluator.reset(&position);
                let found = score(&parameters, &batch, place, &mut std::array::from_fn(|_| Tally::default()));
                assert_eq!(found, evaluator.evaluate(&position), "{fen}");
            }
        }
    }

    #[test]
    fn neurons_are_counted() {
        let mut parameters = Parameters::zero(Sizes::new(128, 8, 8, 2).unwrap());
        // One pair always saturated, one always at a half.
        (parameters.transformer_bias[3], parameters.transformer_bias[67]) = (300, 255);
        (parameters.transformer_bias[4], parameters.transformer_bias[68]) = (128, 255);
        parameters.stacks[0].first_bias[0] = -8_000;
        let activity = Activity::of(&parameters, &batch(&FENS, parameters.sizes));
        assert_eq!(activity.positions, [3, 1]);
        let [pairs, squares, clipped, second] = &activity.layers[..] else { panic!() };
        assert_eq!((pairs.never_on, pairs.neurons[3], pairs.neurons[5]), (62, 1.0, 0.0));
        for share in &pairs.stacks {
            assert_eq!((share.on, share.saturated), (2.0 / 64.0, 1.0 / 64.0));
            assert!((share.mean - (127.0 + 63.0) / 127.0 / 64.0).abs() < 1e-12);
        }
        assert_eq!((squares.never_on, squares.stacks[0].on, squares.stacks[1].on), (15, 1.0 / 8.0, 0.0));
        assert_eq!((clipped.never_on, second.never_on, second.neurons.len()), (16, 16, 16));
    }

    #[test]
    fn stacks_without_positions_have_no_dead_neurons() {
        let parameters = Parameters::zero(Sizes::new(128, 8, 8, 3).unwrap());
        let activity = Activity::of(&parameters, &batch(&FENS[..1], parameters.sizes));
        assert_eq!(activity.positions, [0, 0, 1]);
        assert_eq!(activity.layers[3].never_on, 8);
        assert_eq!(activity.layers[3].stacks[0], Share::default());
    }
}
