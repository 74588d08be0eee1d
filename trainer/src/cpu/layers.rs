//! The layers above the transformer, for some positions of one stack at a time.
//!
//! Products of matrices are computed in [`Tile`]s that stay in registers. Every sum has one order,
//! whatever the instruction set: forward that of the inputs, in gradients that of the positions.
//! Multiplication and addition are fused, with one rounding.

use std::array::from_fn;

use super::{
    sum::Sum,
    transformer::{LANES, Sums},
};
use crate::model::{Array, Shape};

/// Columns that are computed together.
const VECTOR: usize = 16;

/// Rows of a tile.
const ROWS: usize = 4;

/// Positions that are taken at once. Their activations fit a core's own cache.
pub(super) const CHUNK: usize = 64;

type Vector = [f32; VECTOR];

/// Sums of products: rows of factors times a vector.
struct Tile([Vector; ROWS]);

impl Tile {
    #[inline(always)]
    fn add(&mut self, factors: [f32; ROWS], vector: &Vector) {
        for (row, factor) in self.0.iter_mut().zip(factors) {
            for (sum, number) in row.iter_mut().zip(vector) {
                *sum = factor.mul_add(*number, *sum);
            }
        }
    }
}

/// Numbers of [`CHUNK`] positions: `[vector of columns][position]`.
#[derive(Default)]
struct Matrix(Vec<Vector>);

impl Matrix {
    fn new(columns: usize) -> Self {
        Self(vec![[0.0; VECTOR]; vectors(columns) * CHUNK])
    }

    /// One vector of columns of all positions.
    #[inline(always)]
    fn column(&self, vector: usize) -> &[Vector; CHUNK] {
        &self.0.as_chunks().0[vector]
    }

    #[inline(always)]
    fn columns(&self) -> &[[Vector; CHUNK]] {
        self.0.as_chunks().0
    }

    #[inline(always)]
    fn columns_mut(&mut self) -> &mut [[Vector; CHUNK]] {
        self.0.as_chunks_mut().0
    }
}

const fn vectors(columns: usize) -> usize {
    columns.div_ceil(VECTOR)
}

/// The layers of all stacks.
pub(super) struct Layers {
    shape: Shape,
    stacks: Vec<Stack>,
}

struct Stack {
    first: Layer,
    second: Layer,
    output_bias: f32,
    /// In units of the value for each unit of an activation.
    output: Vec<Vector>,
}

/// A fully connected layer. Inputs and outputs are padded to whole vectors by zeros.
struct Layer {
    inputs: Inputs,
    outputs: usize,
    bias: Vec<Vector>,
    /// For the forward pass, in units of weights: `[vector of outputs][input]`.
    forward: Vec<Vector>,
    /// For the backward pass: `[vector of inputs][output]`.
    backward: Vec<Vector>,
}

/// The inputs of a layer, in parts of equal length.
#[derive(Clone, Copy)]
struct Inputs {
    parts: usize,
    of_part: usize,
}

impl Inputs {
    const fn count(self) -> usize {
        self.parts * self.of_part
    }

    const fn padded(self) -> usize {
        self.parts * vectors(self.of_part) * VECTOR
    }

    /// The place among padded inputs.
    const fn place(self, input: usize) -> usize {
        input / self.of_part * vectors(self.of_part) * VECTOR + input % self.of_part
    }
}

/// Writes a number at a place among vectors.
fn put(vectors: &mut [Vector], place: usize, number: f32) {
    vectors[place / VECTOR][place % VECTOR] = number;
}

impl Layer {
    fn new(inputs: Inputs, outputs: usize) -> Self {
        let none = |count: usize| vec![[0.0; VECTOR]; count];
        let (rows, columns) = (inputs.padded() / VECTOR, vectors(outputs));
        Self {
            inputs,
            outputs,
            bias: none(columns),
            forward: none(columns * inputs.padded()),
            backward: none(rows * columns * VECTOR),
        }
    }

    /// Sets the biases; `round` returns what the forward pass uses.
    fn set_bias(&mut self, bias: &[f32], round: impl Fn(f32) -> f32) {
        for (output, number) in bias.iter().enumerate() {
            put(&mut self.bias, output, round(*number));
        }
    }

