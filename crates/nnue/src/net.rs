//! A net as inference runs on it.

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

/// A net that can be evaluated: its sums are proved to fit, its arrays laid out for the kernels. Threads share it.
pub struct Net {
    sizes: Sizes,
    description: String,
    hash: NetHash,
    /// A row of biases.
    pub(crate) bias: Vec<I16x32>,
    /// The rows of the inputs: [`Net::row_blocks`] each, the transformer's weights and a block of the head's (of 32
    /// bits, for sixteen stacks). One stretch of memory holds all that an input changes.
    pub(crate) rows: Vec<I16x32>,
    pub(crate) stacks: Vec<Stack>,
}

/// The layers of one stack. Layers are filled up with neurons of zero weight to blocks of sixteen.
pub(crate) struct Stack {
    pub(crate) first_bias: Vec<I32x16>,
    /// For each four inputs, for each block of sixteen neurons, the four weights of each neuron; and a group of zeros, so
    /// that kernels may take the weights of a whole group anywhere.
    pub(crate) first: Vec<I8x64>,
    pub(crate) second_bias: Vec<I32x16>,
    /// For each block of sixteen neurons, for each four inputs, the four weights of each neuron. The inputs are, for
    /// each block of the first layer, its sixteen squares and its sixteen clipped values.
    pub(crate) second: Vec<I8x64>,
    pub(crate) output: Vec<I32x16>,
    pub(crate) output_bias: i32,
}

impl Net {
    /// The net of these numbers.
    ///
    /// # Errors
    ///
    /// If some sum could overflow in some position.
    ///
    /// # Panics
    ///
    /// If an array has not the length that the sizes give it, or the description is too long.
    pub fn new(parameters: &Parameters) -> Result<Self, NetError> {
        let hash = NetHash::from(<[u8; 32]>::from(Sha256::digest(parameters.to_bytes())));
        Self::build(parameters, hash)
    }

    /// Reads a net from the bytes of its file.
    ///
    /// # Errors
    ///
    /// If they are not a net's, or some sum of it could overflow.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NetError> {
        let (parameters, hash) = format::read(bytes)?;
        Self::build(&parameters, hash)
    }

    /// Reads a net from its file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is no net.
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

    /// What inputs it has, and how wide its layers are.
    #[must_use]
    pub const fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// Who it is, for people.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Its name: the SHA-256 of its file.
    #[must_use]
    pub const fn hash(&self) -> NetHash {
        self.hash
    }

    /// How many blocks a row is, and so a side's sums.
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
        // Where the second layer's input of a chunk is in the file: squares first, then clipped values.
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

/// A row of the transformer and of the head.
fn row(weights: &[i16], head: &[i32]) -> Vec<I16x32> {
    let mut blocks = I16x32::blocks(weights);
    blocks.push(I16x32::of_wide(head));
    blocks
}

/// The weights of four inputs in a block of sixteen neurons; zero where there is none.
fn block_of(block: usize, weight: impl Fn(usize, usize) -> Option<i8>) -> I8x64 {
    I8x64(std::array::from_fn(|place| weight(block * 16 + place / 4, place % 4).unwrap_or(0)))
}
