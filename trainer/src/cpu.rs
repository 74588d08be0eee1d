//! The CPU backend, in Rust alone.
//!
//! A batch is taken in groups of `GROUP` positions, which fit the cache. Forward, each block of
//! the transformer's columns has a task; so it has backward. In between, parts of `PART`
//! positions run through the layers. In the end each block is updated. Batches ordered by stack are
//! the fastest.
//!
//! Every summation order is fixed by the batch. So the same batches give the same bits on every
//! machine, with any number of threads and any instruction set.

mod layers;
mod sum;
#[cfg(test)]
mod tests;
mod transformer;

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::{
    backend::{Backend, BackendError, State, Totals},
    batch::{Active, Batch},
    loss::Loss,
    model::{Array, Arrays, Shape},
    optimizer::{Group, Optimizer, Step},
    simd::{self, Loops},
};
use layers::{CHUNK, Layers, Place, Scratch, StackGradient};
pub use sum::Sum;
pub use transformer::{Gradients, LANES, Limits, Sums, Table, Transformer};

/// Positions of a part, which one thread takes through the layers.
const PART: usize = 128;

/// Positions of a group: a whole number of parts.
const GROUP: usize = 32 * PART;

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
    /// One for each thread.
    scratches: Vec<Mutex<Scratch>>,
    /// The transformer's sums of a group.
    sums: Vec<Sums>,
    /// The same under fake quantisation.
    whole_sums: Vec<Sums<i16>>,
    /// The slopes of a group's sums.
    slopes: Vec<Sums>,
    values: Vec<f32>,
    /// The slope of the loss in each position's value.
    value_slopes: Vec<f32>,
    steps: u64,
}

/// The results of a part of a batch.
#[derive(Default)]
struct Part {
    loss: f64,
    gradients: Vec<StackGradient>,
}

impl Cpu {
    /// Resumes a net from its state.
    ///
    /// # Errors
    ///
    /// If the thread pool cannot be started, or the net is for another engine.
    pub fn new(shape: Shape, optimizer: Optimizer, state: &State, threads: usize) -> Result<Self, BackendError> {
        if let Some(engine) = shape.foreign_engine().filter(|_| shape.is_pikafish()) {
            return Err(BackendError::NeedsLibtorch(engine.name));
        }
        let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let threads = threads.map_err(|error| BackendError::Threads(error.to_string()))?;
        let values = &state.values;
        let table = table(values);
        let limits = Limits { rows: Array::Transformer.limit(&shape), bias: Array::TransformerBias.limit(&shape) };
        let whole_one = shape.fake_quantisation.then(|| shape.transformer_one());
        let mut layers = Layers::new(shape);
        for array in SMALL {
            set(&mut layers, shape, array, &values[array]);
        }
        let mut cpu = Self {
            shape,
            optimizer,
            transformer: Transformer::new(&table, shape.sharing(), &optimizer, limits, whole_one),
            head: Group::new(values[Array::Head].clone(), &optimizer),
            head_gradient: vec![0.0; values[Array::Head].len()],
            small: SMALL.iter().map(|array| Group::new(values[*array].clone(), &optimizer)).collect(),
            parts: Vec::new(),
            scratches: (0..threads.current_num_threads()).map(|_| Mutex::new(layers.scratch())).collect(),
            sums: Vec::new(),
            whole_sums: Vec::new(),
            slopes: Vec::new(),
            values: Vec::new(),
            value_slopes: Vec::new(),
            threads,
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
        if self.shape.fake_quantisation {
            self.pass_of::<i16>(batch, loss, learn);
        } else {
            self.pass_of::<f32>(batch, loss, learn);
        }
    }

    fn pass_of<S: Sum>(&mut self, batch: &Batch, loss: Loss, learn: bool) {
        let stacks = self.shape.sizes.stacks();
        let Self { transformer, layers, head, parts, scratches, slopes, values, value_slopes, threads, .. } = self;
        let (layers, head, scratches, length) = (&*layers, &*head.values, &*scratches, batch.len());
        let sums = S::pick_mut(&mut self.sums, &mut self.whole_sums);
        let (blocks, level, weight) = (transformer.blocks(), transformer.level(), 1.0 / length as f32);
        parts.resize_with(length.div_ceil(PART), Part::default);
        values.resize(length, 0.0);
        value_slopes.resize(length, 0.0);
        for from in (0..length).step_by(GROUP) {
            let to = length.min(from + GROUP);
            let (active, counts) = (&batch.active[from..to], &batch.counts[from..to]);
            sums.resize(counts.len() * blocks, [[S::default(); LANES]; 2]);
            threads.scope(|scope| transformer.forward(scope, active, counts, sums));
            let sums = &*sums;
            slopes.resize(if learn { sums.len() } else { 0 }, [[0.0; LANES]; 2]);
            let mut of_parts: Vec<_> = (from..to).step_by(PART).map(|_| Vec::with_capacity(blocks)).collect();
            for block in slopes.chunks_exact_mut(counts.len()) {
                for (part, slopes) in of_parts.iter_mut().zip(block.chunks_mut(PART)) {
                    part.push(slopes);
                }
            }
            threads.install(|| {
                let values = values[from..to].par_chunks_mut(PART).zip(value_slopes[from..to].par_chunks_mut(PART));
                let parts = parts[from / PART..].par_iter_mut().zip(values).zip(of_parts).enumerate();
                parts.for_each(|(number, ((part, (values, value_slopes)), slopes))| {
                    let scratch = &scratches[rayon::current_thread_index().unwrap_or(0)];
                    let scratch = &mut *scratch.lock().unwrap_or_else(PoisonError::into_inner);
                    let range = Range { group: from, part: number * PART, stride: counts.len() };
                    let of_batch = OfBatch { layers, head, stacks, loss, weight, learn, batch, sums };
                    simd::run(level, Pass { of_batch, range, part, values, value_slopes, slopes, scratch });
                });
            });
            if learn {
                threads.scope(|scope| transformer.backward(scope, Gradients { active, counts, gradients: slopes }));
            }
        }
    }

    fn totals(&self) -> Totals {
        // Summed in the order of the parts.
        Totals { loss: self.parts.iter().map(|part| part.loss).sum() }
    }
}

fn table(arrays: &Arrays) -> Table<'_> {
    Table { rows: &arrays[Array::Transformer], shared: &arrays[Array::Shared], bias: &arrays[Array::TransformerBias] }
}

