//! Nets for Fairy-Stockfish: its quantisation, and the format of its files.
//!
//! Its nets have 10,530 inputs: a piece on a point, for each of the nine points of the own king.
//! Nothing is mirrored. Here a net learns the inputs of [`nnue::architecture`], in which a king on
//! the f file is mirrored, so that there are fewer. [`FairyNet::to_bytes`] writes all of them out.
//! 512 sums of each side are clipped, and followed by layers of 16, 32 and 1. There are eight
//! stacks, by the number of pieces.

use nnue::architecture::{ACTIVATION_ONE, PIECE_POINTS, View, WEIGHT_SHIFT};
use xiangqi::{Color, Piece, PieceKind, Square, attacks};

use crate::{
    batch::Batch,
    export::{Difference, ExportError, integers},
    model::{Array, Arrays, Shape, VALUE_ONE},
};

/// The pieces in the order of its inputs; both kings share the last plane.
const KINDS: [PieceKind; PieceKind::COUNT] = [
    PieceKind::Chariot,
    PieceKind::Advisor,
    PieceKind::Cannon,
    PieceKind::Pawn,
    PieceKind::Horse,
    PieceKind::Elephant,
    PieceKind::King,
];

/// The version of its files.
const VERSION: u32 = 0x7af3_2f20;

/// The hash values by which it knows parts of a net.
const INPUTS_HASH: u32 = 0x5f23_4cb8;
const SLICE_HASH: u32 = 0xec42_e90d;
const LAYER_HASH: u32 = 0xcc03_dae4;
const CLIPPED_HASH: u32 = 0x538d_24c7;

/// Inputs of a layer are filled up with zeros to a multiple of this.
const LAYER_STEP: usize = 32;

/// Most pieces on a board.
const PIECES: usize = 32;

/// The integers of a net. Rows are those that were learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FairyNet {
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

/// The stack of a position with so many pieces.
#[must_use]
pub fn stack(pieces: usize, stacks: usize) -> usize {
    (pieces.saturating_sub(1) * stacks / PIECES).min(stacks - 1)
}

/// The view of a side by its own king alone.
#[must_use]
pub fn view(side: Color, king: Square) -> View {
    View::from_kings(side, king, king)
}

impl FairyNet {
    /// Quantises a net.
    ///
    /// # Errors
    ///
    /// If a number does not fit its type.
    pub fn quantise(shape: &Shape, values: &Arrays) -> Result<Self, ExportError> {
        let wide = |array, values: &[f32]| integers(shape, array, values, i32::MIN.into(), i32::MAX.into());
        let narrow = |array, values: &[f32]| integers(shape, array, values, i16::MIN.into(), i16::MAX.into());
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
        Ok(Self {
            transformer_bias: narrow(Array::TransformerBias, &values[Array::TransformerBias])?,
            transformer: narrow(Array::Transformer, &values.merged_transformer(shape))?,
            head: wide(Array::Head, &values[Array::Head])?,
            stacks: (0..count).map(stack).collect::<Result<_, _>>()?,
        })
    }

