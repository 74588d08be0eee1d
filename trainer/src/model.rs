//! The net in floating point, as backends train it and checkpoints store it.
//!
//! It follows [`nnue::architecture`] number by number. 1.0 stands for the integers'
//! [`TRANSFORMER_ONE`] or [`ACTIVATION_ONE`]; scores are in units of [`VALUE_ONE`].

use dataset::random::{Stream, Use};
use nnue::{
    Parameters,
    architecture::{ACTIVATION_ONE, OUTPUT_ONE, PIECE_POINTS, Sizes, TRANSFORMER_ONE, WEIGHT_ONE},
};

use protocol::recipe::{Activation, ForeignEngine};

use crate::{foreign::pikafish, sharing::Sharing};

/// Centipawns of a value of 1: large enough that weights of about one make scores of games.
pub const VALUE_ONE: f32 = 400.0;

/// Clipping bound of the layers' weights.
pub const LAYER_LIMIT: f32 = 127.0 / WEIGHT_ONE as f32;

/// Quantisation scale of the output weights of the engine's nets.
pub const OUTPUT_WEIGHT_ONE: f32 = VALUE_ONE * OUTPUT_ONE as f32 / ACTIVATION_ONE as f32;

/// The integer of Fairy-Stockfish that stands for a value of 1: a sixteenth of its score's unit. A
/// score of 400 there is near a share of the point of 73 %, as its search expects.
const FAIRY_ONE: f64 = 512.0 * 16.0;

/// Quantisation scale of a layer's sums.
pub const SUM_ONE: f32 = (ACTIVATION_ONE * WEIGHT_ONE) as f32;

/// The architecture of a trained net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The feature set and the layer sizes.
    pub sizes: Sizes,
    /// Whether input features are factorised ([`Sharing`]).
    pub factorised: bool,
    /// Whether training simulates rounding (fake quantisation).
    pub fake_quantisation: bool,
    /// The activation after the transformer. Nets for other engines have another one, and other
    /// quantisation scales.
    pub activation: Activation,
}

impl Shape {
    /// A net of the engine, with neither factorisation nor fake quantisation.
    #[must_use]
    pub const fn new(sizes: Sizes) -> Self {
        Self { sizes, factorised: false, fake_quantisation: false, activation: Activation::Pairs }
    }

    /// The engine that the net is for, if it is not ours.
    #[must_use]
    pub const fn foreign_engine(&self) -> Option<ForeignEngine> {
        self.activation.foreign_engine()
    }

    /// Whether the net is for Fairy-Stockfish.
    #[must_use]
    pub const fn is_fairy(&self) -> bool {
        matches!(self.activation, Activation::Clipped)
    }

    /// Whether the net is for Pikafish.
    #[must_use]
    pub const fn is_pikafish(&self) -> bool {
        matches!(self.activation, Activation::PairsSkip)
    }

    /// The integer that stands for 1.0 in the transformer's sums.
    #[must_use]
    pub fn transformer_one(&self) -> f32 {
        if self.is_fairy() { ACTIVATION_ONE as f32 } else { TRANSFORMER_ONE.into() }
    }

    /// The quantisation scale of an array: the integer that stands for 1.0.
    #[must_use]
    pub fn scale(&self, array: Array) -> f64 {
        let value_one = match self.activation {
            Activation::Pairs => f64::from(OUTPUT_ONE) * f64::from(VALUE_ONE),
            Activation::Clipped => FAIRY_ONE,
            Activation::PairsSkip => pikafish::OUTPUT_ONE.into(),
        };
        match array {
            Array::TransformerBias | Array::Transformer | Array::Shared => self.transformer_one().into(),
            Array::Head | Array::OutputBias => value_one,
            Array::FirstBias | Array::SecondBias => SUM_ONE.into(),
            Array::First | Array::Second => f64::from(WEIGHT_ONE),
            Array::Output if self.foreign_engine().is_some() => value_one / f64::from(ACTIVATION_ONE),
            Array::Output => OUTPUT_WEIGHT_ONE.into(),
        }
    }

