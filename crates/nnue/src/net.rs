//! A net in the layout of inference.

use std::{fs, path::Path};

use sha2::{Digest, Sha256};

use crate::{
    FileError, NetError, NetHash, Parameters, StackParameters,
    architecture::Sizes,
    format,
    kernel::{
        GROUP,
        blocks::{I8x64, I16x32, I32x16},
    },
    proof,
};

/// A net ready for inference: proved not to overflow, laid out for the kernels, shared by threads.
pub struct Net {
    sizes: Sizes,
    description: String,
    hash: NetHash,
    /// A row of biases.
    pub(crate) bias: Vec<I16x32>,
    /// The rows of the inputs, [`Net::row_blocks`] each: the transformer's weights, then a block of
    /// the head's (16 stacks of 32 bits). All that an input changes is contiguous.
    pub(crate) rows: Vec<I16x32>,
    pub(crate) stacks: Vec<Stack>,
}

/// The layers of one stack, padded to blocks of 16 neurons.
pub(crate) struct Stack {
    pub(crate) first_bias: Vec<I32x16>,
    /// For each chunk of four inputs, for each block of 16 neurons, the four weights of each
    /// neuron. A group of zeros follows, so that kernels can always read a whole group.
    pub(crate) first: Vec<I8x64>,
    pub(crate) second_bias: Vec<I32x16>,
    /// For each block of 16 neurons, for each chunk of four inputs, the four weights of each
    /// neuron. The inputs are, for each block of the first layer, its 16 squares and its 16 clipped
    /// values.
    pub(crate) second: Vec<I8x64>,
    pub(crate) output: Vec<I32x16>,
    pub(crate) output_bias: i32,
}

impl Net {
    /// Builds a net.
    ///
    /// # Errors
    ///
    /// If a sum can overflow.
    ///
    /// # Panics
    ///
    /// If the length of an array does not match the sizes, or the description is too long.
    pub fn new(parameters: &Parameters) -> Result<Self, NetError> {
        let hash = NetHash::from(<[u8; 32]>::from(Sha256::digest(parameters.to_bytes())));
        Self::build(parameters, hash)
    }

    /// Parses a net file.
    ///
    /// # Errors
    ///
    /// If they are not a net file, or a sum can overflow.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NetError> {
        let (parameters, hash) = format::read(bytes)?;
        Self::build(&parameters, hash)
    }

    /// Reads a net from its file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not a valid net.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|cause| FileError::Unreadable { path: path.to_owned(), cause })?;
        Self::from_bytes(&bytes).map_err(|cause| FileError::Refused { path: path.to_owned(), cause })
    }

    /// The net of [`Parameters::random`].
    ///
    /// # Panics
    ///
    /// Never: its numbers are small enough.
    #[must_use]
    pub fn random(sizes: Sizes, seed: u64) -> Self {
        Self::new(&Parameters::random(sizes, seed)).expect("random numbers are kept within the bounds")
    }

    /// The net of [`Parameters::from_piece_values`].
    ///
    /// # Panics
    ///
    /// Never: its numbers are small enough.
    #[must_use]
    pub fn from_piece_values(sizes: Sizes, seed: u64) -> Self {
        Self::new(&Parameters::from_piece_values(sizes, seed)).expect("piece values are within the bounds")
    }

    /// The inputs and layer sizes.
    #[must_use]
    pub const fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// The description for people.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The identity: the SHA-256 of the file.
    #[must_use]
    pub const fn hash(&self) -> NetHash {
        self.hash
    }

    /// The blocks of a row, and of an accumulator.
    pub(crate) const fn row_blocks(&self) -> usize {
        self.sizes.width() / 32 + 1
    }

    /// The row of an input.
    #[inline]
    pub(crate) fn row(&self, input: usize) -> &[I16x32] {
        &self.rows[input * self.row_blocks()..][..self.row_blocks()]
    }

    fn build(parameters: &Parameters, hash: NetHash) -> Result<Self, NetError> {
        proof::prove(parameters).map_err(NetError::Overflow)?;
        let sizes = parameters.sizes;
        Ok(Self {
            sizes,
            description: parameters.description.clone(),
            hash,
            bias: row(&parameters.transformer_bias, &[]),
            rows: (parameters.transformer.chunks_exact(sizes.width()))
                .zip(parameters.head.chunks_exact(sizes.stacks()))
                .flat_map(|(weights, head)| row(weights, head))
                .collect(),
            stacks: parameters.stacks.iter().map(|stack| Stack::build(sizes, stack)).collect(),
        })
    }
}

impl std::fmt::Debug for Net {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Net")
            .field("hash", &self.hash)
            .field("sizes", &self.sizes)
            .field("description", &self.description)
            .finish_non_exhaustive()
    }
}

impl Stack {
    pub(crate) fn build(sizes: Sizes, stack: &StackParameters) -> Self {
        let (width, first) = (sizes.width(), sizes.first());
        let blocks = first.div_ceil(16);
        let mut interleaved = Vec::with_capacity(width / 4 * blocks);
        for chunk in 0..width / 4 {
            for block in 0..blocks {
                interleaved.push(block_of(block, |neuron, input| {
                    (neuron < first).then(|| stack.first[neuron * width + chunk * 4 + input])
                }));
            }
        }
        interleaved.extend([I8x64::ZERO; GROUP].repeat(blocks));
        // The second layer's input in file order: squares first, then clipped values.
        let place = |chunk: usize, input: usize| {
            let neuron = chunk / 8 * 16 + chunk % 4 * 4 + input;
            let clipped = chunk % 8 >= 4;
            (neuron < first).then_some(usize::from(clipped) * first + neuron)
        };
        let mut second = Vec::new();
        for block in 0..sizes.second().div_ceil(16) {
            for chunk in 0..blocks * 8 {
                second.push(block_of(block, |neuron, input| {
                    (neuron < sizes.second())
                        .then_some(place(chunk, input)?)
                        .map(|place| stack.second[neuron * 2 * first + place])
                }));
            }
        }
        let output: Vec<_> = stack.output.iter().map(|weight| i32::from(*weight)).collect();
        Self {
            first_bias: I32x16::blocks(&stack.first_bias),
            first: interleaved,
            second_bias: I32x16::blocks(&stack.second_bias),
            second,
            output: I32x16::blocks(&output),
            output_bias: stack.output_bias,
        }
    }
}

/// Builds a row from the weights of transformer and head.
fn row(weights: &[i16], head: &[i32]) -> Vec<I16x32> {
    let mut blocks = I16x32::blocks(weights);
    blocks.push(I16x32::of_wide(head));
    blocks
}

/// Builds a block: the weights of four inputs for 16 neurons, zero as padding.
fn block_of(block: usize, weight: impl Fn(usize, usize) -> Option<i8>) -> I8x64 {
    I8x64(std::array::from_fn(|place| weight(block * 16 + place / 4, place % 4).unwrap_or(0)))
}
