//! A net's numbers, as its file holds them.

mod samples;

use crate::architecture::Sizes;

/// Everything a net consists of, in the file's order and with no promise about its sums: what a trainer writes and
/// [`Net::new`](crate::Net::new) judges. Every array must have the length that `sizes` gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// What inputs there are, and how wide the layers are.
    pub sizes: Sizes,
    /// Who the net is, for people: at most [`Parameters::MAX_DESCRIPTION`] bytes.
    pub description: String,
    /// The transformer's biases, one a neuron.
    pub transformer_bias: Vec<i16>,
    /// The transformer's weights: a row of `width` for each input.
    pub transformer: Vec<i16>,
    /// The piece-square head: a row of one weight a stack for each input.
    pub head: Vec<i32>,
    /// The layers above, once a stack.
    pub stacks: Vec<StackParameters>,
}

/// The layers of one stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackParameters {
    /// The first layer's biases.
    pub first_bias: Vec<i32>,
    /// The first layer's weights: for each of its neurons a row of one weight for each of the transformer's values, the
    /// side to move first.
    pub first: Vec<i8>,
    /// The second layer's biases.
    pub second_bias: Vec<i32>,
    /// The second layer's weights: for each of its neurons a row of the first layer's squares, then of its clipped
    /// values.
    pub second: Vec<i8>,
    /// The output's bias.
    pub output_bias: i32,
    /// The output's weights.
    pub output: Vec<i16>,
}

impl Parameters {
    /// How many bytes a description may have.
    pub const MAX_DESCRIPTION: usize = 1024;

    /// A net of these sizes with all numbers zero.
    #[must_use]
    pub fn zero(sizes: Sizes) -> Self {
        let stack = StackParameters {
            first_bias: vec![0; sizes.first()],
            first: vec![0; sizes.first() * sizes.width()],
            second_bias: vec![0; sizes.second()],
            second: vec![0; sizes.second() * 2 * sizes.first()],
            output_bias: 0,
            output: vec![0; sizes.second()],
        };
        Self {
            sizes,
            description: String::new(),
            transformer_bias: vec![0; sizes.width()],
            transformer: vec![0; sizes.inputs().count() * sizes.width()],
            head: vec![0; sizes.inputs().count() * sizes.stacks()],
            stacks: vec![stack; sizes.stacks()],
        }
    }

    /// Whether every array has its length and the description fits.
    pub(crate) fn is_well_formed(&self) -> bool {
        let shape = Self::zero_lengths(self.sizes);
        self.description.len() <= Self::MAX_DESCRIPTION
            && [self.transformer_bias.len(), self.transformer.len(), self.head.len(), self.stacks.len()] == shape.0
            && self.stacks.iter().all(|stack| {
                let lengths = [
                    stack.first_bias.len(),
                    stack.first.len(),
                    stack.second_bias.len(),
                    stack.second.len(),
                    stack.output.len(),
                ];
                lengths == shape.1
            })
    }

    /// The lengths of the net's arrays, and of a stack's.
    fn zero_lengths(sizes: Sizes) -> ([usize; 4], [usize; 5]) {
        let (inputs, width, first, second) = (sizes.inputs().count(), sizes.width(), sizes.first(), sizes.second());
        (
            [width, inputs * width, inputs * sizes.stacks(), sizes.stacks()],
            [first, first * width, second, second * 2 * first, second],
        )
    }
}