    /// The inputs of the first and the second layer for each output.
    #[must_use]
    pub fn layer_inputs(&self) -> [usize; 2] {
        let (width, first) = (self.sizes.width(), self.sizes.first());
        match self.activation {
            Activation::Pairs => [width, 2 * first],
            Activation::Clipped => [2 * width, first],
            // The last output skips the second layer.
            Activation::PairsSkip => [width, 2 * (first - 1)],
        }
    }

    /// The largest integer of a transformer's weight.
    #[must_use]
    pub const fn transformer_weight_limit(&self) -> i16 {
        if self.is_pikafish() { i8::MAX as i16 } else { i16::MAX }
    }

    /// The bound at which the sums of own and shared rows are clipped. Only weights of 8 bits need
    /// it: elsewhere the parts share the bound.
    #[must_use]
    pub fn merged_limit(&self) -> Option<f32> {
        self.is_pikafish().then(|| f32::from(self.transformer_weight_limit()) / self.transformer_one())
    }

    /// The shared rows; none without factorisation.
    #[must_use]
    pub fn sharing(&self) -> Sharing {
        if self.factorised { Sharing::of(self.sizes.inputs()) } else { Sharing::default() }
    }
}

/// The arrays of a net, in their order. The last dimension is contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Array {
    /// `[width]`: the transformer's biases.
    TransformerBias,
    /// `[inputs, width]`: the transformer's weights.
    Transformer,
    /// `[planes × points, width]`: shared rows of factorised features.
    Shared,
    /// `[inputs, stacks]`: the piece-square head.
    Head,
    /// `[stacks, first]`: the first layer's biases.
    FirstBias,
    /// `[stacks, first, width]`: the first layer's weights. For Fairy-Stockfish they are twice as
    /// many; for Pikafish the last output is the one that skips the layers above.
    First,
    /// `[stacks, second]`: the second layer's biases.
    SecondBias,
    /// `[stacks, second, 2 × first]`: the second layer's weights: squared inputs, then clipped.
    Second,
    /// `[stacks]`: the output biases.
    OutputBias,
    /// `[stacks, second]`: the output weights.
    Output,
}

impl Array {
    /// All arrays of a net.
    pub const ALL: [Self; 10] = [
        Self::TransformerBias,
        Self::Transformer,
        Self::Shared,
        Self::Head,
        Self::FirstBias,
        Self::First,
        Self::SecondBias,
        Self::Second,
        Self::OutputBias,
        Self::Output,
    ];

    /// The array's name in checkpoints.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TransformerBias => "transformer.bias",
            Self::Transformer => "transformer.weight",
            Self::Shared => "transformer.shared",
            Self::Head => "head.weight",
            Self::FirstBias => "first.bias",
            Self::First => "first.weight",
            Self::SecondBias => "second.bias",
            Self::Second => "second.weight",
            Self::OutputBias => "output.bias",
            Self::Output => "output.weight",
        }
    }

    /// The array's shape.
    #[must_use]
    pub fn dimensions(self, shape: &Shape) -> Vec<usize> {
        let sizes = shape.sizes;
        let (inputs, width, stacks) = (sizes.inputs().count(), sizes.width(), sizes.stacks());
        let (first, second) = (sizes.first(), sizes.second());
        match self {
            Self::TransformerBias => vec![width],
            Self::Transformer => vec![inputs, width],
            Self::Shared => vec![shape.sharing().planes() * PIECE_POINTS, width],
            Self::Head => vec![inputs, stacks],
            Self::FirstBias => vec![stacks, first],
            Self::First => vec![stacks, first, shape.layer_inputs()[0]],
            Self::SecondBias | Self::Output => vec![stacks, second],
            Self::Second => vec![stacks, second, shape.layer_inputs()[1]],
            Self::OutputBias => vec![stacks],
        }
    }

    /// The number of elements.
    #[must_use]
    pub fn len(self, shape: &Shape) -> usize {
        self.dimensions(shape).iter().product()
    }

    /// The weight clipping bound.
    #[must_use]
    pub fn limit(self, shape: &Shape) -> f32 {
        // Sums of any board fit 16 bits. With factorised features, the parts that are added share
        // the bound.
        let transformer = f32::from(i16::MAX) / (shape.transformer_one() * 34.0);
        let parts = (1 + shape.sharing().planes_of_each()) as f32;
        let output = if shape.foreign_engine().is_some() { i8::MAX.into() } else { i16::MAX };
        match self {
            Self::Transformer | Self::Shared => shape.merged_limit().unwrap_or(transformer / parts),
            Self::TransformerBias => transformer,
            Self::First | Self::Second => LAYER_LIMIT,
            Self::Output => f32::from(output) / shape.scale(self) as f32,
            // Far beyond any learned value, far within 32 bits.
            Self::Head | Self::OutputBias => 100.0,
            Self::FirstBias | Self::SecondBias => 1_000.0,
        }
    }
}

