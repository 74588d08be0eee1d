//! Tests of internals: instruction sets change no bit.

use std::sync::Arc;

use dataset::{
    random::{Stream, Use},
    shard,
    training::{Filter, Games, Plan, Reader, ReaderPosition, WeightedSet},
};
use nnue::{Net, architecture::Sizes};
use protocol::recipe::Activation;

use super::Cpu;
use crate::{
    backend::{Backend as _, State},
    batch::{Batch, Features},
    export,
    loss::Loss,
    model::{Array, Arrays, Head, Shape},
    optimizer::Optimizer,
    simd::Level,
};

fn batch(shape: &Shape) -> Batch {
    let inputs = shape.sizes.inputs().count() as u64;
    let mut stream = Stream::new(Use::BookOrder, 5, 0);
    let mut batch = Batch::default();
    for _ in 0..300 {
        let mut side = || std::array::from_fn(|_| stream.below(inputs) as u16);
        batch.active.push([side(), side()]);
        batch.counts.push(2 + stream.below(31) as u8);
        batch.stacks.push(stream.below(shape.sizes.stacks() as u64) as u8);
        batch.score_targets.push(stream.below(1000) as f32 / 1000.0);
        batch.results.push(stream.below(3) as f32 / 2.0);
    }
    batch
}

/// On a processor without AVX2 or AVX-512 these are not compared.
#[test]
fn instruction_sets_and_threads_change_no_bit() {
    let optimizer = Optimizer::default();
    let (pairs, clipped) = (Activation::Pairs, Activation::Clipped);
    // The first layer fills no whole vector, then one.
    for (fake_quantisation, first, activation) in
        [(false, 8, pairs), (true, 24, pairs), (true, 16, pairs), (false, 16, clipped), (true, 8, clipped)]
    {
        let sizes = Sizes::new(192, first, 24, 3).unwrap();
        let shape = Shape { factorised: true, fake_quantisation, activation, ..Shape::new(sizes) };
        let batch = batch(&shape);
        let begun = State::new(&shape, Arrays::initial(&shape, Head::PieceValues, 7), &optimizer);
        let learned = |level: Level, threads: usize| {
            let mut cpu = Cpu::new(shape, optimizer, &begun, threads).unwrap();
            cpu.set_level(level);
            for _ in 0..3 {
                cpu.step(&batch, Loss { exponent: 2.5, lambda: 0.7, scale: 0.75 }, 1e-3);
            }
            cpu.state()
        };
        let baseline = learned(Level::Baseline, 1);
        for level in Level::all() {
            for threads in [1, 2, 3] {
                assert!(learned(level, threads) == baseline, "{level:?}, {threads} threads");
            }
        }
    }
}

/// Under fake quantisation a value is the engine's, but for the rounding of its last sums.
#[test]
fn fake_quantisation_computes_the_integers() {
    let sizes = Sizes::new(128, 8, 16, 3).unwrap();
    let shape = Shape { factorised: true, fake_quantisation: true, ..Shape::new(sizes) };
    let mut values = Arrays::initial(&shape, Head::PieceValues, 7);
    for array in [Array::First, Array::Second, Array::Output] {
        for value in &mut values[array] {
            *value *= 2.0;
        }
    }
    let games = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/dataset/tests/data/selfplay-64.chuhe");
    let set = WeightedSet { shards: vec![shard::open(games).unwrap()], weight: 1 };
    let plan = Plan {
        seed: 1,
        blocks_in_pool: 4,
        games: Games::All,
        filter: Filter::default(),
        shares: Vec::new(),
        cache_bytes: 0,
        threads: 1,
    };
    let mut samples = Vec::new();
    Reader::new(vec![set], &plan, ReaderPosition::default()).unwrap().read(&mut samples, 2_000).unwrap();
    let mut batch = Batch::default();
    for sample in &samples {
        batch.push(sample, Features::of(&shape), 400.0);
    }
    let optimizer = Optimizer::default();
    let mut cpu = Cpu::new(shape, optimizer, &State::new(&shape, values.clone(), &optimizer), 2).unwrap();
    let mut found = Vec::new();
    cpu.evaluate(&batch, Loss { exponent: 2.0, lambda: 1.0, scale: 1.0 }, &mut found);
    let net = Arc::new(Net::new(&export::quantise(&shape, &values, "").unwrap()).unwrap());
    let difference = export::compare(&net, &samples, &found);
    // A score is rounded towards zero to a whole hundredth; the head has 1/256 of one.
    assert!(difference.positions == 2_000 && difference.most < 1.1, "{difference:?}");
}
