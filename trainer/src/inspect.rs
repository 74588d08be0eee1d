//! Inspection of a net: its weights, its reachable neurons, and their activity on real positions.
//!
//! Weights are measured in floating point. Activity is measured on the integers, which engines
//! compute.

mod activity;
mod reach;
mod statistics;
mod subject;

use serde::Serialize;

pub use activity::{Activity, LayerActivity, Share};
pub use reach::Unreachable;
pub use statistics::Statistics;
pub use subject::{Kind, Subject, SubjectError};

use crate::{batch::Batch, model::Array};

/// The statistics of a net.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// The kind of file.
    pub kind: Kind,
    /// The layer sizes, in words.
    pub sizes: String,
    /// The training steps, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Statistics of each array.
    pub arrays: Vec<Statistics>,
    /// Neurons that no position can activate.
    pub unreachable: Unreachable,
    /// The activity on positions, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activity: Option<Activity>,
}

impl Inspection {
    /// Inspects a net, and its activity if there are positions.
    #[must_use]
    pub fn of(subject: &Subject, positions: Option<&Batch>) -> Self {
        let (shape, parameters) = (&subject.shape, &subject.parameters);
        let arrays = Array::ALL.into_iter().filter(|array| array.len(shape) > 0);
        Self {
            kind: subject.kind,
            sizes: shape.sizes.to_string(),
            steps: subject.steps,
            arrays: arrays.map(|array| Statistics::of(array, shape, &subject.values[array])).collect(),
            unreachable: Unreachable::of(parameters),
            activity: positions.map(|batch| Activity::of(parameters, batch)),
        }
    }
}
