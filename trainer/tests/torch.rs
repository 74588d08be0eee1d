//! libtorch's autograd and our own loops agree: what they learn from the same batches differs by rounding alone.

#![cfg(feature = "torch")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use trainer::{
    backend::{Backend, State},
    cpu::Cpu,
    loss::Loss,
    model::{Array, Arrays, Head, Shape},
    optimizer::{Lookahead, Method, Optimizer},
    torch::{Precision, Torch, Where},
};

const LOSS: Loss = Loss { exponent: 2.5, lambda: 0.7, scale: 0.75 };

/// A net whose activations are anywhere but at the edges where a gradient is a matter of taste.
fn begun(shape: Shape, optimizer: &Optimizer) -> State {
    State::new(&shape, Arrays::initial(&shape, Head::PieceValues, 11), optimizer)
}

#[test]
fn values_gradients_and_steps_agree_with_autograd() {
    let ranger = Optimizer {
        method: Method::RAdam,
        lookahead: Some(Lookahead { steps: 2, blend: 0.5 }),
        ..Optimizer::default()
    };
    for optimizer in [Optimizer::default(), ranger] {
        for shape in [Shape { factorised: false, ..common::small() }, common::small(), common::told()] {
            let state = begun(shape, &optimizer);
            let mut cpu = Cpu::new(shape, optimizer, &state, 2).unwrap();
            let mut torch = Torch::new(shape, optimizer, &state, Where::Processor, Precision::Single).unwrap();
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            let batch = common::batch(&shape, 1, 500);
            let (one, other) = (cpu.evaluate(&batch, LOSS, &mut ours), torch.evaluate(&batch, LOSS, &mut theirs));
            assert!((one.loss - other.loss).abs() < 1e-5 * other.loss, "{one:?} {other:?}");
            for (ours, theirs) in ours.iter().zip(&theirs) {
                assert!((ours - theirs).abs() < 1e-5 * theirs.abs().max(1.0), "{ours} {theirs}");
            }
            // The first step's mean gradient is a tenth of the gradient.
            cpu.step(&batch, LOSS, 1e-3);
            torch.step(&batch, LOSS, 1e-3);
            let (ours, theirs) = (cpu.state(), torch.state());
            for array in Array::ALL.into_iter().filter(|array| array.len(&shape) > 0) {
                let steepest = theirs.first[array].iter().fold(0.0_f32, |most, it| most.max(it.abs()));
                assert!(steepest > 0.0, "{array:?}");
                for (place, (one, other)) in ours.first[array].iter().zip(&theirs.first[array]).enumerate() {
                    assert!((one - other).abs() < 1e-5 * steepest, "{array:?} {place}: {one} {other}, of {steepest}");
                }
            }
            for step in 2..6 {
                let batch = common::batch(&shape, step, 500);
                cpu.step(&batch, LOSS, 1e-3);
                torch.step(&batch, LOSS, 1e-3);
            }
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            cpu.evaluate(&batch, LOSS, &mut ours);
            torch.evaluate(&batch, LOSS, &mut theirs);
            let apart = ours.iter().zip(&theirs).map(|(one, other)| (one - other).abs()).fold(0.0, f32::max);
            // Where a gradient is all but zero its sign is rounding's, and Adam makes a whole step of it.
            assert!(apart < 2e-3, "{apart} after five steps");
        }
    }
}

/// Rounding is simulated alike: both floor where the integers do.
#[test]
fn fake_quantisation_agrees() {
    let shape = Shape { fake_quantisation: true, ..common::small() };
    let state = begun(shape, &Optimizer::default());
    let mut cpu = Cpu::new(shape, Optimizer::default(), &state, 2).unwrap();
    let mut torch = Torch::new(shape, Optimizer::default(), &state, Where::Processor, Precision::Single).unwrap();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let batch = common::batch(&shape, 1, 500);
    cpu.evaluate(&batch, LOSS, &mut ours);
    torch.evaluate(&batch, LOSS, &mut theirs);
    // A floor may fall to either side of a whole number: a few positions are a step of 1/127 apart somewhere.
    let near = ours.iter().zip(&theirs).filter(|(one, other)| (*one - *other).abs() < 1e-5).count();
    assert!(near > 400, "{near} of 500");
}

#[test]
fn a_card_that_is_not_there_is_said() {
    let shape = common::small();
    let state = begun(shape, &Optimizer::default());
    let error =
        Torch::new(shape, Optimizer::default(), &state, Where::Card(99), Precision::Single).err().unwrap().to_string();
    assert!(error.starts_with("there is no graphics card 99; libtorch sees "), "{error}");
}
