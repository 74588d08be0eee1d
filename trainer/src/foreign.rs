//! Nets for other engines: their quantisation, and the format of their files.
//!
//! Fairy-Stockfish (`fairy`) and Pikafish (`pikafish`) descend from one engine. Their files
//! begin alike, and their layers have one format; only the transformer differs.

pub(crate) mod fairy;
pub(crate) mod pikafish;

use nnue::architecture::{ACTIVATION_ONE, PAIR_SHIFT, SQUARE_SHIFT, SUM_LIMIT, TRANSFORMER_ONE, WEIGHT_SHIFT};
use protocol::recipe::Activation;
use xiangqi::PieceKind;

use crate::{
    batch::Batch,
    export::{Difference, ExportError, integers},
    model::{Array, Arrays, Shape, VALUE_ONE},
};

/// The pieces in the order of their inputs.
const KINDS: [PieceKind; PieceKind::COUNT] = [
    PieceKind::Chariot,
    PieceKind::Advisor,
    PieceKind::Cannon,
    PieceKind::Pawn,
    PieceKind::Horse,
    PieceKind::Elephant,
    PieceKind::King,
];

/// The version of their files.
const VERSION: u32 = 0x7af3_2f20;

/// The hash values by which they know the parts above the inputs.
const SLICE_HASH: u32 = 0xec42_e90d;
const LAYER_HASH: u32 = 0xcc03_dae4;
const CLIPPED_HASH: u32 = 0x538d_24c7;

/// Inputs of a layer are filled up with zeros to a multiple of this.
const LAYER_STEP: usize = 32;

/// The integers of a net. Rows are those that were learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignNet {
    activation: Activation,
    transformer_bias: Vec<i16>,
    transformer: Vec<i16>,
    head: Vec<i32>,
    stacks: Vec<Stack>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Stack([Layer; 3]);

/// A layer: a bias and a row of weights for each output.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Layer {
    bias: Vec<i32>,
    weights: Vec<i8>,
}

impl Layer {
    fn sums(&self, inputs: &[i32]) -> Vec<i32> {
        let rows = self.weights.chunks_exact(inputs.len()).zip(&self.bias);
        rows.map(|(row, bias)| bias + row.iter().zip(inputs).map(|(it, x)| i32::from(*it) * x).sum::<i32>()).collect()
    }
}

impl ForeignNet {
    /// Quantises a net.
    ///
    /// # Errors
    ///
    /// If a number does not fit its type.
    pub fn quantise(shape: &Shape, values: &Arrays) -> Result<Self, ExportError> {
        let wide = |array, values: &[f32]| integers(shape, array, values, i32::MIN.into(), i32::MAX.into());
        let narrow = |array, values: &[f32], most: i16| integers(shape, array, values, (-most).into(), most.into());
        let count = shape.sizes.stacks();
        let part = |array: Array, stack: usize| {
            let length = values[array].len() / count;
            &values[array][stack * length..][..length]
        };
        let layers =
            [(Array::FirstBias, Array::First), (Array::SecondBias, Array::Second), (Array::OutputBias, Array::Output)];
        let stack = |stack: usize| -> Result<Stack, ExportError> {
            let layer = |(bias, weights): (Array, Array)| {
                let weights = integers(shape, weights, part(weights, stack), -127, 127)?;
                Ok(Layer { bias: wide(bias, part(bias, stack))?, weights })
            };
            let [first, second, output] = layers;
            Ok(Stack([layer(first)?, layer(second)?, layer(output)?]))
        };
        let rows = values.merged_transformer(shape);
        Ok(Self {
            activation: shape.activation,
            transformer_bias: narrow(Array::TransformerBias, &values[Array::TransformerBias], i16::MAX)?,
            transformer: narrow(Array::Transformer, &rows, shape.transformer_weight_limit())?,
            head: wide(Array::Head, &values[Array::Head])?,
            stacks: (0..count).map(stack).collect::<Result<_, _>>()?,
        })
    }