    /// The file.
    #[must_use]
    pub fn to_bytes(&self, description: &str) -> Vec<u8> {
        let (width, stacks) = (self.transformer_bias.len(), self.stacks.len());
        let mut layers_hash = SLICE_HASH ^ (2 * width) as u32;
        for (number, layer) in self.stacks[0].0.iter().enumerate() {
            if number > 0 {
                layers_hash = layers_hash.wrapping_add(CLIPPED_HASH);
            }
            layers_hash = LAYER_HASH.wrapping_add(layer.bias.len() as u32) ^ layers_hash >> 1 ^ layers_hash << 31;
        }
        let transformer_hash = INPUTS_HASH ^ (2 * width) as u32;
        let mut bytes = Vec::new();
        for word in [VERSION, transformer_hash ^ layers_hash, description.len() as u32] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(description.as_bytes());
        bytes.extend(transformer_hash.to_le_bytes());
        bytes.extend(self.transformer_bias.iter().flat_map(|number| number.to_le_bytes()));
        let rows = rows();
        for row in &rows {
            match row {
                Some(row) => {
                    bytes.extend(self.transformer[row * width..][..width].iter().flat_map(|it| it.to_le_bytes()));
                }
                None => bytes.resize(bytes.len() + 2 * width, 0),
            }
        }
        for row in &rows {
            match row {
                Some(row) => bytes.extend(self.head[row * stacks..][..stacks].iter().flat_map(|it| it.to_le_bytes())),
                None => bytes.resize(bytes.len() + 4 * stacks, 0),
            }
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
        bytes
    }

    /// The score of a position of a batch, in sixteenths of Fairy-Stockfish's unit.
    #[must_use]
    pub fn score(&self, batch: &Batch, place: usize) -> i32 {
        let (width, stacks, stack) = (self.transformer_bias.len(), self.stacks.len(), usize::from(batch.stacks[place]));
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
            inputs.extend(sums.iter().map(|sum| (*sum).clamp(0, ACTIVATION_ONE)));
        }
        let Stack([first, second, output]) = &self.stacks[stack];
        let sums = |layer: &Layer, inputs: &[i32]| -> Vec<i32> {
            let rows = layer.weights.chunks_exact(inputs.len()).zip(&layer.bias);
            rows.map(|(row, bias)| bias + row.iter().zip(inputs).map(|(it, x)| i32::from(*it) * x).sum::<i32>())
                .collect()
        };
        for layer in [first, second] {
            inputs = sums(layer, &inputs).iter().map(|sum| (sum >> WEIGHT_SHIFT).clamp(0, ACTIVATION_ONE)).collect();
        }
        (heads[0] - heads[1]) / 2 + sums(output, &inputs)[0]
    }

    /// Compares the net with the model's values of a batch, in hundredths of a pawn.
    #[must_use]
    pub fn compare(&self, shape: &Shape, batch: &Batch, values: &[f32]) -> Difference {
        let one = shape.scale(Array::OutputBias);
        let scores = (0..batch.len()).map(|place| f64::from(self.score(batch, place)) / one * f64::from(VALUE_ONE));
        Difference::of(scores, values)
    }
}

/// The learned row of each input of Fairy-Stockfish; none where no piece can stand.
fn rows() -> Vec<Option<usize>> {
    let square = |index| Square::from_index(index).expect("an index of a square");
    let palace = attacks::palace(Color::Red);
    let kings = (0..Square::COUNT).map(square).filter(|king| palace.contains(*king));
    let mut rows = Vec::new();
    for king in kings {
        let view = view(Color::Red, king);
        let row = |piece: Piece, square: Square| {
            let stands = attacks::home(piece).contains(square) && (piece != Piece::RedKing || square == king);
            stands.then(|| view.input(Color::Red, piece, square))
        };
        for kind in KINDS {
            let [own, enemy] = [Color::Red, Color::Black].map(|color| {
                let piece = Piece::new(color, kind);
                (0..Square::COUNT).map(move |index| (piece, square(index)))
            });
            if kind == PieceKind::King {
                rows.extend(own.zip(enemy).map(|(own, enemy)| row(own.0, own.1).or_else(|| row(enemy.0, enemy.1))));
            } else {
                rows.extend(own.chain(enemy).map(|(piece, square)| row(piece, square)));
            }
        }
    }
    debug_assert!(rows.iter().flatten().all(|row| *row < 6 * PIECE_POINTS));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_input_has_its_row() {
        let rows = rows();
        assert_eq!(rows.len(), 9 * 13 * 90);
        let mut met = vec![0; 6 * PIECE_POINTS];
        for row in rows.iter().flatten() {
            met[*row] += 1;
        }
        // Kings on the d and f files share rows. Of the own king's six points one is its own.
        let count = |times| met.iter().filter(|met| **met == times).count();
        assert_eq!([0, 1, 2].map(count), [6 * 5, 3 * 684, 3 * 684]);
        // An own chariot on a1 and on i1, for kings on d1 and f1: the second is the mirror image.
        let king = |file: usize| (file - 3) * 13 * 90;
        assert_eq!(rows[king(3)], rows[king(5) + 8]);
        assert_ne!(rows[king(3)], rows[king(3) + 8]);
        assert_ne!(rows[king(4)], rows[king(4) + 8], "a king on the e file mirrors nothing");
    }

    #[test]
    fn the_most_pieces_have_the_last_stack() {
        assert_eq!([2, 5, 8, 9, 31, 32].map(|pieces| stack(pieces, 8)), [0, 1, 1, 2, 7, 7]);
    }
}
