//! The transformer and the head: sums over the active inputs of both sides.
//!
//! *Bags* add up rows, and autograd finds the gradients: on a processor.
//!
//! *Products*, on a card: the inputs are a dense matrix of zeros and ones in 16 bits, `[2B,
//! inputs]`. It is multiplied by the rows, and its transpose by the gradients, both by tensor
//! cores. Under fake quantisation the rows are whole numbers below 1,024, which 16 bits hold, so
//! sums are exact. Everything else is split into two numbers of 16 bits, which together have 22
//! significant bits.
//!
//! Both sides of a position are rows in turn: the side to move's is the first.

use nnue::architecture::{ACTIVATION_ONE, PAIR_SHIFT};
use tch::{Device, Kind, Tensor};

use super::{Precision, parameters::Effective};
use crate::model::{Array, Shape};

/// The outputs, which the layers above read.
pub(super) struct Hidden {
    /// The activations, the side to move's first. `[B, W]`: products of both halves of a side's
    /// sums; `[B, 2W]` for Fairy-Stockfish: the sums.
    pub(super) activations: Tensor,
    /// `[B, S]`: the head of the side to move less the other's.
    pub(super) head: Tensor,
}

/// The products of the halves of sums `[2B, W]`: `[B, W]`.
fn products(sums: &Tensor) -> Tensor {
    let width = sums.size()[1];
    let halves = sums.view([-1, 2, width / 2]);
    (halves.select(1, 0) * halves.select(1, 1)).view([-1, width])
}

/// Clipped sums as activations, in units of 1; under fake quantisation rounded as the integers are.
fn activations(sums: &Tensor, shape: &Shape) -> Tensor {
    let one = f64::from(shape.transformer_one());
    if shape.is_fairy() {
        (sums / one).view([-1, 2 * sums.size()[1]])
    } else if shape.fake_quantisation {
        let scale = 1.0 / f64::from(1 << PAIR_SHIFT);
        products(sums).g_mul_scalar_(scale).floor_().g_div_scalar_(f64::from(ACTIVATION_ONE))
    } else {
        products(sums) / (one * one)
    }
}

/// The head's difference, of `[2B, S]`.
fn difference(sums: &Tensor) -> Tensor {
    let sides = sums.view([-1, 2, sums.size()[1]]);
    sides.select(1, 0) - sides.select(1, 1)
}

/// The layer by bags.
pub(super) fn bags(active: &Tensor, weights: &Effective, shape: &Shape) -> Hidden {
    let (inputs, one) = (shape.sizes.inputs().count() as i64, f64::from(shape.transformer_one()));
    let offsets = Tensor::arange(active.size()[0], (Kind::Int64, active.device())) * active.size()[1];
    let indices = active.view([-1]);
    let bag = |array: Array| {
        // Places without an input have a row of zeros. Mode 0 sums the rows of a bag.
        let rows = weights[array].constant_pad_nd([0, 0, 0, 1]);
        Tensor::embedding_bag_padding_idx(&rows, &indices, &offsets, false, 0, false, None::<Tensor>, false, inputs).0
    };
    let sums = (bag(Array::Transformer) + &weights[Array::TransformerBias]).clamp(0.0, one);
    // The gradient passes the rounding unchanged.
    let exact = activations(&sums, &Shape { fake_quantisation: false, ..*shape });
    let activations = (activations(&sums.detach(), shape) - exact.detach()) + exact;
    Hidden { activations, head: difference(&bag(Array::Head)) }
}

/// Factor of the second of the two numbers of 16 bits that a number is split into.
const SECOND_ONE: f64 = 2_048.0;

/// The largest number of 16 bits.
const HALF_LIMIT: f64 = 65_504.0;

/// Factor of gradients in 16 bits, whose smallest number is 6e-8.
const GRADIENT_ONE: f64 = 1_024.0;

/// The layer by products.
pub(super) struct Products {
    shape: Shape,
    precision: Precision,
    /// `[2B, columns]`, 1 where an input is active. Places without an input have the column after
    /// the last input. Columns are a multiple of eight, as tensor cores want.
    matrix: Tensor,
    /// The places of its ones, `[2B, 32]`.
    active: Tensor,
    /// `[2B, W]`: the sums within their bounds.
    sums: Tensor,
}

