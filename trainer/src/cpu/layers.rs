//! The layers above the transformer, one position at a time.
//!
//! Sums are taken in vectors of [`VECTOR`] neurons or weights and in a fixed order, so that every
//! instruction set gives the same bits.
//!
//! Fake quantisation with a straight-through estimator: the forward pass rounds as the integers do,
//! and the backward pass treats rounding as the identity.

use nnue::architecture::{
    ACTIVATION_ONE, PAIR_SHIFT, SQUARE_SHIFT, SUM_LIMIT, TRANSFORMER_ONE, WEIGHT_ONE, WEIGHT_SHIFT,
};

use super::transformer::{LANES, Sums};
use crate::model::{Array, Arrays, OUTPUT_WEIGHT_ONE, SUM_ONE, Shape};

const VECTOR: usize = 8;

/// The layers of all stacks, with rounded weights under fake quantisation.
pub(super) struct Layers {
    shape: Shape,
    stacks: Vec<Stack>,
}

struct Stack {
    first: Layer,
    second: Layer,
    output_bias: f32,
    output: Vec<f32>,
}

/// A fully connected layer's weights, in two layouts.
struct Layer {
    inputs: usize,
    bias: Vec<f32>,
    /// Row-major: `[neuron][input]`.
    rows: Vec<f32>,
    /// Interleaved: `[vector of neurons][input][neuron of the vector]`.
    vectors: Vec<f32>,
}

impl Layer {
    fn new(inputs: usize, outputs: usize) -> Self {
        let weights = vec![0.0; inputs * outputs];
        Self { inputs, bias: vec![0.0; outputs], rows: weights.clone(), vectors: weights }
    }

    fn set_bias(&mut self, bias: &[f32], rounded: bool) {
        set(&mut self.bias, bias, rounded.then_some(SUM_ONE));
    }

    fn set_rows(&mut self, rows: &[f32], rounded: bool) {
        set(&mut self.rows, rows, rounded.then_some(WEIGHT_ONE as f32));
        let neurons = self.rows.chunks_exact(VECTOR * self.inputs);
        for (neurons, vectors) in neurons.zip(self.vectors.chunks_exact_mut(VECTOR * self.inputs)) {
            for (input, vector) in vectors.as_chunks_mut::<VECTOR>().0.iter_mut().enumerate() {
                *vector = std::array::from_fn(|neuron| neurons[neuron * self.inputs + input]);
            }
        }
    }

    /// Forward: the sums of all neurons, each in four partial sums for instruction-level
    /// parallelism.
    #[inline(always)]
    fn forward(&self, input: &[f32], sums: &mut [f32]) {
        let vectors = self.vectors.as_chunks::<VECTOR>().0;
        let (inputs, _) = input.as_chunks::<4>();
        let biases = self.bias.as_chunks::<VECTOR>().0;
        let sums = sums.as_chunks_mut::<VECTOR>().0;
        for ((vectors, bias), sums) in vectors.chunks_exact(self.inputs).zip(biases).zip(sums) {
            let mut partial = [*bias, [0.0; VECTOR], [0.0; VECTOR], [0.0; VECTOR]];
            for (inputs, weights) in inputs.iter().zip(vectors.as_chunks::<4>().0) {
                for ((partial, input), weights) in partial.iter_mut().zip(inputs).zip(weights) {
                    for (sum, weight) in partial.iter_mut().zip(weights) {
                        *sum += input * weight;
                    }
                }
            }
            let [a, b, c, d] = partial;
            for (lane, sum) in sums.iter_mut().enumerate() {
                *sum = (a[lane] + b[lane]) + (c[lane] + d[lane]);
            }
        }
    }

    /// Backward: writes the gradients of the inputs to `down`, and adds those of weights and
    /// biases.
    #[inline(always)]
    fn backward(&self, slopes: &[f32], input: &[f32], down: &mut [f32], rows: &mut [f32], bias: &mut [f32]) {
        down.fill(0.0);
        let inputs = self.inputs;
        for (neuron, slope) in slopes.iter().enumerate().filter(|(_, slope)| **slope != 0.0) {
            bias[neuron] += slope;
            let weights = &self.rows[neuron * inputs..][..inputs];
            let gradient = &mut rows[neuron * inputs..][..inputs];
            for (((down, gradient), weight), input) in down.iter_mut().zip(gradient).zip(weights).zip(input) {
                *down += slope * weight;
                *gradient += slope * input;
            }
        }
    }
}

