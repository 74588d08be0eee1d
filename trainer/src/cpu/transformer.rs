//! The feature transformer: a sparse input layer with about thirty active inputs of thousands.
//!
//! The table is split into blocks of [`LANES`] columns, which fit a core's own cache for a few
//! thousand inputs. A block's rows are summed, and its gradients are added, position by position.
//! So no sum depends on the number of threads.

use super::sum::Sum;
use crate::{
    batch::Active,
    optimizer::{Group, Optimizer, Step},
    sharing::Sharing,
    simd::{self, Level, Loops},
};

/// Columns of a block: half of the least width, and two vectors of the widest instruction set. So
/// both numbers of a pair have the same place in their blocks.
pub const LANES: usize = 32;

/// Positions of a task of the forward pass.
const TASK: usize = 2_048;

/// The sums of one block for one position: the side to move's, then the other's.
pub type Sums<S = f32> = [[S; LANES]; 2];

/// A feature transformer: a table of weights and a bias.
pub struct Transformer {
    level: Level,
    sharing: Sharing,
    blocks: Vec<Block>,
}

/// [`LANES`] columns of the table.
struct Block {
    rows: Group,
    /// Shared rows of factorised features, if there are any.
    shared: Option<Group>,
    bias: Group,
    /// The rows with their shared rows, if there are any.
    merged: Vec<f32>,
    /// The engine's integers, under fake quantisation.
    whole: Vec<i16>,
    whole_bias: Vec<i16>,
    gradient: Vec<f32>,
    bias_gradient: [f32; LANES],
    limits: Limits,
    /// The integer that stands for 1.0.
    one: f32,
}

/// Weight clipping bounds.
#[derive(Clone, Copy)]
pub struct Limits {
    /// The bound of rows and shared rows.
    pub rows: f32,
    /// The bound of the biases.
    pub bias: f32,
}

/// The parameters of a table, row by row.
pub struct Table<'a> {
    /// The weights.
    pub rows: &'a [f32],
    /// The shared weights; empty without factorisation.
    pub shared: &'a [f32],
    /// The biases, as many as the table is wide.
    pub bias: &'a [f32],
}

impl Transformer {
    /// A table with fresh optimiser state. `sharing` maps buckets to shared rows; `one` is the
    /// integer that stands for 1.0 under fake quantisation.
    ///
    /// # Panics
    ///
    /// If the width is no multiple of [`LANES`].
    #[must_use]
    pub fn new(table: &Table<'_>, sharing: Sharing, optimizer: &Optimizer, limits: Limits, one: Option<f32>) -> Self {
        let width = table.bias.len();
        assert!(width.is_multiple_of(LANES), "the width is a multiple of {LANES}");
        let blocks = (0..width / LANES).map(|block| {
            let columns = |values: &[f32]| columns(values, width, block);
            let shared = (!table.shared.is_empty()).then(|| Group::new(columns(table.shared), optimizer));
            let rows = Group::new(columns(table.rows), optimizer);
            let count = rows.values.len();
            let mut block = Block {
                merged: vec![0.0; if shared.is_some() { count } else { 0 }],
                whole: vec![0; if one.is_some() { count } else { 0 }],
                whole_bias: vec![0; LANES],
                gradient: vec![0.0; count],
                bias_gradient: [0.0; LANES],
                rows,
                shared,
                bias: Group::new(columns(table.bias), optimizer),
                limits,
                one: one.unwrap_or_default(),
            };
            block.refresh(&sharing);
            block
        });
        let blocks = blocks.collect();
        Self { level: Level::best(), sharing, blocks }
    }

    /// Sets a lower instruction set, for tests.
    #[cfg(test)]
    pub(crate) const fn set_level(&mut self, level: Level) {
        self.level = level;
    }

    pub(crate) const fn level(&self) -> Level {
        self.level
    }

