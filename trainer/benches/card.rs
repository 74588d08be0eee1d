//! `scripts/card`: positions per second of libtorch on a graphics card, and how its gradients and
//! nets agree with the CPU backend's. Figures: docs/BENCHMARKS.md.
//!
//! `CARD` is the card's number, or `processor`. `RECIPE` is a recipe whose games lie beside their
//! manifests. `JSON` is a file for the figures. `WIDTHS`, `BATCHES`, `ROUNDS`, `STEPS` and
//! `READERS` are optional.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and panics on failure")]
#![allow(clippy::disallowed_methods, reason = "it measures time")]

use std::{collections::BTreeSet, env, fs, path::Path, time::Instant};

use dataset::training::ReaderPosition;
use protocol::recipe::Recipe;
use serde_json::{Value, json};
use trainer::{
    backend::{Backend, State},
    batch::Batch,
    cpu::Cpu,
    data::{Drawn, Loader, TrainingData},
    loss::Loss,
    model::{Array, Arrays, Head},
    run::Plan,
    torch::{DeviceKind, Precision, Torch},
};

const LOSS: Loss = Loss { exponent: 2.5, lambda: 0.8, scale: 0.75 };

fn main() {
    let card = env::var("CARD").unwrap_or_else(|_| "0".to_owned());
    let device = if card == "processor" { DeviceKind::Rehearsal } else { DeviceKind::Cuda(card.parse().unwrap()) };
    let bench = Bench { device, recipe: env::var("RECIPE").expect("RECIPE names a recipe") };
    println!("| array | cosine of both gradients | ratio of their lengths |");
    println!("|---|---|---|");
    let gradients = bench.gradients();
    let same = bench.repeats();
    println!("\ntwo runs of 20 steps gave {} bytes\n", if same { "the same" } else { "different" });
    println!("| width | batch | positions | precision | positions/s, median | from | to |");
    println!("|---|---|---|---|---|---|---|");
    let mut rows = Vec::new();
    for width in numbers("WIDTHS", "256 512 1024") {
        for batch in numbers("BATCHES", "16384 65536") {
            rows.extend(bench.rates(width, batch));
            if let Ok(path) = env::var("JSON") {
                let all = json!({ "card": card, "gradients": gradients, "same_bytes": same, "rates": rows });
                fs::write(path, format!("{all:#}\n")).unwrap();
            }
        }
    }
    let is_like = |it: &Value| it.as_f64().is_some_and(|ratio| (0.95..1.05).contains(&ratio));
    let agree = gradients.iter().all(|it| it["cosine"].as_f64() > Some(0.99) && is_like(&it["ratio"]));
    assert!(agree, "the gradients differ from those of the CPU backend");
}

fn numbers(name: &str, default: &str) -> Vec<u32> {
    let text = env::var(name).unwrap_or_else(|_| default.to_owned());
    text.split_whitespace().map(|number| number.parse().unwrap()).collect()
}

fn number(name: &str, default: &str) -> usize {
    numbers(name, default)[0] as usize
}

struct Bench {
    device: DeviceKind,
    recipe: String,
}

/// A net before its first step, and its data.
struct Begun {
    data: TrainingData,
    plan: Plan,
    state: State,
}

impl Bench {
    fn begin(&self, width: u32) -> Begun {
        let mut recipe = Recipe::from_text(&fs::read_to_string(&self.recipe).unwrap()).unwrap();
        recipe.architecture.width = width;
        let folder = Path::new(&self.recipe).parent().unwrap();
        let data = TrainingData::open(&recipe, folder, None, &BTreeSet::new()).unwrap();
        let plan = Plan::new(&recipe, &data).unwrap();
        let state = State::new(&plan.shape, Arrays::initial(&plan.shape, Head::PieceValues, 1), &plan.optimizer);
        Begun { data, plan, state }
    }

    fn torch(&self, begun: &Begun, precision: Precision) -> Torch {
        Torch::new(begun.plan.shape, begun.plan.optimizer, &begun.state, self.device, precision).unwrap()
    }