    /// Sets the weights; `round` returns what the forward pass uses, in units of `one`.
    fn set_weights(&mut self, weights: &[f32], one: f32, round: impl Fn(f32) -> f32) {
        let (inputs, padded) = (self.inputs, self.inputs.padded());
        for (place, weight) in weights.iter().enumerate() {
            let (vector, lane) = self.place(place);
            let (output, input, rounded) =
                (place / inputs.count(), inputs.place(place % inputs.count()), round(*weight));
            self.forward[output / VECTOR * padded + input][output % VECTOR] = rounded;
            self.backward[vector][lane] = rounded / one;
        }
    }

    const fn padded_outputs(&self) -> usize {
        vectors(self.outputs) * VECTOR
    }

    /// The vector and the lane of a weight among the backward weights.
    const fn place(&self, weight: usize) -> (usize, usize) {
        let (output, input) = (weight / self.inputs.count(), self.inputs.place(weight % self.inputs.count()));
        (input / VECTOR * self.padded_outputs() + output, input % VECTOR)
    }

    /// Forward: the sums of the first `count` positions.
    #[inline(always)]
    fn forward(&self, inputs: &Matrix, count: usize, sums: &mut Matrix) {
        let weights = self.forward.chunks_exact(self.inputs.padded());
        for ((bias, weights), sums) in self.bias.iter().zip(weights).zip(sums.columns_mut()) {
            for (tile, sums) in sums.as_chunks_mut().0.iter_mut().enumerate().take(count.div_ceil(ROWS)) {
                let mut sum = Tile([*bias; ROWS]);
                for (inputs, weights) in inputs.columns().iter().zip(weights.as_chunks::<VECTOR>().0) {
                    let inputs: &[Vector; ROWS] = &inputs.as_chunks().0[tile];
                    for (input, weights) in weights.iter().enumerate() {
                        sum.add(from_fn(|row| inputs[row][input]), weights);
                    }
                }
                *sums = sum.0;
            }
        }
    }

    /// Backward: the slopes in one vector of inputs.
    #[inline(always)]
    fn down(&self, slopes: &Matrix, count: usize, vector: usize, down: &mut [Vector; CHUNK]) {
        let outputs = self.padded_outputs();
        let weights = self.backward[vector * outputs..][..outputs].as_chunks::<VECTOR>().0;
        for (tile, down) in down.as_chunks_mut().0.iter_mut().enumerate().take(count.div_ceil(ROWS)) {
            let mut sum = Tile([[0.0; VECTOR]; ROWS]);
            for (slopes, weights) in slopes.columns().iter().zip(weights) {
                let slopes: &[Vector; ROWS] = &slopes.as_chunks().0[tile];
                for (output, weights) in weights.iter().enumerate() {
                    sum.add(from_fn(|row| slopes[row][output]), weights);
                }
            }
            *down = sum.0;
        }
    }
}

/// The gradients of a layer, laid out as its backward weights, in units of activations.
#[derive(Clone, Default)]
struct LayerGradient {
    bias: Vec<Vector>,
    weights: Vec<Vector>,
}

impl LayerGradient {
    fn new(layer: &Layer) -> Self {
        Self { bias: vec![[0.0; VECTOR]; layer.bias.len()], weights: vec![[0.0; VECTOR]; layer.backward.len()] }
    }

    /// Adds the gradients of `count` positions, in their order.
    #[inline(always)]
    fn add(&mut self, slopes: &Matrix, inputs: &Matrix, count: usize) {
        for (bias, slopes) in self.bias.iter_mut().zip(slopes.columns()) {
            for slopes in &slopes[..count] {
                for (bias, slope) in bias.iter_mut().zip(slopes) {
                    *bias += slope;
                }
            }
        }
        let outputs = self.bias.len() * VECTOR;
        for (inputs, weights) in inputs.columns().iter().zip(self.weights.chunks_exact_mut(outputs)) {
            for (tile, weights) in weights.as_chunks_mut().0.iter_mut().enumerate() {
                let slopes = slopes.column(tile * ROWS / VECTOR);
                let first = tile * ROWS % VECTOR;
                let mut sum = Tile(*weights);
                for (slopes, inputs) in slopes.iter().zip(inputs).take(count) {
                    let slopes: &[[f32; ROWS]] = slopes.as_chunks().0;
                    sum.add(slopes[first / ROWS], inputs);
                }
                *weights = sum.0;
            }
        }
    }
}

