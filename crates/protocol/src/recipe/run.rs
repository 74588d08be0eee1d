//! The small sections: quantisation, seeds, the start and the end of a run.

use std::ops::Bound;

use serde::Serialize;

use super::{RecipeError, RecipeFault, table::Table};

/// Quantisation-aware training: the net will run in integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Quantisation {
    /// The mode.
    pub mode: QuantisationMode,
}

/// The mode of quantisation-aware training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuantisationMode {
    /// Weights are clipped to the range of the integers.
    Clip,
    /// Fake quantisation: rounding is also simulated in training.
    Fake,
}

/// The seeds of all randomness; each below 2⁶³.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Seeds {
    /// The seed of a new net's weights.
    pub weights: u64,
    /// The seed of the data's order.
    pub order: u64,
}

/// The file of the net to start from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// The checkpoint of a run.
    Checkpoint(String),
    /// A net of the engine, whose numbers are rounded.
    Net(String),
}

/// The condition for abandoning a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stop {
    /// The ratio of an interval's training loss to the best so far at which the run is abandoned:
    /// above 1, at most 1,000,000.
    pub explosion: f64,
}

impl Default for Quantisation {
    fn default() -> Self {
        Self { mode: QuantisationMode::Fake }
    }
}

impl Default for Seeds {
    fn default() -> Self {
        Self { weights: 1, order: 2 }
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self { explosion: 4.0 }
    }
}

impl Quantisation {
    pub(super) fn read(table: &Table<'_>) -> Result<Self, RecipeError> {
        table.only(&["mode"])?;
        let modes = [("clip", QuantisationMode::Clip), ("fake", QuantisationMode::Fake)];
        Ok(Self { mode: table.word("mode", &modes)?.unwrap_or(Self::default().mode) })
    }
}

impl Seeds {
    pub(super) fn read(table: &Table<'_>) -> Result<Self, RecipeError> {
        table.only(&["weights", "order"])?;
        let default = Self::default();
        // The greatest integer of TOML.
        let seed = |key| table.whole(key, 0..=i64::MAX as u64);
        Ok(Self {
            weights: seed("weights")?.unwrap_or(default.weights),
            order: seed("order")?.unwrap_or(default.order),
        })
    }
}

impl Start {
    pub(super) fn read(table: &Table<'_>) -> Result<Self, RecipeError> {
        table.only(&["checkpoint", "net"])?;
        let file = |key| table.text(key, "the name of a file", |text| !text.is_empty());
        match (file("checkpoint")?, file("net")?) {
            (Some(checkpoint), None) => Ok(Self::Checkpoint(checkpoint)),
            (None, Some(net)) => Ok(Self::Net(net)),
            (None, None) => Err(table.missing("checkpoint")),
            (Some(_), Some(_)) => Err(table.error("net", RecipeFault::TwoStarts)),
        }
    }

    /// The path of the file.
    #[must_use]
    pub fn file(&self) -> &str {
        match self {
            Self::Checkpoint(file) | Self::Net(file) => file,
        }
    }

    /// The kind of file.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Checkpoint(_) => "checkpoint",
            Self::Net(_) => "net",
        }
    }
}

impl Stop {
    pub(super) fn read(table: &Table<'_>) -> Result<Self, RecipeError> {
        table.only(&["explosion"])?;
        let above_1 = (Bound::Excluded(1.0), Bound::Included(1_000_000.0));
        Ok(Self { explosion: table.number("explosion", above_1)?.unwrap_or(Self::default().explosion) })
    }
}
