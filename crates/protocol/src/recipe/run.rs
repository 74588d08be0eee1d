//! The small sections: integers, seeds, where a run starts and when it is given up.

use std::ops::Bound;

use serde::Serialize;

use super::{RecipeError, table::Table};

/// How training heeds that the net will run in integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Quantisation {
    /// How.
    pub mode: QuantisationMode,
}

/// How training heeds that the net will run in integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuantisationMode {
    /// Weights are kept within what the integers hold.
    Clip,
    /// Rounding is also simulated while training.
    Fake,
}

/// What everything random is drawn from; each below 2⁶³.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Seeds {
    /// What a new net's weights are drawn from.
    pub weights: u64,
    /// What the order of the data is drawn from.
    pub order: u64,
}

/// The net to go on from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Start {
    /// The file of its checkpoint.
    pub checkpoint: String,
}

/// When to give a run up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stop {
    /// When the training loss of a stretch is so many times the best seen: above 1, at most 1,000,000.
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
        // TOML has no greater numbers.
        let seed = |key| table.whole(key, 0..=i64::MAX as u64);
        Ok(Self {
            weights: seed("weights")?.unwrap_or(default.weights),
            order: seed("order")?.unwrap_or(default.order),
        })
    }
}

impl Start {
    pub(super) fn read(table: &Table<'_>) -> Result<Self, RecipeError> {
        table.only(&["checkpoint"])?;
        let checkpoint = table.text("checkpoint", "the name of a file", |text| !text.is_empty())?;
        Ok(Self { checkpoint: checkpoint.ok_or_else(|| table.missing("checkpoint"))? })
    }
}

impl Stop {
    pub(super) fn read(table: &Table<'_>) -> Result<Self, RecipeError> {
        table.only(&["explosion"])?;
        let above_1 = (Bound::Excluded(1.0), Bound::Included(1_000_000.0));
        Ok(Self { explosion: table.number("explosion", above_1)?.unwrap_or(Self::default().explosion) })
    }
}