/// The gradients of the layers of a stack.
pub(super) struct StackGradient {
    pub(super) stack: usize,
    first: LayerGradient,
    second: LayerGradient,
    /// In its first lane.
    output_bias: [Vector; 1],
    output: Vec<Vector>,
}

impl StackGradient {
    fn of(&self, array: Array) -> &[Vector] {
        match array {
            Array::FirstBias => &self.first.bias,
            Array::First => &self.first.weights,
            Array::SecondBias => &self.second.bias,
            Array::Second => &self.second.weights,
            Array::OutputBias => &self.output_bias,
            Array::Output => &self.output,
            Array::TransformerBias | Array::Transformer | Array::Shared | Array::Head => &[],
        }
    }

    fn zero(&mut self) {
        let Self { first, second, output_bias, output, .. } = self;
        for numbers in [&mut first.bias, &mut first.weights, &mut second.bias, &mut second.weights, output] {
            numbers.fill([0.0; VECTOR]);
        }
        output_bias.fill([0.0; VECTOR]);
    }
}

/// The activations and slopes of a chunk.
pub(super) struct Scratch {
    /// After the transformer.
    activations: Matrix,
    down: Box<[Vector; CHUNK]>,
    first: Matrix,
    /// Squared activations, if the net has them, then clipped ones.
    middle: Matrix,
    second: Matrix,
    last: Matrix,
    pub(super) values: [f32; CHUNK],
    /// The slopes of the loss in the values.
    pub(super) slopes: [f32; CHUNK],
}

/// The place of a chunk.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Its first position among the transformer's sums of each block.
    pub(super) position: usize,
    /// The same in its part.
    pub(super) in_part: usize,
    /// The number of its positions.
    pub(super) count: usize,
    /// The sums of each block.
    pub(super) stride: usize,
}

impl Layers {
    pub(super) fn new(shape: Shape) -> Self {
        let (sizes, [first, second]) = (shape.sizes, shape.layer_inputs());
        let stack = || Stack {
            first: Layer::new(Inputs { parts: 1, of_part: first }, sizes.first()),
            second: Layer::new(Inputs { parts: second / sizes.first(), of_part: sizes.first() }, sizes.second()),
            output_bias: 0.0,
            output: vec![[0.0; VECTOR]; vectors(sizes.second())],
        };
        Self { shape, stacks: (0..sizes.stacks()).map(|_| stack()).collect() }
    }

    /// Copies the values of one array.
    pub(super) fn set<S: Sum>(&mut self, array: Array, values: &[f32]) {
        let is_rounded = self.shape.fake_quantisation;
        let round =
            |scale: f32| move |number: f32| if is_rounded { (number * scale).round_ties_even() } else { number };
        let parts = values.chunks_exact(values.len() / self.stacks.len());
        let (sum, output) = (S::ACTIVATION * S::WEIGHT, self.shape.scale(Array::Output) as f32);
        for (stack, part) in self.stacks.iter_mut().zip(parts) {
            match array {
                Array::FirstBias => stack.first.set_bias(part, round(sum)),
                Array::First => stack.first.set_weights(part, S::WEIGHT, round(S::WEIGHT)),
                Array::SecondBias => stack.second.set_bias(part, round(sum)),
                Array::Second => stack.second.set_weights(part, S::WEIGHT, round(S::WEIGHT)),
                Array::OutputBias => stack.output_bias = part[0],
                Array::Output => {
                    for (place, weight) in part.iter().enumerate() {
                        let rounded = if is_rounded { round(output)(*weight) / output } else { *weight };
                        put(&mut stack.output, place, rounded / S::ACTIVATION);
                    }
                }
                Array::TransformerBias | Array::Transformer | Array::Shared | Array::Head => {}
            }
        }
    }