impl Products {
    pub(super) fn new(shape: Shape, precision: Precision, device: Device) -> Self {
        let columns = (shape.sizes.inputs().count() + 1).next_multiple_of(8) as i64;
        let empty = |kind| Tensor::zeros([0, columns], (kind, device));
        Self { shape, precision, matrix: empty(Kind::Half), active: empty(Kind::Int64), sums: empty(Kind::Float) }
    }

    pub(super) fn forward(&mut self, active: &Tensor, weights: &Effective) -> Hidden {
        let columns = self.matrix.size()[1];
        if self.matrix.size()[0] == active.size()[0] {
            let _ = self.matrix.scatter_value_(1, &self.active, 0.0);
        } else {
            self.matrix = Tensor::zeros([active.size()[0], columns], (Kind::Half, active.device()));
        }
        self.active = active.shallow_clone();
        let _ = self.matrix.scatter_value_(1, active, 1.0);
        let rows = |array: Array| weights[array].constant_pad_nd([0, 0, 0, columns - weights[array].size()[0]]);
        let is_exact = self.shape.fake_quantisation;
        let [sums, head] = product(&self.matrix, [(rows(Array::Transformer), is_exact), (rows(Array::Head), false)]);
        let one = f64::from(self.shape.transformer_one());
        self.sums = (sums + &weights[Array::TransformerBias]).clamp_(0.0, one);
        Hidden { activations: activations(&self.sums, &self.shape), head: difference(&head) }
    }

    /// The gradients of rows, biases and head, from those of activations and head.
    pub(super) fn gradients(&self, activations: &Tensor, head: &Tensor) -> [Tensor; 3] {
        let one = f64::from(self.shape.transformer_one());
        let width = self.shape.sizes.width() as i64;
        let (slopes, scale) = if self.shape.is_fairy() {
            (activations.shallow_clone(), GRADIENT_ONE)
        } else {
            // The gradient of a half has the other half as a factor: [2B, 2, W / 2].
            let others = self.sums.view([-1, 2, width / 2]).flip([1]);
            (others * activations.view([-1, 1, width / 2]), GRADIENT_ONE / one)
        };
        let slopes = self.sums.hardtanh_backward(&slopes.view([-1, width]), 0.0, one).g_mul_scalar_(scale);
        let own = head * GRADIENT_ONE;
        let head = Tensor::stack(&[&own, &-&own], 1).view([-1, head.size()[1]]);
        let bias = slopes.sum_dim_intlist(0, false, Kind::Float);
        let is_rough = self.precision == Precision::Mixed;
        let [rows, head] = product(&self.matrix.tr(), [(slopes, is_rough), (head, false)]);
        let inputs = self.shape.sizes.inputs().count() as i64;
        [rows.narrow(0, 0, inputs), bias, head.narrow(0, 0, inputs)].map(|gradient| gradient / GRADIENT_ONE)
    }
}

/// The products of a matrix of 16 bits and two others, with sums in 32 bits. The others are split,
/// unless 16 bits are enough.
fn product(matrix: &Tensor, others: [(Tensor, bool); 2]) -> [Tensor; 2] {
    let mut parts = Vec::new();
    for (other, is_enough) in &others {
        let first = other.clamp(-HALF_LIMIT, HALF_LIMIT).to_kind(Kind::Half);
        let rest = (!is_enough).then(|| {
            ((other - first.to_kind(Kind::Float)) * SECOND_ONE).clamp_(-HALF_LIMIT, HALF_LIMIT).to_kind(Kind::Half)
        });
        parts.push(first);
        parts.extend(rest);
    }
    let factor = Tensor::cat(&parts, 1);
    // Its columns are a multiple of eight too.
    let columns = factor.size()[1];
    let factor = factor.constant_pad_nd([0, (8 - columns % 8) % 8]);
    let sums = match matrix.device() {
        // Not on a card, and much slower: it shows the same numbers.
        Device::Cpu => matrix.to_kind(Kind::Float).mm(&factor.to_kind(Kind::Float)),
        _ => matrix.mm_dtype(&factor, Kind::Float),
    };
    let mut from = 0;
    others.map(|(other, is_enough)| {
        let width = other.size()[1];
        let mut part = || {
            from += width;
            sums.narrow(1, from - width, width)
        };
        let first = part();
        if is_enough { first } else { first + part() / SECOND_ONE }
    })
}
