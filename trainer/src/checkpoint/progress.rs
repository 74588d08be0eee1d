//! The part of a run's state that is neither net nor data position.

use dataset::Digest;
use serde::{Deserialize, Serialize};

/// The part of a run's state that is neither net nor data position.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// The backend's name.
    #[serde(rename = "learner")]
    pub backend: String,
    /// The checkpoints that the run started from.
    pub parents: Vec<Digest>,
    /// Losses since the last line of metrics.
    #[serde(rename = "stretch")]
    pub loss_sum: LossSum,
    /// The least mean loss of any line of metrics.
    #[serde(rename = "least_loss")]
    pub min_loss: Option<f64>,
    /// The epoch with the least held-out loss.
    pub best: Option<Best>,
}

/// A running sum of losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossSum {
    /// The sum of the losses of the positions.
    pub loss: f64,
    /// The number of positions.
    pub positions: u64,
}

impl LossSum {
    /// The mean loss, if there are positions.
    #[must_use]
    pub fn mean(self) -> Option<f64> {
        (self.positions > 0).then(|| self.loss / self.positions as f64)
    }
}

/// The best epoch so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Best {
    /// The step at the end of the epoch.
    pub step: u64,
    /// The mean loss on the held-out positions.
    pub loss: f64,
}