    /// The number of blocks.
    #[must_use]
    pub const fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Forward pass: the sums of some positions, block by block, in tasks of `scope`. Integers are
    /// those of a rounded table.
    ///
    /// A block's rows are read once for all positions: they fit a core's own cache.
    ///
    /// # Panics
    ///
    /// If there are not as many counts as positions, and sums for every block.
    pub fn forward<'a, S: Sum>(
        &'a self,
        scope: &rayon::Scope<'a>,
        active: &'a [Active],
        counts: &'a [u8],
        sums: &'a mut [Sums<S>],
    ) {
        assert!(active.len() == counts.len() && sums.len() == counts.len() * self.blocks.len());
        for (block, sums) in self.blocks.iter().zip(sums.chunks_exact_mut(counts.len().max(1))) {
            let tasks = active.chunks(TASK).zip(counts.chunks(TASK)).zip(sums.chunks_mut(TASK));
            for ((active, counts), sums) in tasks {
                let rows = S::pick(block.merged(), &block.whole);
                let bias = S::pick(&block.bias.values, &block.whole_bias);
                scope.spawn(move |_| simd::run(self.level, Forward { rows, bias, active, counts, sums }));
            }
        }
    }

    /// Backward pass: adds the gradients of some positions, in their order.
    pub fn backward<'a>(&'a mut self, scope: &rayon::Scope<'a>, gradients: Gradients<'a>) {
        let level = self.level;
        for (number, block) in self.blocks.iter_mut().enumerate() {
            let Gradients { active, counts, .. } = gradients;
            let gradients = gradients.of_block(number);
            let Block { gradient, bias_gradient: bias, .. } = block;
            scope.spawn(move |_| simd::run(level, Backward { gradient, bias, active, counts, gradients }));
        }
    }

    /// Steps the optimiser by the gradients that were added.
    pub fn update<'a>(&'a mut self, scope: &rayon::Scope<'a>, step: &'a Step) {
        let Self { level, sharing, blocks } = self;
        let (level, sharing) = (*level, &*sharing);
        for block in blocks {
            scope.spawn(move |_| simd::run(level, Update { block, sharing, step }));
        }
    }

    /// Gathers one kind of numbers from all blocks: weights, first or second moments.
    pub(crate) fn gather(&self, pick: impl Fn(&Group) -> &[f32]) -> (Vec<f32>, Vec<f32>, Vec<f32>) {
        let width = self.blocks.len() * LANES;
        let join = |of: &dyn Fn(&Block) -> Option<&[f32]>| {
            let parts: Vec<_> = self.blocks.iter().filter_map(of).collect();
            let mut joined = vec![0.0; parts.iter().map(|part| part.len()).sum()];
            for (block, part) in parts.into_iter().enumerate() {
                for (row, part) in joined.chunks_exact_mut(width).zip(part.chunks_exact(LANES)) {
                    row[block * LANES..][..LANES].copy_from_slice(part);
                }
            }
            joined
        };
        (
            join(&|block| Some(pick(&block.rows))),
            join(&|block| block.shared.as_ref().map(&pick)),
            join(&|block| Some(pick(&block.bias))),
        )
    }

    /// Scatters one kind of numbers over the blocks.
    pub(crate) fn scatter(&mut self, table: &Table<'_>, pick: impl Fn(&mut Group) -> &mut Vec<f32>) {
        let width = self.blocks.len() * LANES;
        for (index, block) in self.blocks.iter_mut().enumerate() {
            *pick(&mut block.rows) = columns(table.rows, width, index);
            if let Some(shared) = &mut block.shared {
                *pick(shared) = columns(table.shared, width, index);
            }
            *pick(&mut block.bias) = columns(table.bias, width, index);
            block.refresh(&self.sharing);
        }
    }
}

/// The columns of a block.
fn columns(values: &[f32], width: usize, block: usize) -> Vec<f32> {
    values.chunks_exact(width).flat_map(|row| &row[block * LANES..][..LANES]).copied().collect()
}

impl Block {
    fn merged(&self) -> &[f32] {
        if self.shared.is_some() { &self.merged } else { &self.rows.values }
    }