    /// The file.
    #[must_use]
    pub fn to_bytes(&self, description: &str) -> Vec<u8> {
        let width_hash = 2 * self.transformer_bias.len() as u32;
        let mut layers_hash = SLICE_HASH ^ width_hash;
        for (number, layer) in self.stacks[0].0.iter().enumerate() {
            if number > 0 {
                layers_hash = layers_hash.wrapping_add(CLIPPED_HASH);
            }
            layers_hash = LAYER_HASH.wrapping_add(layer.bias.len() as u32) ^ layers_hash >> 1 ^ layers_hash << 31;
        }
        let inputs_hash = if self.is_pikafish() { pikafish::INPUTS_HASH } else { fairy::INPUTS_HASH };
        let transformer_hash = inputs_hash ^ width_hash;
        let mut bytes = Vec::new();
        for word in [VERSION, transformer_hash ^ layers_hash, description.len() as u32] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(description.as_bytes());
        bytes.extend(transformer_hash.to_le_bytes());
        if self.is_pikafish() {
            self.write_pikafish_transformer(&mut bytes);
        } else {
            self.write_fairy_transformer(&mut bytes);
        }
        for Stack(layers) in &self.stacks {
            bytes.extend(layers_hash.to_le_bytes());
            for layer in layers {
                bytes.extend(layer.bias.iter().flat_map(|number| number.to_le_bytes()));
                let inputs = layer.weights.len() / layer.bias.len();
                for weights in layer.weights.chunks_exact(inputs) {
                    bytes.extend(weights.iter().map(|weight| *weight as u8));
                    bytes.resize(bytes.len() + inputs.next_multiple_of(LAYER_STEP) - inputs, 0);
                }
            }
        }
        if self.is_pikafish() { pikafish::compressed(&bytes) } else { bytes }
    }

    /// The outputs of a stack for a position of a batch, in sixteenths of the engine's unit. The
    /// first is the piece-square head's, the second that of the layers. The engine adds them.
    #[must_use]
    pub fn outputs(&self, batch: &Batch, place: usize, stack: usize) -> [i32; 2] {
        let (width, stacks) = (self.transformer_bias.len(), self.stacks.len());
        let mut inputs = Vec::with_capacity(2 * width);
        let mut heads = [0; 2];
        for (active, head) in batch.active[place].iter().zip(&mut heads) {
            let mut sums: Vec<i32> = self.transformer_bias.iter().map(|bias| i32::from(*bias)).collect();
            for row in active[..usize::from(batch.counts[place])].iter().map(|input| usize::from(*input)) {
                for (sum, weight) in sums.iter_mut().zip(&self.transformer[row * width..]) {
                    *sum += i32::from(*weight);
                }
                *head += self.head[row * stacks + stack];
            }
            if self.is_pikafish() {
                let (lower, upper) = sums.split_at(width / 2);
                let clip = |sum: i32| sum.clamp(0, TRANSFORMER_ONE.into());
                inputs.extend(lower.iter().zip(upper).map(|(one, other)| (clip(*one) * clip(*other)) >> PAIR_SHIFT));
            } else {
                inputs.extend(sums.iter().map(|sum| (*sum).clamp(0, ACTIVATION_ONE)));
            }
        }
        let Stack([first, second, output]) = &self.stacks[stack];
        let clip = |sum: &i32| (sum >> WEIGHT_SHIFT).clamp(0, ACTIVATION_ONE);
        let sums = first.sums(&inputs);
        let (middle, skip): (Vec<_>, _) = match sums.split_last() {
            Some((skip, sums)) if self.is_pikafish() => {
                let squares = sums.iter().map(|sum| sum.abs().min(SUM_LIMIT).pow(2) >> SQUARE_SHIFT);
                (squares.chain(sums.iter().map(clip)).collect(), pikafish::skipped(*skip))
            }
            _ => (sums.iter().map(clip).collect(), 0),
        };
        let last: Vec<_> = second.sums(&middle).iter().map(clip).collect();
        [(heads[0] - heads[1]) / 2, output.sums(&last)[0] + skip]
    }

    /// Compares the net with the model's values of a batch, in hundredths of a pawn.
    #[must_use]
    pub fn compare(&self, shape: &Shape, batch: &Batch, values: &[f32]) -> Difference {
        let one = shape.scale(Array::OutputBias);
        let score = |place| {
            let outputs = self.outputs(batch, place, batch.stacks[place].into());
            f64::from(outputs.iter().sum::<i32>()) / one * f64::from(VALUE_ONE)
        };
        Difference::of((0..batch.len()).map(score), values)
    }

    const fn is_pikafish(&self) -> bool {
        matches!(self.activation, Activation::PairsSkip)
    }
}
