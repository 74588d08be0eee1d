//! libtorch's autograd, a card's products and our own loops agree: they differ by rounding alone.

#![cfg(feature = "torch")]
#![allow(clippy::unwrap_used, reason = "a failed test panics")]

mod common;

use nnue::architecture::Sizes;
use protocol::recipe::Activation;
use trainer::{
    backend::{Backend, State},
    cpu::Cpu,
    loss::Loss,
    model::{Array, Arrays, Head, Shape},
    optimizer::{Lookahead, Method, Optimizer},
    torch::{DeviceKind, Precision, Torch},
};

const LOSS: Loss = Loss { exponent: 2.5, lambda: 0.7, scale: 0.75 };

/// Both input layers: autograd's, and a card's.
const PLACES: [DeviceKind; 2] = [DeviceKind::Cpu, DeviceKind::Rehearsal];

/// A net whose activations avoid the edges, where gradients are ambiguous.
fn begun(shape: Shape, optimizer: &Optimizer) -> State {
    // One thread: the nets are small, and spinning threads would slow the other tests.
    tch::set_num_threads(1);
    State::new(&shape, Arrays::initial(&shape, Head::PieceValues, 11), optimizer)
}

#[test]
fn values_gradients_and_steps_agree_with_autograd() {
    let ranger = Optimizer {
        method: Method::RAdam,
        lookahead: Some(Lookahead { steps: 2, blend: 0.5 }),
        ..Optimizer::default()
    };
    let small = common::small();
    let shapes = [Shape { factorised: false, ..small }, small, common::with_attackers(), common::clipped()];
    for place in PLACES {
        for (shape, optimizer) in shapes.into_iter().flat_map(|shape| [(shape, Optimizer::default()), (shape, ranger)])
        {
            let state = begun(shape, &optimizer);
            let mut cpu = Cpu::new(shape, optimizer, &state, 2).unwrap();
            let mut torch = Torch::new(shape, optimizer, &state, place, Precision::Single).unwrap();
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            let batch = common::batch(&shape, 1, 500);
            let (one, other) = (cpu.evaluate(&batch, LOSS, &mut ours), torch.evaluate(&batch, LOSS, &mut theirs));
            assert!((one.loss - other.loss).abs() < 1e-5 * other.loss, "{one:?} {other:?}");
            for (ours, theirs) in ours.iter().zip(&theirs) {
                assert!((ours - theirs).abs() < 1e-5 * theirs.abs().max(1.0), "{ours} {theirs}");
            }
            // Adam's first moment after the first step is a tenth of the gradient.
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
            // The sign of a gradient near zero is decided by rounding, and Adam makes a whole step
            // of it.
            assert!(apart < 2e-3, "{apart} after five steps");
        }
    }
}

/// Fake quantisation agrees: both floor where the integers do.
#[test]
fn fake_quantisation_agrees() {
    let shape = Shape { fake_quantisation: true, ..common::small() };
    let state = begun(shape, &Optimizer::default());
    for place in PLACES {
        let mut cpu = Cpu::new(shape, Optimizer::default(), &state, 2).unwrap();
        let mut torch = Torch::new(shape, Optimizer::default(), &state, place, Precision::Single).unwrap();
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let batch = common::batch(&shape, 1, 500);
        cpu.evaluate(&batch, LOSS, &mut ours);
        torch.evaluate(&batch, LOSS, &mut theirs);
        // A floor of the layers may fall to either side of a whole number, so a few positions
        // differ by a step of 1/127 somewhere.
        let near = ours.iter().zip(&theirs).filter(|(one, other)| (*one - *other).abs() < 1e-5).count();
        assert!(near > 400, "{near} of 500");
    }
}

/// Straight-through gradients agree. A few floors fall to the other side, and their gradients
/// differ by a step of 1/127.
#[test]
fn gradients_under_fake_quantisation_agree() {
    let small = common::small();
    let shapes = [Shape { factorised: false, ..small }, small, common::clipped()];
    for (shape, place) in shapes.into_iter().flat_map(|shape| PLACES.map(|place| (shape, place))) {
        let shape = Shape { fake_quantisation: true, ..shape };
        let optimizer = Optimizer::default();
        let state = begun(shape, &optimizer);
        let mut cpu = Cpu::new(shape, optimizer, &state, 2).unwrap();
        let mut torch = Torch::new(shape, optimizer, &state, place, Precision::Single).unwrap();
        let batch = common::batch(&shape, 1, 2_000);
        cpu.step(&batch, LOSS, 1e-3);
        torch.step(&batch, LOSS, 1e-3);
        let (ours, theirs) = (cpu.state(), torch.state());
        for array in Array::ALL.into_iter().filter(|array| array.len(&shape) > 0) {
            let (ours, theirs) = (&ours.first[array], &theirs.first[array]);
            let dot = |one: &[f32], other: &[f32]| -> f64 {
                one.iter().zip(other).map(|(one, other)| f64::from(*one) * f64::from(*other)).sum()
            };
            let along = dot(ours, theirs) / (dot(ours, ours) * dot(theirs, theirs)).sqrt();
            let length = (dot(ours, ours) / dot(theirs, theirs)).sqrt();
            // At a bound libtorch has a slope and we have none. Whole sums are there more often if
            // they are in units of 1 / 127 instead of 1 / 255.
            let least = if shape.is_fairy() { 0.995 } else { 0.998 };
            assert!(along > least && (length - 1.0).abs() < 0.01, "{array:?}: along {along}, length {length}");
        }
    }
}