    pub(super) fn scratch(&self) -> Scratch {
        let (sizes, [inputs, middle]) = (self.shape.sizes, self.shape.layer_inputs());
        let first = vectors(sizes.first()) * VECTOR;
        Scratch {
            activations: Matrix::new(inputs),
            down: Box::new([[0.0; VECTOR]; CHUNK]),
            first: Matrix::new(first),
            middle: Matrix::new(middle / sizes.first() * first),
            second: Matrix::new(sizes.second()),
            last: Matrix::new(sizes.second()),
            values: [0.0; CHUNK],
            slopes: [0.0; CHUNK],
        }
    }

    /// The gradients of a stack before its first position; those of an earlier one are reused.
    pub(super) fn gradient(&self, stack: usize, used: Option<StackGradient>) -> StackGradient {
        let mut gradient = used.unwrap_or_else(|| {
            let Stack { first, second, output, .. } = &self.stacks[stack];
            let (first, second) = (LayerGradient::new(first), LayerGradient::new(second));
            StackGradient { stack, first, second, output_bias: [[0.0; VECTOR]], output: output.clone() }
        });
        gradient.zero();
        gradient.stack = stack;
        gradient
    }

    /// Forward pass of a chunk: fills `scratch.values`.
    #[inline(always)]
    pub(super) fn forward<S: Sum>(&self, stack: usize, sums: &[Sums<S>], place: Place, scratch: &mut Scratch) {
        let Scratch { activations, first, middle, second, last, values, .. } = scratch;
        let (stack, count) = (&self.stacks[stack], place.count);
        if self.shape.is_fairy() {
            self.singles(sums, place, activations);
        } else {
            self.pairs(sums, place, activations);
        }
        stack.first.forward(activations, count, first);
        let squares = middle.columns().len() - first.columns().len();
        let (squares, clipped) = middle.columns_mut().split_at_mut(squares);
        for (sums, squares) in first.columns().iter().zip(squares) {
            for (sums, squares) in sums[..count].iter().zip(squares) {
                *squares = sums.map(S::squared);
            }
        }
        for (sums, clipped) in first.columns().iter().zip(clipped) {
            for (sums, clipped) in sums[..count].iter().zip(clipped) {
                *clipped = sums.map(S::clipped);
            }
        }
        stack.second.forward(middle, count, second);
        for (sums, last) in second.columns().iter().zip(last.columns_mut()) {
            for (sums, last) in sums[..count].iter().zip(last) {
                *last = sums.map(S::clipped);
            }
        }
        for (position, value) in values[..count].iter_mut().enumerate() {
            let mut sums = [0.0; VECTOR];
            for (last, weights) in last.columns().iter().zip(&stack.output) {
                for ((sum, last), weight) in sums.iter_mut().zip(&last[position]).zip(weights) {
                    *sum = last.mul_add(*weight, *sum);
                }
            }
            *value = stack.output_bias + total(&sums);
        }
    }

