//! Statistics of an array's numbers.

use serde::Serialize;

use crate::model::{Array, Shape};

/// Bins of a histogram; odd, so that one is centred on zero.
const BINS: usize = 61;

/// The statistics of an array.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statistics {
    /// The array's name in checkpoints.
    pub array: &'static str,
    /// The number of elements.
    pub count: usize,
    /// The mean of the elements.
    pub mean: f64,
    /// The standard deviation of the elements.
    pub deviation: f64,
    /// The minimum of the elements.
    pub least: f64,
    /// The maximum of the elements.
    pub greatest: f64,
    /// The magnitude at which training clips the elements.
    pub limit: f64,
    /// The share at the clipping bound, after rounding.
    pub at_limit: f64,
    /// The share that is exactly zero.
    pub zero: f64,
    /// The histogram: equal bins from −`reach` to `reach`.
    pub histogram: Vec<u64>,
    /// The greatest distance from zero.
    pub reach: f64,
}

impl Statistics {
    /// Computes the statistics of an array; all zero for an empty one.
    #[must_use]
    pub fn of(array: Array, shape: &Shape, values: &[f32]) -> Self {
        let count = values.len();
        let numbers = || values.iter().map(|value| f64::from(*value));
        let share = |counted: usize| counted as f64 / count.max(1) as f64;
        let mean = numbers().sum::<f64>() / count.max(1) as f64;
        let variance = numbers().map(|number| (number - mean) * (number - mean)).sum::<f64>() / count.max(1) as f64;
        let limit = f64::from(array.limit(shape));
        let near = limit - 0.5 / shape.scale(array);
        let reach = numbers().fold(0.0, |most: f64, number| most.max(number.abs()));
        let mut histogram = vec![0; BINS];
        for number in numbers().filter(|_| reach > 0.0) {
            let column = (f64::midpoint(number / reach, 1.0) * BINS as f64) as usize;
            histogram[column.min(BINS - 1)] += 1;
        }
        if reach == 0.0 {
            histogram[BINS / 2] = count as u64;
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
        Statistics::of(Array::First, &Shape::new(sizes), values)
    }

    #[test]
    fn numbers_are_counted() {
        let found = of(&[0.0, -0.0, 1.0, -1.0, LAYER_LIMIT, -LAYER_LIMIT, LAYER_LIMIT - 0.02, 0.5]);
        assert_eq!((found.count, found.zero, found.at_limit), (8, 0.25, 0.25));
        let mean = (f64::from(LAYER_LIMIT) - 0.02 + 0.5) / 8.0;
        assert!((found.mean - mean).abs() < 1e-6);
        assert_eq!((found.least, found.greatest), (-f64::from(LAYER_LIMIT), f64::from(LAYER_LIMIT)));
        assert_eq!(found.histogram.iter().sum::<u64>(), 8);
        assert_eq!((found.histogram[0], found.histogram[BINS / 2], found.histogram[BINS - 1]), (1, 2, 2));
    }

    #[test]
    fn arrays_of_zeros_and_of_nothing_have_figures_too() {
        assert_eq!((of(&[0.0; 3]).deviation, of(&[0.0; 3]).histogram[BINS / 2]), (0.0, 3));
        assert_eq!((of(&[]).mean, of(&[]).least, of(&[]).zero), (0.0, 0.0, 0.0));
    }
}
