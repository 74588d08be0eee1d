//! The CPU backend, in Rust alone.
//!
//! Data parallelism: a batch is split into `PARTS` parts, whatever the number of threads; each runs
//! forward and backward through the layers on one thread. Then each block of the transformer's
//! columns is updated by one thread, with the gradients of all parts in their order.
//!
//! Every summation order is fixed by the batch. So the same batches give the same bits on every
//! machine, with any number of threads and any instruction set.

mod layers;
#[cfg(test)]
mod tests;
mod transformer;

use rayon::prelude::*;

use crate::{
    backend::{Backend, BackendError, State, Totals},
    batch::{Active, Batch},
    loss::Loss,
    model::{Array, Arrays, Shape},
    optimizer::{Group, Optimizer, Step},
    simd::{self, Loops},
};
use layers::{Layers, Scratch};
pub use transformer::{Gradients, LANES, Limits, Sums, Table, Transformer};

/// Parts that a batch is split into.
const PARTS: usize = 32;

/// The small layers above the transformer: their gradients are reduced over the parts.
const SMALL: [Array; 6] =
    [Array::FirstBias, Array::First, Array::SecondBias, Array::Second, Array::OutputBias, Array::Output];

/// A net that is trained on the CPU.
pub struct Cpu {
    shape: Shape,
    optimizer: Optimizer,
    threads: rayon::ThreadPool,
    transformer: Transformer,
    head: Group,
    head_gradient: Vec<f32>,
    /// Indexed as [`SMALL`].
    small: Vec<Group>,
    layers: Layers,
    parts: Vec<Part>,
    steps: u64,
}

/// The working memory of one part of a batch.
struct Part {
    sums: Vec<Sums>,
    scratch: Scratch,
    gradients: Arrays,
    /// The gradient of the loss in each position's value.
    slopes: Vec<f32>,
    values: Vec<f32>,
    loss: f64,
}

/// The positions of a part.
#[derive(Clone, Copy)]
struct Range {
    from: usize,
    to: usize,
}

impl Range {
    fn of(part: usize, length: usize) -> Self {
        Self { from: part * length / PARTS, to: (part + 1) * length / PARTS }
    }

    fn of_slice<T>(self, slice: &[T]) -> &[T] {
        &slice[self.from..self.to]
    }
}

impl Cpu {
    /// Resumes a net from its state.
    ///
    /// # Errors
    ///
    /// If the thread pool cannot be started.
    pub fn new(shape: Shape, optimizer: Optimizer, state: &State, threads: usize) -> Result<Self, BackendError> {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let threads = threads.map_err(|error| BackendError::Threads(error.to_string()))?;
        let values = &state.values;
        let table = table(values);
        let limits = Limits { rows: Array::Transformer.limit(&shape), bias: Array::TransformerBias.limit(&shape) };
        let mut layers = Layers::new(shape);
        for array in SMALL {
            layers.set(array, &values[array]);
        }
        let part = || Part {
            sums: Vec::new(),
            scratch: layers.scratch(),
            gradients: zero_gradients(&shape),
            slopes: Vec::new(),
            values: Vec::new(),
            loss: 0.0,
        };
        let mut cpu = Self {
            shape,
            optimizer,
            threads,
            transformer: Transformer::new(&table, shape.sharing(), &optimizer, limits, shape.fake_quantisation),
            head: Group::new(values[Array::Head].clone(), &optimizer),
            head_gradient: vec![0.0; values[Array::Head].len()],
            small: SMALL.iter().map(|array| Group::new(values[*array].clone(), &optimizer)).collect(),
            parts: (0..PARTS).map(|_| part()).collect(),
            layers,
            steps: state.steps,
        };
        cpu.set_arrays(&state.first, |group| &mut group.first);
        cpu.set_arrays(&state.second, |group| &mut group.second);
        if let Some(slow) = &state.slow {
            cpu.set_arrays(slow, |group| &mut group.slow);
        }
        Ok(cpu)
    }

    #[cfg(test)]
    pub(crate) fn set_level(&mut self, level: simd::Level) {
        self.transformer.set_level(level);
    }

    fn set_arrays(&mut self, arrays: &Arrays, pick: impl Fn(&mut Group) -> &mut Vec<f32>) {
        self.transformer.scatter(&table(arrays), &pick);
        pick(&mut self.head).clone_from(&arrays[Array::Head]);
        for (group, array) in self.small.iter_mut().zip(SMALL) {
            pick(group).clone_from(&arrays[array]);
        }
    }

    fn arrays(&self, pick: impl Fn(&Group) -> &[f32]) -> Arrays {
        let mut arrays = Arrays::zero(&self.shape);
        (arrays[Array::Transformer], arrays[Array::Shared], arrays[Array::TransformerBias]) =
            self.transformer.gather(&pick);
        arrays[Array::Head] = pick(&self.head).to_vec();
        for (group, array) in self.small.iter().zip(SMALL) {
            arrays[array] = pick(group).to_vec();
        }
        arrays
    }

    /// Forward pass of all parts of a batch; with `learn` also the backward pass through the
    /// layers.
    fn pass(&mut self, batch: &Batch, loss: Loss, learn: bool) {
        let Self { transformer, layers, head, parts, threads, shape, .. } = self;
        let (transformer, layers, head, stacks) = (&*transformer, &*layers, &*head.values, shape.sizes.stacks());
        let weight = 1.0 / batch.len() as f32;
        threads.install(|| {
            parts.par_iter_mut().enumerate().for_each(|(number, part)| {
                let range = Range::of(number, batch.len());
                let counts = range.of_slice(&batch.counts);
                part.sums.resize(counts.len() * transformer.blocks(), [[0.0; LANES]; 2]);
                transformer.forward(range.of_slice(&batch.active), counts, &mut part.sums);
                let pass = Pass { layers, head, stacks, loss, weight, learn, batch, range, part };
                simd::run(transformer.level(), pass);
            });
        });
    }

