//! What a run remembers beside its net.

use dataset::Digest;
use serde::{Deserialize, Serialize};

/// What a run remembers beside its net and its place in the data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// What learned.
    pub learner: String,
    /// The files that learning began with.
    pub parents: Vec<Digest>,
    /// What was learned since the last line of figures.
    pub stretch: Stretch,
    /// The least mean loss of any stretch.
    pub least_loss: Option<f64>,
    /// The end of an epoch at which the held-out positions were known best.
    pub best: Option<Best>,
}

/// Losses that are being summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// Their sum.
    pub loss: f64,
    /// Of so many positions.
    pub positions: u64,
}

impl Stretch {
    /// Their mean, if there is any.
    #[must_use]
    pub fn mean(self) -> Option<f64> {
        (self.positions > 0).then(|| self.loss / self.positions as f64)
    }
}

/// The end of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Best {
    /// After how many steps.
    pub step: u64,
    /// The loss of the held-out positions.
    pub loss: f64,
}
