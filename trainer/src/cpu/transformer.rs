//! The input layer: of thousands of inputs some thirty are on.
//!
//! Its table is cut into blocks of [`LANES`] columns, small enough for a core's own cache where there are some thousand
//! inputs. Forward, a thread sums the rows of its positions block by block. Backward, each block is one thread's own: it
//! adds up every row's gradient and moves its weights, so that no sum depends on how many threads there are.

use nnue::architecture::TRANSFORMER_ONE;

use crate::{
    batch::Active,
    optimizer::{Group, Optimizer, Step},
    sharing::Sharing,
    simd::{self, Level, Loops},
};

/// How many columns a block has: half of the least width, so that both numbers of a pair are in the same place of their
/// blocks, and two vectors of the widest instruction set.
pub const LANES: usize = 32;

/// The sums of one block for one position: the side to move's, then the other's.
pub type Sums = [[f32; LANES]; 2];

/// A table of weights and a bias.
pub struct Transformer {
    level: Level,
    sharing: Sharing,
    blocks: Vec<Block>,
}

/// [`LANES`] columns of the table.
struct Block {
    rows: Group,
    /// Rows that buckets add to their own, where they share any.
    shared: Option<Group>,
    bias: Group,
    /// The rows as they are used, where that is not what `rows` holds.
    effective: Vec<f32>,
    effective_bias: [f32; LANES],
    gradient: Vec<f32>,
    rounded: bool,
    limits: Limits,
}

/// How far from zero numbers may go.
#[derive(Clone, Copy)]
pub struct Limits {
    /// The weights of rows and shared rows.
    pub rows: f32,
    /// The biases.
    pub bias: f32,
}

/// The numbers of a table, row by row.
pub struct Table<'a> {
    /// The weights.
    pub rows: &'a [f32],
    /// The shared weights; empty if there are none.
    pub shared: &'a [f32],
    /// The biases, as many as the table is wide.
    pub bias: &'a [f32],
}

impl Transformer {
    /// A table of which the optimiser remembers nothing. `sharing` says which shared rows are added to which, if there are
    /// any; `rounded`: its numbers count as the integers that they become.
    ///
    /// # Panics
    ///
    /// If the table's width is no multiple of [`LANES`].
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

    /// Takes a worse instruction set than the best: for tests.
    #[cfg(test)]
    pub(crate) const fn set_level(&mut self, level: Level) {
        self.level = level;
    }

    pub(crate) const fn level(&self) -> Level {
        self.level
    }

    /// How many blocks of columns there are.
    #[must_use]
    pub const fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The sums of some positions: for each block those of each position.
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

    /// The same of a whole batch, block by block on the threads of `scope`: where a block's rows are more than a core's
    /// cache holds beside others', they are read once for all positions and not once for every few.
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

    /// Learns from the gradients of the sums of some positions, which come in parts.
    pub fn learn<'a>(&'a mut self, scope: &rayon::Scope<'a>, parts: &'a [Gradients<'a>], step: &'a Step) {
        let Self { level, sharing, blocks } = self;
        let (level, sharing) = (*level, &*sharing);
        for (number, block) in blocks.iter_mut().enumerate() {
            scope.spawn(move |_| block.learn(level, number, parts, sharing, step));
        }
    }

    /// The rows of one of the three: weights, mean gradients, or mean squares.
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

    /// Puts numbers in the place of one of the three.
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

    /// Works out the rows as they are used.
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

/// A part of a batch: what was on, how many inputs, and the gradients of the sums, as [`Transformer::forward`] gives sums.
#[derive(Clone, Copy)]
pub struct Gradients<'a> {
    /// What was on.
    pub active: &'a [Active],
    /// How many inputs.
    pub counts: &'a [u8],
    /// For each block those of each position.
    pub gradients: &'a [Sums],
}

impl<'a> Gradients<'a> {
    fn of_block(&self, number: usize) -> &'a [Sums] {
        &self.gradients[number * self.counts.len()..][..self.counts.len()]
    }
}

impl Block {
    /// Adds the gradients of all positions to the rows that were on, part by part, and moves the weights.
    fn learn(&mut self, level: Level, number: usize, parts: &[Gradients<'_>], sharing: &Sharing, step: &Step) {
        let mut bias = [0.0; LANES];
        for part in parts {
            let Gradients { active, counts, .. } = *part;
            let (gradient, gradients) = (&mut *self.gradient, part.of_block(number));
            simd::run(level, Backward { gradient, bias: &mut bias, active, counts, gradients });
        }
        simd::run(level, Move { block: self, bias: &bias, sharing, step });
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
                // On a local copy the compiler keeps it in registers.
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

struct Move<'a> {
    block: &'a mut Block,
    bias: &'a [f32; LANES],
    sharing: &'a Sharing,
    step: &'a Step,
}

impl Loops for Move<'_> {
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