/// A card learns nets for other engines as autograd does. Under fake quantisation some sums are at
/// a bound, where one of the two has a gradient.
#[test]
fn nets_for_other_engines_learn_alike() {
    let sizes = Sizes::new(512, 16, 32, 8).unwrap();
    let fairy = Shape { factorised: true, activation: Activation::Clipped, ..Shape::new(sizes) };
    // Narrower than Pikafish's, and with fewer inputs.
    let pikafish = Shape { sizes: Sizes::new(128, 16, 32, 16).unwrap(), activation: Activation::PairsSkip, ..fairy };
    let shapes = [fairy, pikafish]
        .into_iter()
        .flat_map(|shape| [(shape, 1e-5), (Shape { fake_quantisation: true, ..shape }, 0.1)]);
    for (shape, most) in shapes {
        let state = begun(shape, &Optimizer::default());
        let batch = common::batch(&shape, 1, 500);
        let [(one, ours), (other, theirs)] = PLACES.map(|place| {
            let mut torch = Torch::new(shape, Optimizer::default(), &state, place, Precision::Single).unwrap();
            (torch.step(&batch, LOSS, 1e-3).loss, torch.state())
        });
        assert!((one - other).abs() < 1e-5 * one, "{one} {other}");
        for array in Array::ALL {
            let length = |numbers: &mut dyn Iterator<Item = f32>| numbers.map(|it| it * it).sum::<f32>().sqrt();
            let (ours, theirs) = (&ours.first[array], &theirs.first[array]);
            let apart = length(&mut ours.iter().zip(theirs).map(|(one, other)| one - other));
            let whole = length(&mut theirs.iter().copied());
            assert!(whole > 0.0 && apart < most * whole, "{array:?}: {apart} of {whole}");
        }
        assert_eq!(Cpu::new(shape, Optimizer::default(), &state, 1).is_err(), shape.is_pikafish());
    }
}

/// A card's losses are read later, in their order, and each once.
#[test]
fn losses_are_read_when_they_are_asked_for() {
    let shape = common::small();
    let optimizer = Optimizer::default();
    let state = begun(shape, &optimizer);
    let [mut one, mut other] =
        [(); 2].map(|()| Torch::new(shape, optimizer, &state, DeviceKind::Rehearsal, Precision::Single).unwrap());
    let batches: Vec<_> = (0..3).map(|seed| common::batch(&shape, seed, 300)).collect();
    let losses: Vec<f64> = batches.iter().map(|batch| one.step(batch, LOSS, 1e-3).loss).collect();
    for batch in &batches {
        assert_eq!(other.begin_step(batch, LOSS, 1e-3), None);
    }
    assert!(losses[0] - losses[1] != 0.0, "they differ: {losses:?}");
    assert_eq!((other.unread_losses(), one.unread_losses(), other.unread_losses()), (losses, vec![], vec![]));
    assert!(one.state() == other.state());
}

/// Mixed precision is close: values, gradients, and the trained net.
#[test]
fn mixed_precision_is_near() {
    for (place, fake_quantisation) in PLACES.into_iter().flat_map(|place| [(place, false), (place, true)]) {
        let shape = Shape { fake_quantisation, ..common::small() };
        let optimizer = Optimizer::default();
        let state = begun(shape, &optimizer);
        let [mut single, mut mixed] = [Precision::Single, Precision::Mixed]
            .map(|precision| Torch::new(shape, optimizer, &state, place, precision).unwrap());
        let batch = common::batch(&shape, 1, 1_000);
        let (mut exact, mut rough) = (Vec::new(), Vec::new());
        single.evaluate(&batch, LOSS, &mut exact);
        mixed.evaluate(&batch, LOSS, &mut rough);
        let apart: Vec<f32> = exact.iter().zip(&rough).map(|(one, other)| (one - other).abs()).collect();
        let (mean, most) = (apart.iter().sum::<f32>() / 1_000.0, apart.iter().copied().fold(0.0, f32::max));
        assert!(mean > 0.0 && mean < 2.5e-3 && most < 2e-2, "{mean} {most} of a value of 1, which is four pawns");
        single.step(&batch, LOSS, 1e-3);
        mixed.step(&batch, LOSS, 1e-3);
        let (exact, rough) = (single.state(), mixed.state());
        for array in Array::ALL {
            let dot = |one: &[f32], other: &[f32]| -> f64 {
                one.iter().zip(other).map(|(one, other)| f64::from(*one) * f64::from(*other)).sum()
            };
            let (one, other) = (&exact.first[array], &rough.first[array]);
            let angle = dot(one, other) / (dot(one, one) * dot(other, other)).sqrt();
            assert!(angle > 0.995, "{array:?}: {angle}");
        }
        let (mut exact, mut rough) = (0.0, 0.0);
        for step in 2..40 {
            let batch = common::batch(&shape, step % 8, 250);
            exact = single.step(&batch, LOSS, 1e-3).loss;
            rough = mixed.step(&batch, LOSS, 1e-3).loss;
        }
        assert!((exact - rough).abs() < 0.02 * exact, "{exact} {rough}");
    }
}

#[test]
fn a_missing_card_is_reported() {
    let shape = common::small();
    let state = begun(shape, &Optimizer::default());
    let error = Torch::new(shape, Optimizer::default(), &state, DeviceKind::Cuda(99), Precision::Single)
        .err()
        .unwrap()
        .to_string();
    assert!(error.starts_with("there is no graphics card 99; libtorch sees "), "{error}");
}