/// Sets an array of the layers.
fn set(layers: &mut Layers, shape: Shape, array: Array, values: &[f32]) {
    if shape.fake_quantisation {
        layers.set::<i16>(array, values);
    } else {
        layers.set::<f32>(array, values);
    }
}

/// The batch and its group, as all passes of the group share them.
#[derive(Clone, Copy)]
struct OfBatch<'a, S> {
    layers: &'a Layers,
    head: &'a [f32],
    stacks: usize,
    loss: Loss,
    weight: f32,
    learn: bool,
    batch: &'a Batch,
    sums: &'a [Sums<S>],
}

/// The place of a part.
#[derive(Clone, Copy)]
struct Range {
    /// The first position of its group in the batch.
    group: usize,
    /// Its first position in the group.
    part: usize,
    /// The length of the group.
    stride: usize,
}

struct Pass<'a, S> {
    of_batch: OfBatch<'a, S>,
    range: Range,
    part: &'a mut Part,
    values: &'a mut [f32],
    value_slopes: &'a mut [f32],
    /// The slopes of each block.
    slopes: Vec<&'a mut [Sums]>,
    scratch: &'a mut Scratch,
}

impl<S: Sum> Loops for Pass<'_, S> {
    #[inline(always)]
    fn run(self) {
        let Self { of_batch, range, part, values, value_slopes, mut slopes, scratch } = self;
        let OfBatch { layers, head, stacks, loss, weight, learn, batch, sums } = of_batch;
        let Range { group, part: first, stride } = range;
        let of_part = &batch.stacks[group + first..][..values.len()];
        part.loss = 0.0;
        let mut used = std::mem::take(&mut part.gradients);
        let mut position = 0;
        while position < values.len() {
            let stack = usize::from(of_part[position]);
            let same = of_part[position..].iter().take(CHUNK).take_while(|of| usize::from(**of) == stack);
            let place = Place { position: first + position, in_part: position, count: same.count(), stride };
            layers.forward(stack, sums, place, scratch);
            for chunk in 0..place.count {
                let (position, in_batch) = (position + chunk, group + first + position + chunk);
                let of_head = head_value(head, stacks, stack, &batch.active[in_batch], batch.counts[in_batch]);
                let value = scratch.values[chunk] + of_head;
                let target = loss.target(batch.score_targets[in_batch], batch.results[in_batch]);
                let (wrong, slope) = loss.of(value, target);
                part.loss += f64::from(wrong);
                scratch.slopes[chunk] = slope * weight;
                values[position] = value;
                value_slopes[position] = slope * weight;
            }
            if learn {
                if part.gradients.iter().all(|gradient| gradient.stack != stack) {
                    part.gradients.push(layers.gradient(stack, used.pop()));
                }
                if let Some(gradient) = part.gradients.iter_mut().find(|gradient| gradient.stack == stack) {
                    layers.backward(sums, place, scratch, gradient, &mut slopes);
                }
            }
            position += place.count;
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
        let value_slopes = &*self.value_slopes;
        threads.scope(|scope| {
            transformer.update(scope, &step);
            scope.spawn(|_| step_head(head, head_gradient, batch, value_slopes, shape, &step));
            scope.spawn(|_| {
                for (group, array) in small.iter_mut().zip(SMALL) {
                    let gradients = parts.iter().flat_map(|part| &part.gradients);
                    let gradient = if shape.fake_quantisation {
                        layers.sum::<i16>(array, gradients)
                    } else {
                        layers.sum::<f32>(array, gradients)
                    };
                    group.step(&step, &gradient, array.limit(&shape));
                    set(layers, shape, array, &group.values);
                }
            });
        });
        self.totals()
    }

    fn evaluate(&mut self, batch: &Batch, loss: Loss, values: &mut Vec<f32>) -> Totals {
        self.pass(batch, loss, false);
        values.extend_from_slice(&self.values);
        self.totals()
    }

    fn values(&self) -> Arrays {
        self.arrays(|group| &group.values)
    }

    fn state(&self) -> State {
        State {
            values: self.values(),
            first: self.arrays(|group| &group.first),
            second: self.arrays(|group| &group.second),
            slow: self.optimizer.lookahead.map(|_| self.arrays(|group| &group.slow)),
            average: None,
            steps: self.steps,
        }
    }
}

fn step_head(head: &mut Group, gradient: &mut [f32], batch: &Batch, value_slopes: &[f32], shape: Shape, step: &Step) {
    let stacks = shape.sizes.stacks();
    gradient.fill(0.0);
    for (place, slope) in value_slopes.iter().enumerate() {
        let (stack, count) = (usize::from(batch.stacks[place]), usize::from(batch.counts[place]));
        for (active, slope) in batch.active[place].iter().zip([slope / 2.0, -slope / 2.0]) {
            for input in &active[..count] {
                gradient[usize::from(*input) * stacks + stack] += slope;
            }
        }
    }
    head.step(step, gradient, Array::Head.limit(&shape));
}