    /// Backward pass of the chunk that went forward last, given `scratch.slopes`. Adds to the
    /// gradients, and writes the slopes of the transformer's sums.
    #[inline(always)]
    pub(super) fn backward<S: Sum>(
        &self,
        sums: &[Sums<S>],
        place: Place,
        scratch: &mut Scratch,
        gradient: &mut StackGradient,
        slopes: &mut [&mut [Sums]],
    ) {
        let Scratch { activations, down, first, middle, second, last, slopes: value_slopes, .. } = scratch;
        let (stack, count) = (&self.stacks[gradient.stack], place.count);
        let value_slopes = &value_slopes[..count];
        for slope in value_slopes {
            gradient.output_bias[0][0] += slope;
        }
        let vectors = second.columns_mut().iter_mut().zip(last.columns());
        for (((sums, last), weights), output) in vectors.zip(&stack.output).zip(&mut gradient.output) {
            for ((sums, last), slope) in sums.iter_mut().zip(last).zip(value_slopes) {
                let numbers = sums.iter_mut().zip(last).zip(weights).zip(&mut *output);
                for (((sum, last), weight), output) in numbers {
                    *output = slope.mul_add(*last, *output);
                    *sum = if is_between::<S>(*sum, 0.0) { slope * (weight * S::ACTIVATION) } else { 0.0 };
                }
            }
        }
        gradient.second.add(second, middle, count);
        let of_squares = middle.columns().len() - first.columns().len();
        for (vector, sums) in first.columns_mut().iter_mut().enumerate() {
            let mut squares = [[0.0; VECTOR]; CHUNK];
            if of_squares > 0 {
                stack.second.down(second, count, vector, &mut squares);
            }
            stack.second.down(second, count, of_squares + vector, down);
            for ((sums, square), clipped) in sums[..count].iter_mut().zip(&squares).zip(&**down) {
                for ((sum, square), clipped) in sums.iter_mut().zip(square).zip(clipped) {
                    let doubled = *sum * (2.0 / (S::ACTIVATION * S::WEIGHT));
                    let by_square = if is_between::<S>(*sum, -S::LIMIT) { doubled * square } else { 0.0 };
                    let by_clipped = if is_between::<S>(*sum, 0.0) { *clipped } else { 0.0 };
                    *sum = by_square + by_clipped;
                }
            }
        }
        gradient.first.add(first, activations, count);
        for vector in 0..activations.columns().len() {
            stack.first.down(first, count, vector, down);
            if self.shape.is_fairy() {
                self.singles_backward(sums, place, vector, down, slopes);
            } else {
                self.pairs_backward(sums, place, vector, down, slopes);
            }
        }
    }

    /// The side, the block and the first lane of a vector of sums that are in no pair. Those of the
    /// side to move come first, then the other's.
    #[inline(always)]
    const fn of_singles(&self, vector: usize) -> (usize, usize, usize) {
        let width = self.shape.sizes.width();
        let (side, column) = (vector * VECTOR / width, vector * VECTOR % width);
        (side, column / LANES, column % LANES)
    }

    /// The clipped sums of both sides, each on its own.
    #[inline(always)]
    fn singles<S: Sum>(&self, sums: &[Sums<S>], place: Place, singles: &mut Matrix) {
        for (vector, singles) in singles.columns_mut().iter_mut().enumerate() {
            let (side, block, lane) = self.of_singles(vector);
            let sums = &sums[block * place.stride + place.position..][..place.count];
            for (singles, sums) in singles.iter_mut().zip(sums) {
                for (single, sum) in singles.iter_mut().zip(&sums[side][lane..][..VECTOR]) {
                    *single = sum.single();
                }
            }
        }
    }

    /// Writes the slopes of the sums of one vector of them, given those of their activations.
    #[inline(always)]
    fn singles_backward<S: Sum>(
        &self,
        sums: &[Sums<S>],
        place: Place,
        vector: usize,
        down: &[Vector; CHUNK],
        slopes: &mut [&mut [Sums]],
    ) {
        let (side, block, lane) = self.of_singles(vector);
        let sums = &sums[block * place.stride + place.position..][..place.count];
        for ((sums, down), slopes) in sums.iter().zip(down).zip(&mut slopes[block][place.in_part..]) {
            let numbers = sums[side][lane..][..VECTOR].iter().zip(down);
            for ((sum, down), slope) in numbers.zip(&mut slopes[side][lane..][..VECTOR]) {
                *slope = sum.single_slope(*down);
            }
        }
    }

    /// The side, the blocks of both numbers, and the first lane of a vector of pairs. The pairs of
    /// the side to move come first, then the other's.
    #[inline(always)]
    const fn of_pairs(&self, vector: usize) -> (usize, [usize; 2], usize) {
        let half = self.shape.sizes.width() / 2;
        let (side, column) = (vector * VECTOR / half, vector * VECTOR % half);
        (side, [column / LANES, (half + column) / LANES], column % LANES)
    }