/// The elements of all arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrays([Vec<f32>; Array::ALL.len()]);

impl Arrays {
    /// Arrays without elements.
    #[must_use]
    pub fn empty() -> Self {
        Self(Array::ALL.map(|_| Vec::new()))
    }

    /// Arrays of zeros.
    #[must_use]
    pub fn zero(shape: &Shape) -> Self {
        Self(Array::ALL.map(|array| vec![0.0; array.len(shape)]))
    }

    /// Moves all elements by a part of the way to those of another net.
    pub fn move_to(&mut self, other: &Self, part: f32) {
        for (numbers, others) in self.0.iter_mut().zip(&other.0) {
            for (number, other) in numbers.iter_mut().zip(others) {
                *number += part * (other - *number);
            }
        }
    }

    /// Whether all elements are finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.0.iter().flatten().all(|number| number.is_finite())
    }
}

impl std::ops::Index<Array> for Arrays {
    type Output = Vec<f32>;

    fn index(&self, array: Array) -> &Vec<f32> {
        &self.0[array as usize]
    }
}

impl std::ops::IndexMut<Array> for Arrays {
    fn index_mut(&mut self, array: Array) -> &mut Vec<f32> {
        &mut self.0[array as usize]
    }
}

/// The initial piece-square head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// The values of the pieces.
    PieceValues,
    /// Zeros.
    Zero,
}

impl Arrays {
    /// The initial parameters: weights uniform in a range by fan-in, biases constant.
    #[must_use]
    pub fn initial(shape: &Shape, head: Head, seed: u64) -> Self {
        let sizes = shape.sizes;
        let [first, second] = shape.layer_inputs();
        let mut arrays = Self::zero(shape);
        // With about thirty active inputs, sums cover half the range around its middle.
        arrays[Array::TransformerBias].fill(0.4);
        let layers = [
            (Array::Transformer, 0.1),
            (Array::First, 1.0 / (first as f32).sqrt()),
            (Array::Second, 1.0 / (second as f32).sqrt()),
            (Array::Output, 0.1 / (sizes.second() as f32).sqrt()),
        ];
        for (array, limit) in layers {
            let mut stream = Stream::new(Use::TrainingWeights, seed, array as u64);
            arrays[array].fill_with(|| (stream.below(1 << 24) as f32 / f32::from(1_u16 << 15) / 256.0 - 1.0) * limit);
        }
        // Slightly positive, so that no neuron starts dead.
        arrays[Array::SecondBias].fill(0.05);
        if head == Head::PieceValues {
            let one = OUTPUT_ONE as f32 * VALUE_ONE;
            let values = Parameters::from_piece_values(sizes, 0).head;
            for (weight, value) in arrays[Array::Head].iter_mut().zip(values) {
                *weight = value as f32 / one;
            }
        }
        arrays
    }

    /// The transformer's rows with the shared rows added.
    #[must_use]
    pub fn merged_transformer(&self, shape: &Shape) -> Vec<f32> {
        let mut merged = self[Array::Transformer].clone();
        shape.sharing().add(&mut merged, &self[Array::Shared], shape.sizes.width());
        if let Some(limit) = shape.merged_limit() {
            for weight in &mut merged {
                *weight = weight.clamp(-limit, limit);
            }
        }
        merged
    }
}
