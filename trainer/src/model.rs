//! The net in floating point: what a backend learns, and the form in which checkpoints and export have it.
//!
//! It follows [`nnue::architecture`] number by number, with 1.0 for what the integers call [`TRANSFORMER_ONE`] or
//! [`ACTIVATION_ONE`]; scores are in units of [`VALUE_ONE`].

use dataset::random::{Stream, Use};
use nnue::{
    Parameters,
    architecture::{ACTIVATION_ONE, OUTPUT_ONE, PIECE_POINTS, Sizes, TRANSFORMER_ONE, WEIGHT_ONE},
};

use crate::sharing::Sharing;

/// How many hundredths of a pawn a value of 1 is: large enough that weights of about one make scores of games.
pub const VALUE_ONE: f32 = 400.0;

/// A weight of the transformer is no further from zero: whatever stands on the board, sums of 16 bits hold it.
/// Where rows are shared, each of the parts that are added up has its share of it.
pub const TRANSFORMER_LIMIT: f32 = i16::MAX as f32 / (TRANSFORMER_ONE as f32 * 34.0);

/// A weight of the layers is no further from zero.
pub const LAYER_LIMIT: f32 = 127.0 / WEIGHT_ONE as f32;

/// A weight of the output is no further from zero.
pub const OUTPUT_LIMIT: f32 = i16::MAX as f32 / OUTPUT_WEIGHT_ONE;

/// What 1.0 is in an integer output weight.
pub const OUTPUT_WEIGHT_ONE: f32 = VALUE_ONE * OUTPUT_ONE as f32 / ACTIVATION_ONE as f32;

/// What 1.0 is in an integer sum of a layer.
pub const SUM_ONE: f32 = (ACTIVATION_ONE * WEIGHT_ONE) as f32;

/// What kind of net is learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What inputs it has, and how wide its layers are.
    pub sizes: Sizes,
    /// Whether buckets share rows that are added to their own ([`Sharing`]).
    pub factorised: bool,
    /// Whether rounding is simulated while it is learned.
    pub fake_quantisation: bool,
}

impl Shape {
    /// Which rows learn together: none where nothing is factorised.
    #[must_use]
    pub fn sharing(&self) -> Sharing {
        if self.factorised { Sharing::of(self.sizes.inputs()) } else { Sharing::default() }
    }
}

/// The arrays of a net, in their order. A row is of the last dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Array {
    /// A bias for each of the transformer's sums.
    TransformerBias,
    /// A row of weights for each input.
    Transformer,
    /// A row of weights for each piece on a point in each plane; only where rows are shared.
    Shared,
    /// For each input a weight in each stack.
    Head,
    /// For each stack a bias for each sum.
    FirstBias,
    /// For each stack a row for each sum.
    First,
    /// For each stack a bias for each sum.
    SecondBias,
    /// For each stack a row for each sum: squares, then clipped values.
    Second,
    /// For each stack a bias.
    OutputBias,
    /// For each stack a row.
    Output,
}

impl Array {
    /// All arrays that a net can have.
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

    /// Its name in checkpoints.
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

    /// Its dimensions.
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
            Self::First => vec![stacks, first, width],
            Self::SecondBias | Self::Output => vec![stacks, second],
            Self::Second => vec![stacks, second, 2 * first],
            Self::OutputBias => vec![stacks],
        }
    }

    /// How many numbers it has.
    #[must_use]
    pub fn len(self, shape: &Shape) -> usize {
        self.dimensions(shape).iter().product()
    }

    /// How far from zero its numbers may go.
    #[must_use]
    pub fn limit(self, shape: &Shape) -> f32 {
        match self {
            Self::Transformer | Self::Shared => TRANSFORMER_LIMIT / (1 + shape.sharing().planes_of_each()) as f32,
            Self::TransformerBias => TRANSFORMER_LIMIT,
            Self::First | Self::Second => LAYER_LIMIT,
            Self::Output => OUTPUT_LIMIT,
            // Far beyond anything that can be learned, far within 32 bits.
            Self::Head | Self::OutputBias => 100.0,
            Self::FirstBias | Self::SecondBias => 1_000.0,
        }
    }
}

/// A number for each place of each array.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrays([Vec<f32>; Array::ALL.len()]);

impl Arrays {
    /// Without any number.
    #[must_use]
    pub fn empty() -> Self {
        Self(Array::ALL.map(|_| Vec::new()))
    }

    /// All zero.
    #[must_use]
    pub fn zero(shape: &Shape) -> Self {
        Self(Array::ALL.map(|array| vec![0.0; array.len(shape)]))
    }

    /// Whether all of them are numbers.
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

/// What the piece-square head begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// What pieces are worth.
    PieceValues,
    /// Nothing.
    Zero,
}

impl Arrays {
    /// The numbers with which learning begins.
    #[must_use]
    pub fn initial(shape: &Shape, head: Head, seed: u64) -> Self {
        let sizes = shape.sizes;
        let mut arrays = Self::zero(shape);
        // About thirty inputs are on: sums of half the range around its middle.
        arrays[Array::TransformerBias].fill(0.4);
        let layers = [
            (Array::Transformer, 0.1),
            (Array::First, 1.0 / (sizes.width() as f32).sqrt()),
            (Array::Second, 1.0 / (2.0 * sizes.first() as f32).sqrt()),
            (Array::Output, 0.1 / (sizes.second() as f32).sqrt()),
        ];
        for (array, limit) in layers {
            let mut stream = Stream::new(Use::TrainingWeights, seed, array as u64);
            arrays[array].fill_with(|| (stream.below(1 << 24) as f32 / f32::from(1_u16 << 15) / 256.0 - 1.0) * limit);
        }
        // Somewhat to the living side, so that no neuron begins dead.
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

    /// The transformer's rows as they are used: with what they share.
    #[must_use]
    pub fn merged_transformer(&self, shape: &Shape) -> Vec<f32> {
        let mut merged = self[Array::Transformer].clone();
        shape.sharing().add(&mut merged, &self[Array::Shared], shape.sizes.width());
        merged
    }
}
