//! The feature transformer: a sparse input layer with about thirty active inputs of thousands.
//!
//! The table is split into blocks of [`LANES`] columns, which fit a core's own cache for a few
//! thousand inputs. Forward, a thread sums the rows of its positions block by block. Backward, each
//! block belongs to one thread, which accumulates the gradients and updates the weights. So no sum
//! depends on the number of threads.

use nnue::architecture::TRANSFORMER_ONE;

use crate::{
    batch::Active,
    optimizer::{Group, Optimizer, Step},
    sharing::Sharing,
    simd::{self, Level, Loops},
};

/// Columns of a block: half of the least width, and two vectors of the widest instruction set. So
/// both numbers of a pair have the same place in their blocks.
pub const LANES: usize = 32;

/// The sums of one block for one position: the side to move's, then the other's.
pub type Sums = [[f32; LANES]; 2];

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
    /// The merged and rounded rows, where these differ from `rows`.
    effective: Vec<f32>,
    effective_bias: [f32; LANES],
    gradient: Vec<f32>,
    rounded: bool,
    limits: Limits,
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
    /// A table with fresh optimiser state. `sharing` maps buckets to shared rows; `rounded` enables
    /// fake quantisation.
    ///
    /// # Panics
    ///
    /// If the width is no multiple of [`LANES`].
    #[must_use]
    pub fn new(table: &Table<'_>, sharing: Sharing, optimizer: &Optimizer, limits: Limits, rounded: bool) -> Self {
        let width = table.bias.len();
        assert!(width.is_multiple_of(LANES), "the width is a multiple of {LANES}");
        let blocks = (0..width / LANES).map(|block| {
            let columns = |values: &[f32]| columns(values, width, block);
            let shared = (!table.shared.is_empty()).then(|| Group::new(columns(table.shared), optimizer));
            let rows = Group::new(columns(table.rows), optimizer);
            let mut block = Block {
                effective: if rounded || shared.is_some() { vec![0.0; rows.values.len()] } else { Vec::new() },
                gradient: vec![0.0; rows.values.len()],
                rows,
                shared,
                bias: Group::new(columns(table.bias), optimizer),
                effective_bias: [0.0; LANES],
                rounded,
                limits,
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

    /// Forward pass: the sums of some positions, block by block.
    ///
    /// # Panics
    ///
    /// If there are not as many counts as positions, and sums for every block.
    pub fn forward(&self, active: &[Active], counts: &[u8], sums: &mut [Sums]) {
        assert!(active.len() == counts.len() && sums.len() == counts.len() * self.blocks.len());
        for (block, sums) in self.blocks.iter().zip(sums.chunks_exact_mut(counts.len().max(1))) {
            simd::run(
                self.level,
                Forward { rows: block.effective(), bias: &block.effective_bias, active, counts, sums },
            );
        }
    }

    /// Forward pass of a whole batch, one task per block on the threads of `scope`. A block's rows
    /// are then read once for all positions, which pays where they exceed a core's share of the
    /// cache.
    ///
    /// # Panics
    ///
    /// If there are not as many counts as positions, and sums for every block.
    pub fn forward_by_blocks<'a>(
        &'a self,
        scope: &rayon::Scope<'a>,
        active: &'a [Active],
        counts: &'a [u8],
        sums: &'a mut [Sums],
    ) {
        assert!(active.len() == counts.len() && sums.len() == counts.len() * self.blocks.len());
        for (block, sums) in self.blocks.iter().zip(sums.chunks_exact_mut(counts.len().max(1))) {
            let forward = Forward { rows: block.effective(), bias: &block.effective_bias, active, counts, sums };
            scope.spawn(move |_| simd::run(self.level, forward));
        }
    }

    /// Backward pass and optimiser step, from the gradients of the sums, which come in parts.
    pub fn learn<'a>(&'a mut self, scope: &rayon::Scope<'a>, parts: &'a [Gradients<'a>], step: &'a Step) {
        let Self { level, sharing, blocks } = self;
        let (level, sharing) = (*level, &*sharing);
        for (number, block) in blocks.iter_mut().enumerate() {
            scope.spawn(move |_| block.learn(level, number, parts, sharing, step));
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
    fn effective(&self) -> &[f32] {
        if self.effective.is_empty() { &self.rows.values } else { &self.effective }
    }

    /// Merges shared rows, then rounds under fake quantisation.
    #[inline(always)]
    fn refresh(&mut self, sharing: &Sharing) {
        const ONE: f32 = TRANSFORMER_ONE as f32;
        if !self.effective.is_empty() {
            self.effective.copy_from_slice(&self.rows.values);
        }
        if let Some(shared) = &self.shared {
            sharing.add(&mut self.effective, &shared.values, LANES);
        }
        self.effective_bias.copy_from_slice(&self.bias.values);
        if self.rounded {
            for number in self.effective.iter_mut().chain(&mut self.effective_bias) {
                *number = (*number * ONE).round_ties_even() / ONE;
            }
        }
    }
}

/// The gradients of a part of a batch, laid out as [`Transformer::forward`] lays out sums.
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

impl Block {
    /// Accumulates the gradients of all positions in the active rows, part by part, then steps the
    /// optimiser.
    fn learn(&mut self, level: Level, number: usize, parts: &[Gradients<'_>], sharing: &Sharing, step: &Step) {
        let mut bias = [0.0; LANES];
        for part in parts {
            let Gradients { active, counts, .. } = *part;
            let (gradient, gradients) = (&mut *self.gradient, part.of_block(number));
            simd::run(level, Backward { gradient, bias: &mut bias, active, counts, gradients });
        }
        simd::run(level, Update { block: self, bias: &bias, sharing, step });
    }
}

struct Forward<'a> {
    rows: &'a [f32],
    bias: &'a [f32; LANES],
    active: &'a [Active],
    counts: &'a [u8],
    sums: &'a mut [Sums],
}

impl Loops for Forward<'_> {
    #[inline(always)]
    fn run(self) {
        let rows = self.rows.as_chunks::<LANES>().0;
        for ((active, count), sums) in self.active.iter().zip(self.counts).zip(self.sums) {
            for (active, sums) in active.iter().zip(sums) {
                let mut sum = *self.bias;
                for input in active.iter().take(usize::from(*count)) {
                    let row = &rows[usize::from(*input)];
                    for (sum, weight) in sum.iter_mut().zip(row) {
                        *sum += weight;
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
    bias: &'a [f32; LANES],
    sharing: &'a Sharing,
    step: &'a Step,
}

impl Loops for Update<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { block, bias, sharing, step } = self;
        if let Some(shared) = &mut block.shared {
            shared.step(step, &sharing.sums(&block.gradient, LANES), block.limits.rows);
        }
        block.rows.step(step, &block.gradient, block.limits.rows);
        block.gradient.fill(0.0);
        block.bias.step(step, bias, block.limits.bias);
        block.refresh(sharing);
    }
}
