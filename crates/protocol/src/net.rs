//! Net manifests: what made a net, as a text (JSON) that lies beside it.
//!
//! A net is numbers; its manifest says which games they come from, by which recipe, with which program and how well it
//! went: enough to make the net again and to judge whether it is worth it. It holds no time of day and no speed, so
//! that whoever repeats a run on the same kind of machine gets the same text.
//!
//! What has been read holds together: every key is known, and the recipe is one and is the one whose hash is given.
//!
//! ```
//! use protocol::net::{NetManifest, Sha256};
//!
//! let error = NetManifest::from_text("{\"format\":\"chuhe net manifest 2\"}").unwrap_err();
//! assert!(error.to_string().starts_with("not a net's manifest: unknown variant `chuhe net manifest 2`"));
//! assert!("0123".parse::<Sha256>().is_err());
//! ```

mod sha256;

use serde::{Deserialize, Serialize};

pub use sha256::{ParseSha256Error, Sha256};

use crate::recipe::{Inputs, Recipe, RecipeError};

/// What made a net.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetManifest {
    /// The form of this text.
    pub format: Format,
    /// What the recipe calls it.
    pub name: String,
    /// The SHA-256 of its file.
    pub net: Sha256,
    /// What it sees, and how wide its layers are.
    pub architecture: Architecture,
    /// The files that learning began with, by their SHA-256: none if it began from nothing.
    pub parents: Vec<Sha256>,
    /// What it learned from, in the recipe's order.
    pub data: Vec<Source>,
    /// How.
    pub recipe: RecipeText,
    /// What everything random was drawn from.
    pub seeds: Seeds,
    /// The programs that made it.
    pub versions: Versions,
    /// What these ran on when the net was written.
    pub hardware: Hardware,
    /// How many steps were made.
    pub steps: u64,
    /// How many positions were learned from, with repetitions.
    pub positions: u64,
    /// The score-to-result scale of the net's own scores, in hundredths of a pawn.
    pub scale: f32,
    /// The mean loss of the last stretch of steps, by the recipe's own loss; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub training_loss: Option<f64>,
    /// What became of the positions that it never learned from.
    pub validation: Validation,
    /// What rounding to integers cost.
    pub quantisation: Quantisation,
}

/// The form of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// The first.
    #[serde(rename = "chuhe net manifest 1")]
    One,
}

/// What a net sees, and how wide its layers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Architecture {
    /// What it sees of a position; said where it is more than the first nets saw.
    #[serde(default, skip_serializing_if = "Inputs::are_kings")]
    pub inputs: Inputs,
    /// The transformer's sums for each side.
    pub width: u32,
    /// The first layer's sums.
    pub first: u32,
    /// The second layer's sums.
    pub second: u32,
    /// Stacks of layers, chosen by material.
    pub stacks: u32,
}

/// Games that a net learned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The name of the training set: the SHA-256 of its manifest.
    pub manifest: Sha256,
    /// How many of its shards were read.
    pub shards: u64,
    /// Their positions.
    pub positions: u64,
    /// Of every so many blocks read as all weights together, so many were of this source.
    pub weight: u32,
}

/// A recipe with every value written out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeText {
    /// The SHA-256 of the text.
    pub sha256: Sha256,
    /// The text.
    pub text: String,
}

impl RecipeText {
    /// A recipe's text and its hash.
    #[must_use]
    pub fn of(recipe: &Recipe) -> Self {
        let text = recipe.to_text();
        Self { sha256: Sha256::of(text.as_bytes()), text }
    }
}

/// What random numbers were drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seeds {
    /// The weights of a new net.
    pub weights: u64,
    /// The order of the data.
    pub order: u64,
}

/// The programs that made a net.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Versions {
    /// The trainer's.
    pub chuhe: String,
    /// What computed, and its version where that is not the trainer's.
    pub backend: String,
}

/// What a program ran on, as far as it can matter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hardware {
    /// The instruction set.
    pub instruction_set: String,
    /// How many threads learned.
    pub threads: u32,
}

/// The loss of positions that were never learned from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Validation {
    /// The mean of their squared distances from the target.
    pub loss: f64,
    /// How many there are.
    pub positions: u64,
    /// When they were known best, of all ends of epochs so far; absent before the first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub best: Option<Best>,
}

/// The end of an epoch of the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Best {
    /// After how many steps.
    pub step: u64,
    /// What the loss of the held-out positions was there.
    pub loss: f64,
}

/// How far the integers are from the model on quiet positions, in hundredths of a pawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantisation {
    /// The mean distance.
    pub mean: f64,
    /// The greatest.
    pub most: f64,
    /// The mean of the differences with their signs.
    pub lean: f64,
    /// How many positions were compared.
    pub positions: u64,
}

/// Why a text is no net's manifest.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum NetManifestError {
    #[error("not a net's manifest: {0}")]
    Foreign(#[from] serde_json::Error),
    #[error("the recipe in it has the SHA-256 {found}; it says {said}")]
    OtherRecipe { found: Sha256, said: Sha256 },
    #[error("the recipe in it: {0}")]
    Recipe(#[from] RecipeError),
}

impl NetManifest {
    /// Reads a manifest's text.
    ///
    /// # Errors
    ///
    /// If it is none, has a key that manifests have not, or its recipe is none or another.
    pub fn from_text(text: &str) -> Result<Self, NetManifestError> {
        let manifest: Self = serde_json::from_str(text)?;
        let (said, found) = (manifest.recipe.sha256, Sha256::of(manifest.recipe.text.as_bytes()));
        if said != found {
            return Err(NetManifestError::OtherRecipe { found, said });
        }
        Recipe::from_text(&manifest.recipe.text)?;
        Ok(manifest)
    }

    /// Its text.
    ///
    /// # Panics
    ///
    /// Never: its keys are words.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("its keys are words");
        text.push('\n');
        text
    }
}