    /// Merges shared rows, then rounds under fake quantisation.
    #[inline(always)]
    fn refresh(&mut self, sharing: &Sharing) {
        if let Some(shared) = &self.shared {
            self.merged.copy_from_slice(&self.rows.values);
            sharing.add(&mut self.merged, &shared.values, LANES);
        }
        let merged = if self.shared.is_some() { &self.merged } else { &self.rows.values };
        let one = self.one;
        let round = |whole: &mut [i16], numbers: &[f32]| {
            // Added to a small number, this leaves it rounded, ties to even, in the lowest bits.
            const ROUND: f32 = 1.5 * (1_u32 << (f32::MANTISSA_DIGITS - 1)) as f32;
            for (whole, number) in whole.iter_mut().zip(numbers) {
                *whole = (number * one + ROUND).to_bits() as i16;
            }
        };
        round(&mut self.whole, merged);
        round(&mut self.whole_bias, &self.bias.values);
    }
}

/// The gradients of some positions, laid out as [`Transformer::forward`] lays out sums.
#[derive(Clone, Copy)]
pub struct Gradients<'a> {
    /// The active inputs.
    pub active: &'a [Active],
    /// The number of active inputs.
    pub counts: &'a [u8],
    /// For each block, the gradient of each position.
    pub gradients: &'a [Sums],
}

impl<'a> Gradients<'a> {
    fn of_block(&self, number: usize) -> &'a [Sums] {
        &self.gradients[number * self.counts.len()..][..self.counts.len()]
    }
}

struct Forward<'a, S> {
    rows: &'a [S],
    bias: &'a [S],
    active: &'a [Active],
    counts: &'a [u8],
    sums: &'a mut [Sums<S>],
}

impl<S: Sum> Loops for Forward<'_, S> {
    #[inline(always)]
    fn run(self) {
        let rows = self.rows.as_chunks::<LANES>().0;
        let bias = self.bias.as_chunks::<LANES>().0[0];
        for ((active, count), sums) in self.active.iter().zip(self.counts).zip(self.sums) {
            for (active, sums) in active.iter().zip(sums) {
                let mut sum = bias;
                for input in active.iter().take(usize::from(*count)) {
                    let row = &rows[usize::from(*input)];
                    for (sum, weight) in sum.iter_mut().zip(row) {
                        *sum = sum.plus(*weight);
                    }
                }
                *sums = sum;
            }
        }
    }
}

struct Backward<'a> {
    gradient: &'a mut [f32],
    bias: &'a mut [f32; LANES],
    active: &'a [Active],
    counts: &'a [u8],
    gradients: &'a [Sums],
}

impl Loops for Backward<'_> {
    #[inline(always)]
    fn run(self) {
        let rows = self.gradient.as_chunks_mut::<LANES>().0;
        let mut bias = *self.bias;
        for ((active, count), gradients) in self.active.iter().zip(self.counts).zip(self.gradients) {
            for (active, gradient) in active.iter().zip(gradients) {
                // A local copy stays in registers.
                let gradient = *gradient;
                if gradient.iter().fold(0, |bits, gradient| bits | gradient.to_bits()) == 0 {
                    continue;
                }
                for input in active.iter().take(usize::from(*count)) {
                    let row = &mut rows[usize::from(*input)];
                    for (sum, gradient) in row.iter_mut().zip(&gradient) {
                        *sum += gradient;
                    }
                }
                for (sum, gradient) in bias.iter_mut().zip(&gradient) {
                    *sum += gradient;
                }
            }
        }
        *self.bias = bias;
    }
}

struct Update<'a> {
    block: &'a mut Block,
    sharing: &'a Sharing,
    step: &'a Step,
}

impl Loops for Update<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { block, sharing, step } = self;
        if let Some(shared) = &mut block.shared {
            shared.step(step, &sharing.sums(&block.gradient, LANES), block.limits.rows);
        }
        block.rows.step(step, &block.gradient, block.limits.rows);
        block.gradient.fill(0.0);
        block.bias.step(step, &block.bias_gradient, block.limits.bias);
        block.bias_gradient = [0.0; LANES];
        block.refresh(sharing);
    }
}
