//! The numbers of an array.

use serde::Serialize;

use crate::{
    export,
    model::{Array, Shape},
};

/// How many columns a histogram has; odd, so that one is around zero.
const COLUMNS: usize = 61;

/// What is known of an array.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statistics {
    /// Its name in checkpoints.
    pub array: &'static str,
    /// How many numbers it has.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation.
    pub deviation: f64,
    /// The least.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
    /// How far from zero they may go.
    pub limit: f64,
    /// The share that stands at the limit, as integers tell it.
    pub at_limit: f64,
    /// The share that is exactly zero.
    pub zero: f64,
    /// How many lie in each of the equal columns from −`reach` to `reach`.
    pub histogram: Vec<u64>,
    /// The greatest distance from zero.
    pub reach: f64,
}

impl Statistics {
    /// The statistics of an array of a net. Of none all are zero.
    #[must_use]
    pub fn of(array: Array, shape: &Shape, values: &[f32]) -> Self {
        let count = values.len();
        let numbers = || values.iter().map(|value| f64::from(*value));
        let share = |counted: usize| counted as f64 / count.max(1) as f64;
        let mean = numbers().sum::<f64>() / count.max(1) as f64;
        let variance = numbers().map(|number| (number - mean) * (number - mean)).sum::<f64>() / count.max(1) as f64;
        let limit = f64::from(array.limit(shape));
        let near = limit - 0.5 / export::one(array);
        let reach = numbers().fold(0.0, |most: f64, number| most.max(number.abs()));
        let mut histogram = vec![0; COLUMNS];
        for number in numbers().filter(|_| reach > 0.0) {
            let column = (f64::midpoint(number / reach, 1.0) * COLUMNS as f64) as usize;
            histogram[column.min(COLUMNS - 1)] += 1;
        }
        if reach == 0.0 {
            histogram[COLUMNS / 2] = count as u64;
        }
        Self {
            array: array.name(),
            count,
            mean,
            deviation: variance.sqrt(),
            least: if count == 0 { 0.0 } else { numbers().fold(f64::INFINITY, f64::min) },
            greatest: if count == 0 { 0.0 } else { numbers().fold(f64::NEG_INFINITY, f64::max) },
            limit,
            at_limit: share(numbers().filter(|number| number.abs() >= near).count()),
            zero: share(numbers().filter(|number| *number == 0.0).count()),
            histogram,
            reach,
        }
    }
}

#[cfg(test)]
mod tests {
    use nnue::architecture::Sizes;

    use super::*;
    use crate::model::LAYER_LIMIT;

    fn of(values: &[f32]) -> Statistics {
        let sizes = Sizes::new(128, 8, 8, 1).unwrap();
        let shape = Shape { sizes, factorised: false, fake_quantisation: false };
        Statistics::of(Array::First, &shape, values)
    }

    #[test]
    fn numbers_are_counted() {
        let found = of(&[0.0, -0.0, 1.0, -1.0, LAYER_LIMIT, -LAYER_LIMIT, LAYER_LIMIT - 0.02, 0.5]);
        assert_eq!((found.count, found.zero, found.at_limit), (8, 0.25, 0.25));
        let mean = (f64::from(LAYER_LIMIT) - 0.02 + 0.5) / 8.0;
        assert!((found.mean - mean).abs() < 1e-6);
        assert_eq!((found.least, found.greatest), (-f64::from(LAYER_LIMIT), f64::from(LAYER_LIMIT)));
        assert_eq!(found.histogram.iter().sum::<u64>(), 8);
        assert_eq!((found.histogram[0], found.histogram[COLUMNS / 2], found.histogram[COLUMNS - 1]), (1, 2, 2));
    }

    #[test]
    fn arrays_of_zeros_and_of_nothing_have_figures_too() {
        assert_eq!((of(&[0.0; 3]).deviation, of(&[0.0; 3]).histogram[COLUMNS / 2]), (0.0, 3));
        assert_eq!((of(&[]).mean, of(&[]).least, of(&[]).zero), (0.0, 0.0, 0.0));
    }
}
