//! The CPU backend: its gradients are those of the loss, and nothing about the machine changes a
//! bit.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

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

fn learn(shape: Shape, optimizer: Optimizer, threads: usize, steps: u64) -> State {
    let state = State::new(&shape, Arrays::initial(&shape, Head::PieceValues, 7), &optimizer);
    let mut cpu = Cpu::new(shape, optimizer, &state, threads).unwrap();
    for step in 0..steps {
        cpu.step(&common::batch(&shape, step, 777), LOSS, 1e-3);
    }
    cpu.state()
}

fn loss_of(shape: Shape, values: &Arrays, batch: &Batch) -> f64 {
    let state = State::new(&shape, values.clone(), &Optimizer::default());
    let mut cpu = Cpu::new(shape, Optimizer::default(), &state, 1).unwrap();
    cpu.evaluate(batch, LOSS, &mut Vec::new()).loss / batch.len() as f64
}

/// Adam's first moment after the first step is a tenth of the gradient.
#[test]
fn gradients_equal_finite_differences_of_the_loss() {
    let with_attackers = common::with_attackers();
    for shape in [Shape { factorised: false, ..common::small() }, common::small(), with_attackers] {
        let values = Arrays::initial(&shape, Head::PieceValues, 3);
        let batch = common::batch(&shape, 9, 64);
        let state = State::new(&shape, values.clone(), &Optimizer::default());
        let mut cpu = Cpu::new(shape, Optimizer::default(), &state, 2).unwrap();
        cpu.step(&batch, LOSS, 0.0);
        let gradients = cpu.state().first;
        for array in Array::ALL.into_iter().filter(|array| array.len(&shape) > 0) {
            // The largest gradients of each array, where rounding matters least.
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
                let error = (found - gradient).abs() / gradient.abs().max(2e-4);
                assert!(error < 0.05, "{array:?} {place}: {gradient} is {found} by differences");
            }
        }
    }
}

#[test]
fn threads_change_no_bit() {
    for optimizer in [
        Optimizer::default(),
        Optimizer {
            method: Method::RAdam,
            lookahead: Some(Lookahead { steps: 3, blend: 0.5 }),
            ..Optimizer::default()
        },
    ] {
        let rounded = |shape: Shape| Shape { fake_quantisation: true, ..shape };
        for shape in [common::small(), rounded(common::small()), rounded(common::with_attackers())] {
            let one = learn(shape, optimizer, 1, 7);
            assert!(one == learn(shape, optimizer, 3, 7));
        }
    }
}

/// The state holds everything that the next step depends on.
#[test]
fn a_resumed_state_continues_as_if_unbroken() {
    let optimizer = Optimizer {
        method: Method::RAdam,
        lookahead: Some(Lookahead { steps: 4, blend: 0.5 }),
        ..Optimizer::default()
    };
    let shape = common::small();
    let unbroken = learn(shape, optimizer, 2, 9);
    let state = learn(shape, optimizer, 2, 5);
    let mut cpu = Cpu::new(shape, optimizer, &state, 2).unwrap();
    for step in 5..9 {
        cpu.step(&common::batch(&shape, step, 777), LOSS, 1e-3);
    }
    assert!(cpu.state() == unbroken);
}

/// A small teacher net's values are learned from its scores alone.
#[test]
fn a_teacher_is_learned() {
    let shape = Shape { factorised: false, ..common::small() };
    let sure = Loss { exponent: 2.0, lambda: 1.0, scale: 0.75 };
    let optimizer = Optimizer { weight_decay: 0.0, ..Optimizer::default() };
    let mut teacher_values = Arrays::initial(&shape, Head::PieceValues, 99);
    // A fresh net's layers add little to its head: amplify them.
    for array in [Array::Output, Array::First, Array::Second] {
        for value in &mut teacher_values[array] {
            *value *= 3.0;
        }
    }
    let mut teacher = Cpu::new(shape, optimizer, &State::new(&shape, teacher_values, &optimizer), 2).unwrap();
    // Few inputs, so that few positions cover them all.
    let mut taught = |seed: u64| {
        let mut batch = common::batch(&shape, seed, 1024);
        for input in batch.active.iter_mut().flatten().flatten() {
            *input %= 64;
        }
        let mut values = Vec::new();
        teacher.evaluate(&batch, sure, &mut values);
        for (score_target, value) in batch.score_targets.iter_mut().zip(values) {
            *score_target = trainer::loss::wdl_from_score(value / sure.scale);
        }
        batch
    };
    let unseen = taught(1_000_000);
    let begun = State::new(&shape, Arrays::initial(&shape, Head::Zero, 1), &optimizer);
    let mut pupil = Cpu::new(shape, optimizer, &begun, 2).unwrap();
    let mean = |cpu: &mut Cpu| cpu.evaluate(&unseen, sure, &mut Vec::new()).loss / unseen.len() as f64;
    let before = mean(&mut pupil);
    for step in 0..1_000_u32 {
        let rate = 8e-3 * (1.0 - f64::from(step) / 1_000.0) + 1e-5;
        pupil.step(&taught(step.into()), sure, rate);
    }
    let after = mean(&mut pupil);
    // Less than half a hundredth of a point is left, of two and a half.
    assert!(after < before / 20.0 && after < 2.5e-5, "{before} to {after}");
}
