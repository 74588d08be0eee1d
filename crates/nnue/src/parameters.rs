//! The parameters of a net, as in its file.

mod samples;

use crate::architecture::Sizes;

/// All parameters of a net in file order, not yet proved: the output of a trainer and the input of
/// [`Net::new`](crate::Net::new). Every array must have the length that `sizes` implies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// The inputs and layer sizes.
    pub sizes: Sizes,
    /// A description for people, at most [`Parameters::MAX_DESCRIPTION`] bytes.
    pub description: String,
    /// The transformer's biases, one per neuron.
    pub transformer_bias: Vec<i16>,
    /// The transformer's weights: a row of `width` for each input.
    pub transformer: Vec<i16>,
    /// The piece-square head: for each input a row of one weight per stack.
    pub head: Vec<i32>,
    /// The layers above, per stack.
    pub stacks: Vec<StackParameters>,
}

/// The layers of one stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackParameters {
    /// The first layer's biases.
    pub first_bias: Vec<i32>,
    /// The first layer's weights: a row of `width` for each neuron, the side to move first.
    pub first: Vec<i8>,
    /// The second layer's biases.
    pub second_bias: Vec<i32>,
    /// The second layer's weights: for each neuron a row for the squares, then for the clipped
    /// values.
    pub second: Vec<i8>,
    /// The output's bias.
    pub output_bias: i32,
    /// The output's weights.
    pub output: Vec<i16>,
}

impl Parameters {
    /// The maximum length of a description, in bytes.
    pub const MAX_DESCRIPTION: usize = 1024;

    /// A net of zeros.
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

    /// Whether all array lengths match the sizes, and the description fits.
    pub(crate) fn is_well_formed(&self) -> bool {
        let shape = Self::array_lengths(self.sizes);
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

    /// Returns the array lengths of a net, and of a stack.
    fn array_lengths(sizes: Sizes) -> ([usize; 4], [usize; 5]) {
        let (inputs, width, first, second) = (sizes.inputs().count(), sizes.width(), sizes.first(), sizes.second());
        (
            [width, inputs * width, inputs * sizes.stacks(), sizes.stacks()],
            [first, first * width, second, second * 2 * first, second],
        )
    }
}
