//! The net file format, little-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `CHUHENET` |
//! | 4 | format version: 1 for nets with the inputs `kings`, 2 for all others |
//! | 8 | architecture id ([`Sizes::architecture_id`](crate::architecture::Sizes::architecture_id)) |
//! | 4 × 2 | width, first layer, second layer, stacks |
//! | 2 | only in version 2: the inputs, 1 for `kings-attackers` |
//! | 4 × 4 | scales: transformer, activation, weight, output |
//! | 2, n | length of the description, at most 1,024; the description, UTF-8 |
//! | W × 2 | transformer biases, i16 |
//! | I × W × 2 | transformer weights, i16, a row an input; I is 4,134 for `kings`, 16,536 for `kings-attackers` |
//! | I × stacks × 4 | piece-square head, i32, a row an input |
//! | for each stack | |
//! | L1 × 4, L1 × W | first layer: biases, i32; weights, i8, a row a neuron |
//! | L2 × 4, L2 × 2·L1 | second layer: biases, i32; weights, i8, a row a neuron |
//! | 4, L2 × 2 | output: bias, i32; weights, i16 |
//! | 8 | checksum: the start of the SHA-256 of everything before |
//!
//! The format is canonical: one net has one file. The reader accepts only what the writer writes,
//! and `kings` exists only in version 1. Header, length and checksum are checked before any
//! parameter is read.

mod error;
mod layout;
mod read;
mod write;

pub use error::{FileError, NetError, Section};
pub(crate) use read::read;

use crate::architecture::Inputs;

/// The magic bytes of a net file.
const MAGIC: &[u8; 8] = b"CHUHENET";

/// The format version.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    /// For [`Inputs::Kings`] only; it has no field for the inputs, as it predates the others.
    One = 1,
    /// For all other inputs.
    Two = 2,
}

impl Version {
    /// The version for nets with these inputs.
    const fn of(inputs: Inputs) -> Self {
        match inputs {
            Inputs::Kings => Self::One,
            Inputs::KingsAttackers => Self::Two,
        }
    }

    /// The length of the header, up to the description.
    const fn header_length(self) -> usize {
        let inputs = match self {
            Self::One => 0,
            Self::Two => 2,
        };
        MAGIC.len() + 4 + 8 + 4 * 2 + inputs + 4 * 4 + 2
    }
}

/// The numbers of inputs in version 2.
const INPUT_NUMBERS: [(u16, Inputs); 1] = [(1, Inputs::KingsAttackers)];

/// The length of the checksum.
const CHECKSUM_LENGTH: usize = 8;

/// The scales in the header.
const SCALES: [(&str, i32); 4] = {
    use crate::architecture::{ACTIVATION_ONE, OUTPUT_ONE, TRANSFORMER_ONE, WEIGHT_ONE};
    [
        ("transformer", TRANSFORMER_ONE as i32),
        ("activation", ACTIVATION_ONE),
        ("weight", WEIGHT_ONE),
        ("output", OUTPUT_ONE),
    ]
};
