//! Quantisation: from floating point to the integers of a net's file, and the error that this
//! causes.

use std::sync::Arc;

use dataset::training::Sample;
use nnue::{Evaluator, Kernel, Net, NetError, Parameters, StackParameters};
use xiangqi::Position;

use crate::model::{Array, Arrays, Shape, VALUE_ONE};

/// An error of quantisation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum ExportError {
    #[error("{} has a number that is none, at place {place}", array.name())]
    NotANumber { array: Array, place: usize },
    #[error("{} has {value} at place {place}, which as an integer is {rounded}: beyond the {least} to {most} of its type", array.name())]
    Beyond { array: Array, place: usize, value: f32, rounded: f64, least: i64, most: i64 },
    #[error("{0}")]
    Refused(NetError),
}

/// Rounds numbers of an array to integers from `least` to `most`, which their type holds.
pub(crate) fn integers<T: TryFrom<i64>>(
    shape: &Shape,
    array: Array,
    values: &[f32],
    least: i64,
    most: i64,
) -> Result<Vec<T>, ExportError> {
    let scale = shape.scale(array);
    let numbers = values.iter().enumerate().map(|(place, value)| {
        let rounded = (f64::from(*value) * scale).round_ties_even();
        if rounded.is_nan() {
            return Err(ExportError::NotANumber { array, place });
        }
        let integer = (least as f64 <= rounded && rounded <= most as f64).then(|| T::try_from(rounded as i64).ok());
        integer.flatten().ok_or(ExportError::Beyond { array, place, value: *value, rounded, least, most })
    });
    numbers.collect()
}

/// Quantises a net.
///
/// # Errors
///
/// If a number does not fit its type.
pub fn quantise(shape: &Shape, values: &Arrays, description: &str) -> Result<Parameters, ExportError> {
    let sizes = shape.sizes;
    let narrow = |array, values: &[f32]| integers(shape, array, values, i16::MIN.into(), i16::MAX.into());
    let wide = |array, values: &[f32]| integers(shape, array, values, i32::MIN.into(), i32::MAX.into());
    // −128 is excluded, because kernels negate weights.
    let tiny = |array, values: &[f32]| integers(shape, array, values, -127, 127);
    let part = |array: Array, stack: usize| {
        let length = values[array].len() / sizes.stacks();
        &values[array][stack * length..][..length]
    };
    let stacks = (0..sizes.stacks()).map(|stack| {
        Ok(StackParameters {
            first_bias: wide(Array::FirstBias, part(Array::FirstBias, stack))?,
            first: tiny(Array::First, part(Array::First, stack))?,
            second_bias: wide(Array::SecondBias, part(Array::SecondBias, stack))?,
            second: tiny(Array::Second, part(Array::Second, stack))?,
            output_bias: wide(Array::OutputBias, part(Array::OutputBias, stack))?[0],
            output: narrow(Array::Output, part(Array::Output, stack))?,
        })
    });
    let parameters = Parameters {
        sizes,
        description: description.to_owned(),
        transformer_bias: narrow(Array::TransformerBias, &values[Array::TransformerBias])?,
        transformer: narrow(Array::Transformer, &values.merged_transformer(shape))?,
        head: wide(Array::Head, &values[Array::Head])?,
        stacks: stacks.collect::<Result<_, ExportError>>()?,
    };
    debug_assert_eq!(parameters.transformer.len(), sizes.inputs().count() * sizes.width());
    Ok(parameters)
}

/// Dequantises a net, without shared rows. Quantising the result gives the same integers, if these
/// have at most 22 bits.
#[must_use]
pub fn dequantise(parameters: &Parameters) -> (Shape, Arrays) {
    fn float<T: Copy + Into<f64>>(shape: &Shape, array: Array, numbers: &[T]) -> impl Iterator<Item = f32> {
        let scale = shape.scale(array);
        numbers.iter().map(move |number| ((*number).into() / scale) as f32)
    }
    let shape = Shape::new(parameters.sizes);
    let mut arrays = Arrays::empty();
    arrays[Array::TransformerBias].extend(float(&shape, Array::TransformerBias, &parameters.transformer_bias));
    arrays[Array::Transformer].extend(float(&shape, Array::Transformer, &parameters.transformer));
    arrays[Array::Head].extend(float(&shape, Array::Head, &parameters.head));
    for stack in &parameters.stacks {
        arrays[Array::FirstBias].extend(float(&shape, Array::FirstBias, &stack.first_bias));
        arrays[Array::First].extend(float(&shape, Array::First, &stack.first));
        arrays[Array::SecondBias].extend(float(&shape, Array::SecondBias, &stack.second_bias));
        arrays[Array::Second].extend(float(&shape, Array::Second, &stack.second));
        arrays[Array::OutputBias].extend(float(&shape, Array::OutputBias, &[stack.output_bias]));
        arrays[Array::Output].extend(float(&shape, Array::Output, &stack.output));
    }
    (shape, arrays)
}

