//! The messages of trainers.

use dataset::Digest;
use serde::{Deserialize, Serialize};

/// A trainer claims a net to train: `POST` [`path::TRAININGS`](super::path::TRAININGS).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The trainer's name. A retry with the same name and token, while the lease lasts, gets the
    /// same training.
    pub name: String,
    /// The trainer's version.
    pub version: String,
    /// The compute backend: `cpu`, `torch`, `cuda`.
    pub backend: String,
}

/// The response to a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "training", rename_all = "snake_case")]
pub enum Offer {
    /// A net to train.
    Train(Training),
    /// No training is available.
    Wait {
        /// The seconds to wait before the next claim.
        seconds: u32,
        /// One sentence for people.
        reason: String,
    },
}

/// A net to train.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Training {
    /// The secret that names the training in later requests.
    pub token: String,
    /// The campaign's name.
    pub campaign: String,
    /// The generation of the candidate.
    pub generation: u32,
    /// The recipe's text. Its sources are the manifests below, by their names.
    pub recipe: String,
    /// The training sets, to be downloaded with their shards.
    pub manifests: Vec<NamedManifest>,
    /// The lease's seconds: without [`Progress`] for so long, another trainer may get the training.
    pub seconds: u32,
}

/// A training set and its name in the recipe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedManifest {
    /// The name of its file in the recipe.
    pub name: String,
    /// The SHA-256 of the manifest, which names the training set.
    pub sha256: Digest,
}

/// The progress of a training: `POST` [`path::progress`](super::path::progress).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// The number of completed steps.
    pub step: u64,
    /// The number of all steps.
    pub steps: u64,
    /// The loss of the last step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// The last mean loss on held-out positions; none before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_loss: Option<f64>,
    /// The positions per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub positions_per_second: Option<f64>,
}

/// A completed training: its net ([`path::candidate`](super::path::candidate)) and curves, if any
/// ([`path::curves`](super::path::curves)), were uploaded before. `POST`
/// [`path::completion`](super::path::completion).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Completion {
    /// The text of the candidate's [`NetManifest`](crate::net::NetManifest).
    pub manifest: String,
}

/// The response to a completion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// The SHA-256 of the net's file.
    pub net: Digest,
}

/// A trainer abandons a training: `POST` [`path::abandonment`](super::path::abandonment).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Abandon {
    /// One sentence for people.
    pub reason: String,
    /// Whether a retry, by another trainer or later, may succeed.
    pub again: bool,
}
