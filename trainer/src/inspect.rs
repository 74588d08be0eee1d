//! What a net looks like from within: its weights, what of it can work at all, and what works on real positions.
//!
//! Weights are measured as the model has them; whether a neuron is on is asked of the integers, for theirs is what an
//! engine computes.

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

/// Everything that is found out about a net.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// What was looked into.
    pub kind: Kind,
    /// The sizes of the net, in words.
    pub sizes: String,
    /// The steps that were made, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// The numbers of each array.
    pub arrays: Vec<Statistics>,
    /// Neurons that no position can turn on.
    pub unreachable: Unreachable,
    /// What happens on positions, where there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activity: Option<Activity>,
}

impl Inspection {
    /// Looks into a net; at work on positions if there are any.
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