/// The activations and gradients of one position.
pub(super) struct Scratch {
    /// The first layer's inputs and, in `down`, their gradients.
    pairs: Vec<f32>,
    down: Vec<f32>,
    first: Vec<f32>,
    /// Squared activations, then clipped ones.
    middle: Vec<f32>,
    middle_down: Vec<f32>,
    second: Vec<f32>,
    last: Vec<f32>,
}

/// Copies numbers; with `scale` rounds them to multiples of `1 / scale` (fake quantisation).
fn set(target: &mut [f32], source: &[f32], scale: Option<f32>) {
    target.copy_from_slice(source);
    if let Some(scale) = scale {
        for number in target {
            *number = (*number * scale).round_ties_even() / scale;
        }
    }
}

impl Layers {
    pub(super) fn new(shape: Shape) -> Self {
        let sizes = shape.sizes;
        let stack = || Stack {
            first: Layer::new(sizes.width(), sizes.first()),
            second: Layer::new(2 * sizes.first(), sizes.second()),
            output_bias: 0.0,
            output: vec![0.0; sizes.second()],
        };
        Self { shape, stacks: (0..sizes.stacks()).map(|_| stack()).collect() }
    }

    /// Copies the values of one array.
    pub(super) fn set(&mut self, array: Array, values: &[f32]) {
        let rounded = self.shape.fake_quantisation;
        let parts = values.chunks_exact(values.len() / self.stacks.len());
        for (stack, part) in self.stacks.iter_mut().zip(parts) {
            match array {
                Array::FirstBias => stack.first.set_bias(part, rounded),
                Array::First => stack.first.set_rows(part, rounded),
                Array::SecondBias => stack.second.set_bias(part, rounded),
                Array::Second => stack.second.set_rows(part, rounded),
                Array::OutputBias => stack.output_bias = part[0],
                Array::Output => set(&mut stack.output, part, rounded.then_some(OUTPUT_WEIGHT_ONE)),
                Array::TransformerBias | Array::Transformer | Array::Shared | Array::Head => {}
            }
        }
    }

    pub(super) fn scratch(&self) -> Scratch {
        let sizes = self.shape.sizes;
        Scratch {
            pairs: vec![0.0; sizes.width()],
            down: vec![0.0; sizes.width()],
            first: vec![0.0; sizes.first()],
            middle: vec![0.0; 2 * sizes.first()],
            middle_down: vec![0.0; 2 * sizes.first()],
            second: vec![0.0; sizes.second()],
            last: vec![0.0; sizes.second()],
        }
    }

    /// Forward pass of one position; `sums` are its transformer sums, `stride` apart from block to
    /// block.
    #[inline(always)]
    pub(super) fn forward(&self, stack: usize, sums: &[Sums], stride: usize, scratch: &mut Scratch) -> f32 {
        let rounded = self.shape.fake_quantisation;
        pairs(sums, stride, rounded, &mut scratch.pairs);
        let stack = &self.stacks[stack];
        stack.first.forward(&scratch.pairs, &mut scratch.first);
        let (squares, clipped) = scratch.middle.split_at_mut(scratch.first.len());
        for ((sum, square), clipped) in scratch.first.iter().zip(squares).zip(clipped) {
            *square = squared(*sum, rounded);
            *clipped = clip(*sum, rounded);
        }
        stack.second.forward(&scratch.middle, &mut scratch.second);
        let mut value = stack.output_bias;
        for ((last, sum), weight) in scratch.last.iter_mut().zip(&scratch.second).zip(&stack.output) {
            *last = clip(*sum, rounded);
            value += *last * weight;
        }
        value
    }