    /// Rates with batches in memory, through the reader, and with all positions on the card.
    fn rates(&self, width: u32, batch: u32) -> Vec<Value> {
        let readers = number("READERS", "8");
        let begun = self.begin(width);
        let mut rows = Vec::new();
        for precision in [Precision::Single, Precision::Mixed] {
            let mut torch = self.torch(&begun, precision);
            let length = batch as usize;
            let mut loader = begun.data.load(length, ReaderPosition::default(), readers, 8 << 30).unwrap();
            let held: Vec<Drawn> = (0..4).map(|_| loader.next().unwrap().drawn).collect();
            let held: Vec<&Batch> = held.iter().filter_map(Drawn::batch).collect();
            let mut row = |what: &str, step: &mut dyn FnMut(&mut Torch, usize)| {
                let (rounds, steps) = (number("ROUNDS", "3"), number("STEPS", "32"));
                let mut rates: Vec<f64> = (0..=rounds)
                    .map(|_| {
                        let start = Instant::now();
                        (0..steps).for_each(|number| step(&mut torch, number));
                        // Waits for the card.
                        assert!(torch.unread_losses().iter().all(|loss| loss.is_finite()));
                        (steps * length) as f64 / start.elapsed().as_secs_f64()
                    })
                    // The first round warms the card up.
                    .skip(1)
                    .collect();
                rates.sort_by(f64::total_cmp);
                let (median, least, most) = (rates[rates.len() / 2], rates[0], rates[rates.len() - 1]);
                println!("| {width} | {batch} | {what} | {precision:?} | {median:.0} | {least:.0} | {most:.0} |");
                let precision = format!("{precision:?}");
                rows.push(json!({ "width": width, "batch": batch, "positions": what, "precision": precision,
                                  "median": median, "least": least, "most": most }));
            };
            row("in memory", &mut |torch, number| {
                torch.begin_step(held[number % 4], LOSS, 1e-3);
            });
            // Batches that were made during the other rounds.
            for _ in 0..4 * readers {
                loader.next().unwrap();
            }
            row("streamed", &mut |torch, _| {
                let ready = loader.next().unwrap();
                torch.begin_step(ready.drawn.batch().unwrap(), LOSS, 1e-3);
                loader.recycle(ready.drawn);
            });
            let mut loader: Option<Loader> = None;
            row("resident", &mut |torch, _| {
                let loader = loader.get_or_insert_with(|| {
                    torch.begin_resident().unwrap();
                    let order = begun.data.read_all(readers, |batch| torch.add_resident(batch)).unwrap();
                    TrainingData::load_resident(order, length, ReaderPosition::default())
                });
                let Drawn::Numbers(numbers) = loader.next().unwrap().drawn else { unreachable!("numbers are drawn") };
                torch.step_on_resident(&numbers, LOSS, 1e-3);
            });
        }
        rows
    }

    fn batches(begun: &Begun) -> Vec<Batch> {
        let mut loader = begun.data.load(4_096, ReaderPosition::default(), 1, 0).unwrap();
        (0..20).filter_map(|_| loader.next().unwrap().drawn.batch().cloned()).collect()
    }

    /// The gradients of one batch, beside those of the CPU backend.
    fn gradients(&self) -> Vec<Value> {
        let begun = self.begin(512);
        let Begun { plan, state, .. } = &begun;
        let batch = &Self::batches(&begun)[0];
        let mut cpu = Cpu::new(plan.shape, plan.optimizer, state, 2).unwrap();
        let mut torch = self.torch(&begun, Precision::Single);
        let (one, other) = (cpu.step(batch, LOSS, 1e-3).loss, torch.step(batch, LOSS, 1e-3).loss);
        println!("| loss | | {:.6} |", other / one);
        let (ours, theirs) = (cpu.state(), torch.state());
        let mut rows = Vec::new();
        for array in Array::ALL.into_iter().filter(|array| array.len(&plan.shape) > 0) {
            // Adam's first moment after a step is a part of the gradient.
            let (ours, theirs) = (&ours.first[array], &theirs.first[array]);
            let dot = |one: &[f32], other: &[f32]| -> f64 {
                one.iter().zip(other).map(|(one, other)| f64::from(*one) * f64::from(*other)).sum()
            };
            let cosine = dot(ours, theirs) / (dot(ours, ours) * dot(theirs, theirs)).sqrt();
            let ratio = (dot(theirs, theirs) / dot(ours, ours)).sqrt();
            println!("| {} | {cosine:.6} | {ratio:.6} |", array.name());
            rows.push(json!({ "array": array.name(), "cosine": cosine, "ratio": ratio }));
        }
        rows
    }

    /// Whether two runs of the same steps give the same bytes.
    fn repeats(&self) -> bool {
        let begun = self.begin(256);
        let batches = Self::batches(&begun);
        let [one, other] = [(); 2].map(|()| {
            let mut torch = self.torch(&begun, Precision::Single);
            for batch in &batches {
                torch.step(batch, LOSS, 1e-3);
            }
            torch.state()
        });
        one == other
    }
}
