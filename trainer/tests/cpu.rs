//! The backend of the processor: its gradients are those of the loss, and nothing about the machine changes a bit.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use trainer::{
    backend::{Backend, State},
    batch::Batch,
    cpu::Cpu,
    loss::Loss,
    model::{Array, Arrays, Head, Shape},
    optimizer::{Lookahead, Method, Optimizer},
};

const LOSS: Loss = Loss { exponent: 2.5, lambda: 0.7, scale: 0.75 };

fn optimizer() -> Optimizer {
    Optimizer { method: Method::AdamW, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.01, lookahead: None }
}

fn learn(shape: Shape, optimizer: Optimizer, threads: usize, steps: u64) -> State {
    let state = State::new(&shape, Arrays::initial(&shape, Head::PieceValues, 7), &optimizer);
    let mut cpu = Cpu::new(shape, optimizer, &state, threads).unwrap();
    for step in 0..steps {
        cpu.step(&common::batch(&shape, step, 777), LOSS, 1e-3);
    }
    cpu.state()
}

fn loss_of(shape: Shape, values: &Arrays, batch: &Batch) -> f64 {
    let state = State::new(&shape, values.clone(), &optimizer());
    let mut cpu = Cpu::new(shape, optimizer(), &state, 1).unwrap();
    cpu.evaluate(batch, LOSS, &mut Vec::new()).loss / batch.len() as f64
}

/// After one step from nothing the mean gradient is a tenth of the gradient.
#[test]
fn gradients_are_what_the_loss_changes_by() {
    for factorised in [false, true] {
        let shape = Shape { factorised, ..common::small() };
        let values = Arrays::initial(&shape, Head::PieceValues, 3);
        let batch = common::batch(&shape, 9, 64);
        let state = State::new(&shape, values.clone(), &optimizer());
        let mut cpu = Cpu::new(shape, optimizer(), &state, 2).unwrap();
        cpu.step(&batch, LOSS, 0.0);
        let gradients = cpu.state().first;
        for array in Array::ALL.into_iter().filter(|array| array.len(&shape) > 0) {
            // The steepest of each array, where rounding says least.
            let mut steepest: Vec<usize> = (0..array.len(&shape)).collect();
            steepest.sort_by(|a, b| gradients[array][*b].abs().total_cmp(&gradients[array][*a].abs()));
            for place in steepest.into_iter().take(12) {
                let moved = |by: f32| {
                    let mut values = values.clone();
                    values[array][place] += by;
                    loss_of(shape, &values, &batch)
                };
                let by = 2e-3;
                let found = (moved(by) - moved(-by)) / f64::from(2.0 * by);
                let gradient = f64::from(gradients[array][place]) * 10.0;
                let error = (found - gradient).abs() / gradient.abs().max(1e-4);
                assert!(error < 0.05, "{array:?} {place}: {gradient} is {found} by differences");
            }
        }
    }
}

#[test]
fn threads_change_no_bit() {
    for optimizer in [
        optimizer(),
        Optimizer { method: Method::RAdam, lookahead: Some(Lookahead { steps: 3, blend: 0.5 }), ..optimizer() },
    ] {
        for fake_quantisation in [false, true] {
            let shape = Shape { fake_quantisation, ..common::small() };
            let one = learn(shape, optimizer, 1, 7);
            assert!(one == learn(shape, optimizer, 3, 7));
        }
    }
}

/// Everything that a next step depends on is in the state.
#[test]
fn a_state_goes_on_as_if_nothing_had_been() {
    let optimizer =
        Optimizer { method: Method::RAdam, lookahead: Some(Lookahead { steps: 4, blend: 0.5 }), ..optimizer() };
    let shape = common::small();
    let unbroken = learn(shape, optimizer, 2, 9);
    let state = learn(shape, optimizer, 2, 5);
    let mut cpu = Cpu::new(shape, optimizer, &state, 2).unwrap();
    for step in 5..9 {
        cpu.step(&common::batch(&shape, step, 777), LOSS, 1e-3);
    }
    assert!(cpu.state() == unbroken);
}