    fn totals(&self) -> Totals {
        // Summed in the order of the parts.
        Totals { loss: self.parts.iter().map(|part| part.loss).sum() }
    }
}

fn table(arrays: &Arrays) -> Table<'_> {
    Table { rows: &arrays[Array::Transformer], shared: &arrays[Array::Shared], bias: &arrays[Array::TransformerBias] }
}

/// Zeroed gradients of the small layers; the other arrays are empty.
fn zero_gradients(shape: &Shape) -> Arrays {
    let mut arrays = Arrays::empty();
    for array in SMALL {
        arrays[array] = vec![0.0; array.len(shape)];
    }
    arrays
}

struct Pass<'a> {
    layers: &'a Layers,
    head: &'a [f32],
    stacks: usize,
    loss: Loss,
    weight: f32,
    learn: bool,
    batch: &'a Batch,
    range: Range,
    part: &'a mut Part,
}

impl Loops for Pass<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { layers, head, stacks, loss, weight, learn, batch, range, part } = self;
        let count = range.to - range.from;
        part.loss = 0.0;
        part.values.clear();
        part.slopes.clear();
        if learn {
            for array in SMALL {
                part.gradients[array].fill(0.0);
            }
        }
        for place in 0..count {
            let position = range.from + place;
            let stack = usize::from(batch.stacks[position]);
            let sums = &mut part.sums[place..];
            let mut value = layers.forward(stack, sums, count, &mut part.scratch);
            value += head_value(head, stacks, stack, &batch.active[position], batch.counts[position]);
            let target = loss.target(batch.score_targets[position], batch.results[position]);
            let (wrong, slope) = loss.of(value, target);
            part.loss += f64::from(wrong);
            part.values.push(value);
            if learn {
                let slope = slope * weight;
                part.slopes.push(slope);
                layers.backward(stack, slope, sums, count, &mut part.scratch, &mut part.gradients);
            }
        }
    }
}

/// The piece-square head's share of a position's value.
#[inline(always)]
fn head_value(head: &[f32], stacks: usize, stack: usize, active: &Active, count: u8) -> f32 {
    let side = |active: &[u16]| -> f32 { active.iter().map(|input| head[usize::from(*input) * stacks + stack]).sum() };
    let count = usize::from(count);
    (side(&active[0][..count]) - side(&active[1][..count])) / 2.0
}

impl Backend for Cpu {
    fn step(&mut self, batch: &Batch, loss: Loss, learning_rate: f64) -> Totals {
        self.pass(batch, loss, true);
        self.steps += 1;
        let step = self.optimizer.step(self.steps, learning_rate);
        let Self { transformer, head, head_gradient, small, parts, threads, shape, layers, .. } = self;
        let (shape, parts) = (*shape, &*parts);
        let gradients: Vec<_> = parts
            .iter()
            .enumerate()
            .map(|(number, part)| {
                let range = Range::of(number, batch.len());
                let (active, counts) = (range.of_slice(&batch.active), range.of_slice(&batch.counts));
                Gradients { active, counts, gradients: &part.sums }
            })
            .collect();
        threads.scope(|scope| {
            transformer.learn(scope, &gradients, &step);
            scope.spawn(|_| step_head(head, head_gradient, batch, parts, shape, &step));
            scope.spawn(|_| {
                for (group, array) in small.iter_mut().zip(SMALL) {
                    step_small(group, array, parts, shape, &step);
                }
            });
        });
        for (group, array) in small.iter().zip(SMALL) {
            layers.set(array, &group.values);
        }
        self.totals()
    }

    fn evaluate(&mut self, batch: &Batch, loss: Loss, values: &mut Vec<f32>) -> Totals {
        self.pass(batch, loss, false);
        values.extend(self.parts.iter().flat_map(|part| &part.values));
        self.totals()
    }

    fn state(&self) -> State {
        State {
            values: self.arrays(|group| &group.values),
            first: self.arrays(|group| &group.first),
            second: self.arrays(|group| &group.second),
            slow: self.optimizer.lookahead.map(|_| self.arrays(|group| &group.slow)),
            steps: self.steps,
        }
    }
}

fn step_head(head: &mut Group, gradient: &mut [f32], batch: &Batch, parts: &[Part], shape: Shape, step: &Step) {
    let stacks = shape.sizes.stacks();
    gradient.fill(0.0);
    let slopes = parts.iter().flat_map(|part| &part.slopes);
    for (place, slope) in slopes.enumerate() {
        let (stack, count) = (usize::from(batch.stacks[place]), usize::from(batch.counts[place]));
        for (active, slope) in batch.active[place].iter().zip([slope / 2.0, -slope / 2.0]) {
            for input in &active[..count] {
                gradient[usize::from(*input) * stacks + stack] += slope;
            }
        }
    }
    head.step(step, gradient, Array::Head.limit(&shape));
}

fn step_small(group: &mut Group, array: Array, parts: &[Part], shape: Shape, step: &Step) {
    let mut sum = vec![0.0; group.values.len()];
    for part in parts {
        for (sum, gradient) in sum.iter_mut().zip(&part.gradients[array]) {
            *sum += gradient;
        }
    }
    group.step(step, &sum, array.limit(&shape));
}
