//! Net manifests: the provenance of a net, as a text (JSON) beside it.
//!
//! A manifest names a net's games, recipe and programs, and the quality of the training. That is
//! enough to reproduce the net and to judge whether that is worth it. It holds no date and no
//! speed, so that a repeated run on the same kind of machine gives the same text.
//!
//! A parsed manifest is consistent: every key is known, and the recipe is valid and has the stated
//! hash.
//!
//! ```
//! use protocol::net::{NetManifest, Sha256};
//!
//! let error = NetManifest::from_text("{\"format\":\"chuhe net manifest 2\"}").unwrap_err();
//! let expected = "not a net's manifest: unknown variant `chuhe net manifest 2`";
//! assert!(error.to_string().starts_with(expected));
//! assert!("0123".parse::<Sha256>().is_err());
//! ```

mod sha256;

use serde::{Deserialize, Serialize};

pub use sha256::{ParseSha256Error, Sha256};

use crate::recipe::{Activation, Inputs, Recipe, RecipeError};

/// The manifest of a net.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetManifest {
    /// The format of this text.
    pub format: Format,
    /// The name in the recipe.
    pub name: String,
    /// The SHA-256 of its file.
    pub net: Sha256,
    /// The input features and the layer sizes.
    pub architecture: Architecture,
    /// The files that training started from, by their SHA-256; none for a new net.
    pub parents: Vec<Sha256>,
    /// The training sets, in the recipe's order.
    pub data: Vec<Source>,
    /// The text of the recipe, with its hash.
    pub recipe: RecipeText,
    /// The seeds of all randomness.
    pub seeds: Seeds,
    /// The programs that trained it.
    pub versions: Versions,
    /// The hardware at the time of writing.
    pub hardware: Hardware,
    /// The number of training steps.
    pub steps: u64,
    /// The number of positions learned from, with repetitions.
    pub positions: u64,
    /// The score-to-result scale of the net's own scores, in hundredths of a pawn.
    pub scale: f32,
    /// The mean of the recipe's loss over the last interval of steps; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub training_loss: Option<f64>,
    /// The loss on held-out positions.
    pub validation: Validation,
    /// The error of quantisation.
    pub quantisation: Quantisation,
}

/// The format of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// Version 1.
    #[serde(rename = "chuhe net manifest 1")]
    One,
}

/// The architecture of a net.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Architecture {
    /// The input features; omitted for those of the first nets.
    #[serde(default, skip_serializing_if = "Inputs::are_kings")]
    pub inputs: Inputs,
    /// The width of the feature transformer, per side.
    pub width: u32,
    /// The width of the first layer.
    pub first: u32,
    /// The width of the second layer.
    pub second: u32,
    /// The number of layer stacks, selected by material.
    pub stacks: u32,
    /// The activation after the transformer; omitted for nets of the engine.
    #[serde(default, skip_serializing_if = "Activation::is_own")]
    pub activation: Activation,
}

/// A training set that a net learned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The name of the training set: the SHA-256 of its manifest.
    pub manifest: Sha256,
    /// The number of its shards that were read.
    pub shards: u64,
    /// The number of their positions.
    pub positions: u64,
    /// The weight: this source's share of the blocks, relative to the sum of all weights.
    pub weight: u32,
}

/// A recipe with every value written out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeText {
    /// The SHA-256 of the text.
    pub sha256: Sha256,
    /// The recipe (TOML) with every value written out.
    pub text: String,
}

impl RecipeText {
    /// Writes a recipe's text and hashes it.
    #[must_use]
    pub fn of(recipe: &Recipe) -> Self {
        let text = recipe.to_text();
        Self { sha256: Sha256::of(text.as_bytes()), text }
    }
}

/// The seeds of a training run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seeds {
    /// The seed of the initial weights.
    pub weights: u64,
    /// The seed of the data's order.
    pub order: u64,
}

/// The programs that trained a net.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Versions {
    /// The trainer's version.
    pub chuhe: String,
    /// The compute backend, with its version where that is not the trainer's.
    pub backend: String,
}

/// The hardware of a training run, as far as it can affect the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hardware {
    /// The instruction set.
    pub instruction_set: String,
    /// The number of training threads.
    pub threads: u32,
}

/// The loss on held-out positions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Validation {
    /// The mean squared error.
    pub loss: f64,
    /// The number of positions.
    pub positions: u64,
    /// The best validation loss at the end of an epoch so far; absent before the first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub best: Option<Best>,
}

/// The validation loss at the end of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Best {
    /// The step at the end of the epoch.
    pub step: u64,
    /// The validation loss at that step.
    pub loss: f64,
}

/// The difference between the integer net and the model on quiet positions, in hundredths of a
/// pawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantisation {
    /// The mean absolute difference.
    pub mean: f64,
    /// The maximum absolute difference.
    pub most: f64,
    /// The mean signed difference.
    pub lean: f64,
    /// The number of positions compared.
    pub positions: u64,
}

/// The reason why a text is not a net manifest.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum NetManifestError {
    #[error("not a net's manifest: {0}")]
    Foreign(#[from] serde_json::Error),
    #[error("the recipe in it has the SHA-256 {found}; it says {stated}")]
    OtherRecipe { found: Sha256, stated: Sha256 },
    #[error("the recipe in it: {0}")]
    Recipe(#[from] RecipeError),
}

impl NetManifest {
    /// Parses a manifest's text.
    ///
    /// # Errors
    ///
    /// If it is not a manifest, a key is unknown, or its recipe is invalid or has another hash.
    pub fn from_text(text: &str) -> Result<Self, NetManifestError> {
        let manifest: Self = serde_json::from_str(text)?;
        let (stated, found) = (manifest.recipe.sha256, Sha256::of(manifest.recipe.text.as_bytes()));
        if stated != found {
            return Err(NetManifestError::OtherRecipe { found, stated });
        }
        Recipe::from_text(&manifest.recipe.text)?;
        Ok(manifest)
    }

    /// Writes the text.
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