/// Orders neurons by activity, so that more of the chunks that inference visits are all zero.
///
/// `on` is the activity of each pair of the transformer. The net's outputs stay equal, to the bit.
#[must_use]
pub fn order_by_activity(shape: &Shape, values: &Arrays, on: &[f64]) -> Arrays {
    let (width, half) = (shape.sizes.width(), shape.sizes.width() / 2);
    let mut order: Vec<usize> = (0..half).collect();
    order.sort_by(|one, other| on[*other].total_cmp(&on[*one]));
    let mut ordered = values.clone();
    // The first layer's columns are the pairs of the side to move, then those of the other. The
    // transformer's are the lower halves of all pairs, then the upper ones. Both are permuted
    // alike.
    for array in [Array::TransformerBias, Array::Transformer, Array::Shared, Array::First] {
        for (to, from) in ordered[array].chunks_exact_mut(width).zip(values[array].chunks_exact(width)) {
            for (place, pair) in order.iter().enumerate() {
                to[place] = from[*pair];
                to[half + place] = from[half + pair];
            }
        }
    }
    ordered
}

/// The error of quantisation.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Difference {
    /// The number of compared positions.
    pub positions: usize,
    /// The mean absolute error, in centipawns.
    pub mean: f64,
    /// The greatest absolute error.
    pub most: f64,
    /// The mean signed error (bias of rounding).
    pub lean: f64,
}

impl Difference {
    /// The error of scores, in centipawns, against a model's values.
    pub(crate) fn of(scores: impl Iterator<Item = f64>, values: &[f32]) -> Self {
        let mut difference = Self { positions: values.len(), ..Self::default() };
        for (score, value) in scores.zip(values) {
            let by = score - f64::from(value * VALUE_ONE);
            difference.mean += by.abs();
            difference.lean += by;
            difference.most = difference.most.max(by.abs());
        }
        let count = values.len().max(1) as f64;
        difference.mean /= count;
        difference.lean /= count;
        difference
    }
}

/// Compares a quantised net with the model's values of the same positions.
///
/// # Panics
///
/// If a sample is not a valid position; shards hold none such.
#[must_use]
pub fn compare(net: &Arc<Net>, samples: &[Sample], values: &[f32]) -> Difference {
    let mut evaluator = Evaluator::new(Arc::clone(net), Kernel::best());
    let scores = samples.iter().map(|sample| {
        let position = Position::from_fen(&sample.position.to_fen()).expect("it comes from a game");
        evaluator.reset(&position);
        f64::from(evaluator.evaluate(&position))
    });
    Difference::of(scores, values)
}

#[cfg(test)]
mod tests {
    use nnue::architecture::Sizes;

    use super::*;
    use crate::model::Head;

    #[test]
    fn dequantised_integers_become_the_same_integers() {
        for seed in 0..4 {
            let mut parameters = Parameters::random(Sizes::new(128, 8, 16, 3).unwrap(), seed);
            let stacks = parameters.stacks.iter_mut();
            let biases =
                stacks.flat_map(|it| it.first_bias.iter_mut().chain(&mut it.second_bias).chain([&mut it.output_bias]));
            for number in biases.chain(&mut parameters.head) {
                *number = (*number).clamp(-(1 << 22), 1 << 22);
            }
            let (shape, arrays) = dequantise(&parameters);
            let again = quantise(&shape, &arrays, &parameters.description).unwrap();
            assert!(again == parameters, "{seed}");
        }
    }

    const START: &str = "rheakaehr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RHEAKAEHR w";
    const LATER: &str = "2eakae2/9/4h4/p3p3p/2p6/6P2/P3P3P/4C4/4A4/R1E1KAE2 b";

    fn shape() -> Shape {
        Shape { factorised: true, ..Shape::new(Sizes::new(128, 8, 16, 2).unwrap()) }
    }

    fn scores(parameters: &Parameters) -> Vec<i32> {
        let net = Arc::new(Net::new(parameters).unwrap());
        let mut evaluator = Evaluator::new(net, Kernel::best());
        [START, LATER]
            .map(|fen| {
                let position = Position::from_fen(fen).unwrap();
                evaluator.reset(&position);
                evaluator.evaluate(&position)
            })
            .to_vec()
    }

    #[test]
    fn order_changes_no_score() {
        let shape = shape();
        let mut values = Arrays::initial(&shape, Head::Zero, 5);
        for output in &mut values[Array::Output] {
            *output *= 20.0;
        }
        let on: Vec<f64> = (0..64).map(|pair| f64::from(pair * 29 % 64)).collect();
        let ordered = order_by_activity(&shape, &values, &on);
        assert!(ordered != values);
        let (before, after) = (quantise(&shape, &values, "").unwrap(), quantise(&shape, &ordered, "").unwrap());
        assert!(before.transformer != after.transformer);
        assert_eq!(scores(&before), scores(&after));
        assert!(scores(&before).iter().any(|score| *score != 0));
    }

    #[test]
    fn a_number_that_does_not_fit_is_rejected() {
        let shape = shape();
        let values = Arrays::initial(&shape, Head::Zero, 5);
        let with = |array: Array, value: f32| {
            let mut values = values.clone();
            values[array][3] = value;
            quantise(&shape, &values, "").unwrap_err().to_string()
        };
        assert_eq!(
            with(Array::First, 2.0),
            "first.weight has 2 at place 3, which as an integer is 128: beyond the -127 to 127 of its type"
        );
        assert_eq!(
            with(Array::Output, -50.0),
            "output.weight has -50 at place 3, which as an integer is -40315: beyond the -32768 to 32767 of its type"
        );
        assert_eq!(with(Array::Shared, f32::NAN), "transformer.weight has a number that is none, at place 3");
    }
}