    /// Backward pass of the position that went forward last. Adds the gradients of all layers to
    /// `gradients`, and replaces `sums` by their gradients.
    #[inline(always)]
    pub(super) fn backward(
        &self,
        at: usize,
        slope: f32,
        sums: &mut [Sums],
        stride: usize,
        scratch: &mut Scratch,
        gradients: &mut Arrays,
    ) {
        let sizes = self.shape.sizes;
        let (width, first, second) = (sizes.width(), sizes.first(), sizes.second());
        let stack = &self.stacks[at];
        gradients[Array::OutputBias][at] += slope;
        let output = &mut gradients[Array::Output][at * second..][..second];
        for (((sum, last), weight), output) in
            scratch.second.iter_mut().zip(&scratch.last).zip(&stack.output).zip(output)
        {
            *output += slope * last;
            *sum = if is_between(*sum, 0.0) { slope * weight } else { 0.0 };
        }
        let mut rows = std::mem::take(&mut gradients[Array::Second]);
        stack.second.backward(
            &scratch.second,
            &scratch.middle,
            &mut scratch.middle_down,
            &mut rows[at * second * 2 * first..][..second * 2 * first],
            &mut gradients[Array::SecondBias][at * second..][..second],
        );
        gradients[Array::Second] = rows;
        let (squares, clipped) = scratch.middle_down.split_at(first);
        for ((sum, square), clipped) in scratch.first.iter_mut().zip(squares).zip(clipped) {
            let by_square = if is_between(*sum, -MAX_SUM) { 2.0 * *sum * square } else { 0.0 };
            let by_clipped = if is_between(*sum, 0.0) { *clipped } else { 0.0 };
            *sum = by_square + by_clipped;
        }
        let mut rows = std::mem::take(&mut gradients[Array::First]);
        stack.first.backward(
            &scratch.first,
            &scratch.pairs,
            &mut scratch.down,
            &mut rows[at * first * width..][..first * width],
            &mut gradients[Array::FirstBias][at * first..][..first],
        );
        gradients[Array::First] = rows;
        pairs_backward(sums, stride, &scratch.down);
    }
}

/// Upper clipping bound of a sum: a little more than 1.
const MAX_SUM: f32 = SUM_LIMIT as f32 / SUM_ONE;

/// Whether the activation's derivative at this sum is not zero.
#[inline(always)]
fn is_between(sum: f32, min: f32) -> bool {
    sum > min && sum < MAX_SUM
}

#[inline(always)]
fn squared(sum: f32, rounded: bool) -> f32 {
    let clipped = sum.abs().min(MAX_SUM);
    if !rounded {
        return clipped * clipped;
    }
    let whole = clipped * SUM_ONE;
    (whole * whole / (1_u32 << SQUARE_SHIFT) as f32).floor() / ACTIVATION_ONE as f32
}

#[inline(always)]
fn clip(sum: f32, rounded: bool) -> f32 {
    let clipped = sum.clamp(0.0, MAX_SUM);
    if !rounded {
        return clipped;
    }
    (clipped * SUM_ONE / (1_u32 << WEIGHT_SHIFT) as f32).floor() / ACTIVATION_ONE as f32
}

/// Pairwise products of the clipped halves: the side to move's, then the other's.
#[inline(always)]
fn pairs(sums: &[Sums], stride: usize, rounded: bool, pairs: &mut [f32]) {
    const ONE: f32 = TRANSFORMER_ONE as f32;
    let half = pairs.len() / 2;
    for (side, pairs) in pairs.chunks_exact_mut(half).enumerate() {
        for (block, pairs) in pairs.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let low = &sums[block * stride][side];
            let high = &sums[(block + half / LANES) * stride][side];
            for ((pair, low), high) in pairs.iter_mut().zip(low).zip(high) {
                *pair = low.clamp(0.0, 1.0) * high.clamp(0.0, 1.0);
                if rounded {
                    *pair = (*pair * (ONE * ONE / (1_u32 << PAIR_SHIFT) as f32)).floor() / ACTIVATION_ONE as f32;
                }
            }
        }
    }
}

/// Replaces sums by their gradients, given the gradients of the pairs.
#[inline(always)]
fn pairs_backward(sums: &mut [Sums], stride: usize, down: &[f32]) {
    let half = down.len() / 2;
    let (lows, highs) = sums.split_at_mut(half / LANES * stride);
    for (side, down) in down.chunks_exact(half).enumerate() {
        for (block, down) in down.as_chunks::<LANES>().0.iter().enumerate() {
            let low = &mut lows[block * stride][side];
            let high = &mut highs[block * stride][side];
            for ((low, high), down) in low.iter_mut().zip(high).zip(down) {
                let (one, other) = (*low, *high);
                // A product instead of a branch, so that the loop vectorises.
                let inside = |sum: f32| f32::from(u8::from(sum > 0.0) & u8::from(sum < 1.0));
                *low = down * other.clamp(0.0, 1.0) * inside(one);
                *high = down * one.clamp(0.0, 1.0) * inside(other);
            }
        }
    }
}
