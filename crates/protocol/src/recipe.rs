//! Recipes: how a net is to be trained, as a text (TOML) that a maintainer writes and a manifest keeps.
//!
//! A recipe that has been read can be run: every key is known, every value is in its range, no key is there without
//! effect, and what was left out has its default. Anything else is refused in one sentence that names the key and its
//! place, for a night of training with a misspelt key is a night lost.
//!
//! The text is read by hand ([`Recipe::from_text`]) and not by `serde`'s derivation, which knows neither the whole path of a
//! key nor, once a value is read, where it stood. For the same reason nothing here is `Deserialize`: there is one way
//! in, and it checks. [`Recipe::to_text`] writes every value with its default; reading that gives the same recipe.
//!
//! Which files are meant, and whether they exist, is asked by whoever runs the recipe. The keys, with their defaults
//! and ranges, are listed in `docs/FORMATS.md`.
//!
//! ```
//! use protocol::recipe::{Recipe, ScheduleKind};
//!
//! let text = r#"
//!     name = "first"
//!     [[data.sources]]
//!     manifest = "gen0.json"
//!     [schedule]
//!     epochs = 40
//!     positions_per_epoch = 1_000_000
//! "#;
//! let recipe = Recipe::from_text(text)?;
//! assert_eq!(recipe.architecture.width, 256);
//! assert_eq!(recipe.schedule.kind, ScheduleKind::Cosine { final_learning_rate: 1e-5 });
//! assert_eq!(recipe.schedule.steps(), 40 * 62);
//!
//! let error = Recipe::from_text(&text.replace("40", "0")).unwrap_err();
//! assert_eq!(error.to_string(), "line 6, column 14: `schedule.epochs` is 0; it must be a whole number from 1 to 1000000");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod architecture;
mod data;
mod error;
mod loss;
mod optimizer;
mod run;
mod schedule;
mod table;

use serde::Serialize;
use toml::de::DeTable;

pub use architecture::{Activation, Architecture, Head, Inputs};
pub use data::{Data, Filter, Source};
pub use error::{RecipeError, RecipeFault};
pub use loss::Loss;
pub use optimizer::{Optimizer, OptimizerKind};
pub use run::{Quantisation, QuantisationMode, Seeds, Start, Stop};
pub use schedule::{Schedule, ScheduleKind};

use table::Table;

use crate::name::is_name;

/// More positions than anyone has; the steps of the longest run can still be counted.
const MOST_POSITIONS: u64 = 1_000_000_000_000;

/// How a net is to be trained.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recipe {
    /// What the run and its files are called: 1 to 64 letters, digits, `.`, `_` or `-`, the first a letter or digit.
    pub name: String,
    /// What the net is.
    pub architecture: Architecture,
    /// What it learns from.
    pub data: Data,
    /// What counts as an error, and how much.
    pub loss: Loss,
    /// How a gradient becomes a step.
    pub optimizer: Optimizer,
    /// How many steps there are, and how long each is.
    pub schedule: Schedule,
    /// How training heeds that the net will run in integers.
    pub quantisation: Quantisation,
    /// What everything random is drawn from.
    pub seeds: Seeds,
    /// The net to go on from; a new one if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Start>,
    /// When to give a run up.
    pub stop: Stop,
}

impl Recipe {
    /// Reads a recipe's text.
    ///
    /// # Errors
    ///
    /// If it is no TOML, has a key that recipes have not or lacks one that they must have, or if a value is out of its
    /// range or contradicts another. The error tells the first such fault that was met.
    pub fn from_text(text: &str) -> Result<Self, RecipeError> {
        let entries = DeTable::parse(text).map_err(|error| RecipeError::of_parser(text, &error))?;
        let table = Table::root(text, entries.get_ref());
        table.only(&[
            "name",
            "architecture",
            "data",
            "loss",
            "optimizer",
            "schedule",
            "quantisation",
            "seeds",
            "start",
            "stop",
        ])?;
        Ok(Self {
            name: table
                .text(
                    "name",
                    "1 to 64 letters, digits, `.`, `_` or `-`, of which the first is a letter or digit",
                    is_name,
                )?
                .ok_or_else(|| table.missing("name"))?,
            architecture: Architecture::read(&table.section("architecture")?)?,
            data: Data::read(&table.section("data")?)?,
            loss: Loss::read(&table.section("loss")?)?,
            optimizer: Optimizer::read(&table.section("optimizer")?)?,
            schedule: Schedule::read(&table.section("schedule")?)?,
            quantisation: Quantisation::read(&table.section("quantisation")?)?,
            seeds: Seeds::read(&table.section("seeds")?)?,
            start: if table.has("start") { Some(Start::read(&table.section("start")?)?) } else { None },
            stop: Stop::read(&table.section("stop")?)?,
        })
    }

    /// The recipe's text with every value, given or not. Only what is off when it is left out (`data.filter.beyond` and
    /// the like) is left out.
    ///
    /// # Panics
    ///
    /// If a whole number, which [`Recipe::from_text`] would not have let in, is greater than TOML can say.
    #[must_use]
    pub fn to_text(&self) -> String {
        toml::to_string(self).expect("its keys are words and its numbers below 2⁶³")
    }
}
