//! Tests of internals: instruction sets change no bit.

use dataset::random::{Stream, Use};
use nnue::architecture::Sizes;

use super::{Cpu, LANES, Limits, Table, Transformer};
use crate::{
    backend::{Backend as _, State},
    batch::Batch,
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

#[test]
fn instruction_sets_change_no_bit() {
    let optimizer = Optimizer::default();
    for fake_quantisation in [false, true] {
        let shape = Shape { sizes: Sizes::new(192, 16, 24, 2).unwrap(), factorised: true, fake_quantisation };
        let batch = batch(&shape);
        let begun = State::new(&shape, Arrays::initial(&shape, Head::PieceValues, 7), &optimizer);
        let learned = |level: Level| {
            let mut cpu = Cpu::new(shape, optimizer, &begun, 2).unwrap();
            cpu.set_level(level);
            for _ in 0..3 {
                cpu.step(&batch, Loss { exponent: 2.5, lambda: 0.7, scale: 0.75 }, 1e-3);
            }
            cpu.state()
        };
        let baseline = learned(Level::Baseline);
        for level in Level::all() {
            assert!(learned(level) == baseline, "{level:?}");
        }
    }
}

#[test]
fn blocks_on_threads_give_the_same_sums() {
    let shape = Shape { sizes: Sizes::new(192, 16, 24, 2).unwrap(), factorised: false, fake_quantisation: false };
    let values = Arrays::initial(&shape, Head::PieceValues, 7);
    let table = Table { rows: &values[Array::Transformer], shared: &[], bias: &values[Array::TransformerBias] };
    let transformer =
        Transformer::new(&table, shape.sharing(), &Optimizer::default(), Limits { rows: 4.0, bias: 4.0 }, false);
    let batch = batch(&shape);
    let none = vec![[[0.0; LANES]; 2]; batch.len() * transformer.blocks()];
    let (mut one, mut other) = (none.clone(), none.clone());
    transformer.forward(&batch.active, &batch.counts, &mut one);
    rayon::scope(|scope| transformer.forward_by_blocks(scope, &batch.active, &batch.counts, &mut other));
    assert!(one == other && one != none);
}
