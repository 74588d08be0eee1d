//! What trainers ask and are told.

use dataset::Digest;
use serde::{Deserialize, Serialize};

/// A trainer asks for a net to train: `POST` [`path::TRAININGS`](super::path::TRAININGS).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// What its owner calls it. Who comes again by the same name and token, while its training is leased to it, gets
    /// the same training.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What computes: `cpu`, `torch`, `cuda`.
    pub backend: String,
}

/// What a trainer is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "training", rename_all = "snake_case")]
pub enum Offer {
    /// A net to train.
    Train(Training),
    /// Nothing now.
    Wait {
        /// Ask again after so many seconds.
        seconds: u32,
        /// One sentence for people.
        reason: String,
    },
}

/// A net to train.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Training {
    /// By which it is named in later requests: a secret between the two.
    pub token: String,
    /// The campaign.
    pub campaign: String,
    /// Of which generation the candidate will be.
    pub generation: u32,
    /// The recipe's text. Its sources are the manifests below, by the names given there.
    pub recipe: String,
    /// The training sets, to be fetched with their shards.
    pub manifests: Vec<NamedManifest>,
    /// After so many seconds without [`Progress`] another trainer may be given it.
    pub seconds: u32,
}

/// A training set, and what the recipe calls it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedManifest {
    /// The name of its file in the recipe.
    pub name: String,
    /// Its own name.
    pub sha256: Digest,
}

/// How far a training is: `POST` [`path::progress`](super::path::progress).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// Steps made.
    pub step: u64,
    /// Steps to make.
    pub steps: u64,
    /// The loss of the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// The loss of what is held out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_loss: Option<f64>,
    /// Positions a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub positions_per_second: Option<f64>,
}

/// A candidate is there: its net ([`path::candidate`](super::path::candidate)) and, if any, its curves
/// ([`path::curves`](super::path::curves)) were put before. `POST` [`path::completion`](super::path::completion).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Completion {
    /// What made it: the text of a [`NetManifest`](crate::net::NetManifest).
    pub manifest: String,
}

/// What became of a candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// The net.
    pub net: Digest,
}

/// A training that cannot be done: `POST` [`path::abandonment`](super::path::abandonment).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Abandon {
    /// One sentence for people.
    pub reason: String,
    /// Whether another trainer, or the same later, may have more luck.
    pub again: bool,
}