    /// Pairwise products of the clipped halves.
    #[inline(always)]
    fn pairs<S: Sum>(&self, sums: &[Sums<S>], place: Place, pairs: &mut Matrix) {
        for (vector, pairs) in pairs.columns_mut().iter_mut().enumerate() {
            let (side, blocks, lane) = self.of_pairs(vector);
            let [lows, highs] = blocks.map(|block| &sums[block * place.stride + place.position..][..place.count]);
            for ((pairs, low), high) in pairs.iter_mut().zip(lows).zip(highs) {
                let (low, high) = (&low[side][lane..][..VECTOR], &high[side][lane..][..VECTOR]);
                for ((pair, low), high) in pairs.iter_mut().zip(low).zip(high) {
                    *pair = S::pair(*low, *high);
                }
            }
        }
    }

    /// Writes the slopes of the sums of one vector of pairs, given those of the pairs.
    #[inline(always)]
    fn pairs_backward<S: Sum>(
        &self,
        sums: &[Sums<S>],
        place: Place,
        vector: usize,
        down: &[Vector; CHUNK],
        slopes: &mut [&mut [Sums]],
    ) {
        let (side, blocks, lane) = self.of_pairs(vector);
        let [lows, highs] = blocks.map(|block| &sums[block * place.stride + place.position..][..place.count]);
        let (low_slopes, high_slopes) = slopes.split_at_mut(blocks[1]);
        let low_slopes = &mut low_slopes[blocks[0]][place.in_part..];
        let high_slopes = &mut high_slopes[0][place.in_part..];
        let slopes = low_slopes.iter_mut().zip(high_slopes);
        for (((low, high), down), (low_slope, high_slope)) in lows.iter().zip(highs).zip(down).zip(slopes) {
            let (low, high) = (&low[side][lane..][..VECTOR], &high[side][lane..][..VECTOR]);
            let low_slope = &mut low_slope[side][lane..][..VECTOR];
            let high_slope = &mut high_slope[side][lane..][..VECTOR];
            let numbers = low.iter().zip(high).zip(down).zip(low_slope.iter_mut().zip(high_slope));
            for (((low, high), down), (low_slope, high_slope)) in numbers {
                [*low_slope, *high_slope] = S::pair_slopes(*low, *high, *down);
            }
        }
    }

    /// The gradient of one array, summed over the parts of a batch in their order.
    pub(super) fn sum<'a, S: Sum>(&self, array: Array, gradients: impl Iterator<Item = &'a StackGradient>) -> Vec<f32> {
        let mut sums = vec![Vec::new(); self.stacks.len()];
        for gradient in gradients {
            let numbers = gradient.of(array);
            let sums = &mut sums[gradient.stack];
            sums.resize(numbers.len(), [0.0; VECTOR]);
            for (sums, numbers) in sums.iter_mut().zip(numbers) {
                for (sum, number) in sums.iter_mut().zip(numbers) {
                    *sum += number;
                }
            }
        }
        let length = array.len(&self.shape) / self.stacks.len();
        let mut flat = Vec::with_capacity(length * self.stacks.len());
        for (stack, sums) in self.stacks.iter().zip(&sums) {
            let (layer, unit) = match array {
                Array::First => (Some(&stack.first), S::ACTIVATION),
                Array::Second => (Some(&stack.second), S::ACTIVATION),
                Array::Output => (None, S::ACTIVATION),
                _ => (None, 1.0),
            };
            flat.extend((0..length).map(|place| {
                let (vector, lane) = layer.map_or((place / VECTOR, place % VECTOR), |layer| layer.place(place));
                sums.get(vector).map_or(0.0, |vector| vector[lane] / unit)
            }));
        }
        flat
    }
}

/// Whether the activation's derivative at this sum is not zero.
#[inline(always)]
fn is_between<S: Sum>(sum: f32, min: f32) -> bool {
    sum > min && sum < S::LIMIT
}

/// The sum of a vector, by halves.
#[inline(always)]
fn total(numbers: &Vector) -> f32 {
    let eight: [f32; 8] = from_fn(|lane| numbers[lane] + numbers[lane + 8]);
    let four: [f32; 4] = from_fn(|lane| eight[lane] + eight[lane + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}
