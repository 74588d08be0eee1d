//! Steps compared with the papers' formulas, in 64 bits and in another order of operations.

use super::*;

const RATE: f64 = 0.01;

/// Gradients that change sign and size.
fn gradient(step: u64, place: usize) -> f64 {
    let phase = (step * 7 + place as u64 * 13) % 19;
    (phase as f64 - 8.5) * 0.03 * (1.0 + place as f64)
}

/// One parameter after `steps` steps, by the published formulas:
///
/// * "Decoupled weight decay regularization" (algorithm 2),
/// * "On the variance of the adaptive learning rate" (algorithm 2),
/// * "Lookahead optimizer" (algorithm 1).
fn expected(optimizer: &Optimizer, begin: f64, place: usize, steps: u64) -> f64 {
    let Optimizer { method, beta1, beta2, epsilon, weight_decay, lookahead } = *optimizer;
    let (mut value, mut slow, mut mean, mut square) = (begin, begin, 0.0, 0.0);
    let longest = 2.0 / (1.0 - beta2) - 1.0;
    for step in 1..=steps {
        let slope = gradient(step, place);
        mean = beta1 * mean + (1.0 - beta1) * slope;
        square = beta2 * square + (1.0 - beta2) * slope.powi(2);
        let unbiased = mean / (1.0 - beta1.powi(step as i32));
        let power = beta2.powi(step as i32);
        value -= RATE * weight_decay * value;
        let spread = (square / (1.0 - power)).sqrt() + epsilon;
        let length = longest - 2.0 * step as f64 * power / (1.0 - power);
        value -= match method {
            Method::AdamW => RATE * unbiased / spread,
            Method::RAdam if length <= 5.0 => RATE * unbiased,
            Method::RAdam => {
                let above = (length - 4.0) * (length - 2.0) * longest;
                let below = (longest - 4.0) * (longest - 2.0) * length;
                RATE * (above / below).sqrt() * unbiased / spread
            }
        };
        if let Some(Lookahead { steps, blend }) = lookahead
            && step % steps == 0
        {
            slow += f64::from(blend) * (value - slow);
            value = slow;
        }
    }
    value
}

#[test]
fn steps_are_those_of_the_papers() {
    let begins = [0.5_f32, -0.25, 1.5, 0.0];
    for method in [Method::AdamW, Method::RAdam] {
        for lookahead in [None, Some(Lookahead { steps: 5, blend: 0.4 })] {
            for (beta2, weight_decay) in [(0.999, 0.01), (0.99, 0.0), (0.9, 0.3)] {
                let optimizer = Optimizer { method, beta2, weight_decay, lookahead, ..Optimizer::default() };
                let mut group = Group::new(begins.to_vec(), &optimizer);
                for step in 1..=60 {
                    let gradient: Vec<f32> = (0..begins.len()).map(|place| gradient(step, place) as f32).collect();
                    group.step(&optimizer.step(step, RATE), &gradient, 100.0);
                    for (place, (value, begin)) in group.values.iter().zip(begins).enumerate() {
                        let wanted = expected(&optimizer, begin.into(), place, step);
                        let apart = (f64::from(*value) - wanted).abs();
                        assert!(apart < 1e-5, "{optimizer:?}, step {step}, place {place}: {value} for {wanted}");
                    }
                }
            }
        }
    }
}

#[test]
fn no_number_passes_its_limit() {
    let optimizer = Optimizer::default();
    let mut group = Group::new(vec![0.99, -0.99], &optimizer);
    for step in 1..=9 {
        group.step(&optimizer.step(step, 0.1), &[-1.0, 1.0], 1.0);
    }
    assert_eq!(group.values, [1.0, -1.0]);
}

/// `AdamW` compared with libtorch's own.
#[cfg(feature = "torch")]
#[test]
fn steps_are_those_of_libtorch() {
    use tch::{
        Device, Tensor,
        nn::{self, OptimizerConfig as _},
    };
    let begins = [0.5_f32, -0.25, 1.5, 0.0];
    let store = nn::VarStore::new(Device::Cpu);
    let values = store.root().var_copy("values", &Tensor::from_slice(&begins));
    let mut theirs = nn::AdamW { wd: 0.02, ..nn::AdamW::default() }.build(&store, RATE).expect("an optimiser");
    let optimizer = Optimizer { weight_decay: 0.02, ..Optimizer::default() };
    let mut group = Group::new(begins.to_vec(), &optimizer);
    for step in 1..=60 {
        let slopes: Vec<f32> = (0..begins.len()).map(|place| gradient(step, place) as f32).collect();
        // The gradient of this sum is `slopes`.
        theirs.backward_step(&(&values * Tensor::from_slice(&slopes)).sum(tch::Kind::Float));
        group.step(&optimizer.step(step, RATE), &slopes, 100.0);
        for (place, value) in group.values.iter().enumerate() {
            let wanted = values.double_value(&[place as i64]);
            assert!((f64::from(*value) - wanted).abs() < 1e-5, "step {step}, place {place}: {value} for {wanted}");
        }
    }
}
