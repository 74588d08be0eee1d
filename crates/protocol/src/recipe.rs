//! Recipes: the training of a net, as a text (TOML) that a maintainer writes and a manifest keeps.
//!
//! A parsed recipe can be run. Every key is known and has an effect, every value is in its range,
//! and missing keys have their defaults. Anything else is one sentence that names the key and its
//! place, because a night of training with a misspelt key is lost.
//!
//! The text is parsed by hand ([`Recipe::from_text`]). `serde`'s derivation knows neither the whole
//! path of a key nor, once a value is read, its place. So nothing here is `Deserialize`: the only
//! way in checks everything. [`Recipe::to_text`] writes every value with its default; parsing that
//! gives the same recipe.
//!
//! Files are resolved by the program that runs the recipe. The keys, with their defaults and
//! ranges, are listed in `docs/FORMATS.md`.
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
//! assert_eq!(
//!     error.to_string(),
//!     "line 6, column 14: `schedule.epochs` is 0; \
//!      it must be a whole number from 1 to 1000000"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod architecture;
mod average;
mod data;
mod error;
mod loss;
mod optimizer;
mod run;
mod schedule;
mod stages;
mod table;
pub mod variants;

use serde::Serialize;
use toml::de::DeTable;

pub use architecture::{Activation, Architecture, ForeignEngine, Head, Inputs};
pub use average::Average;
pub use data::{Data, Filter, Share, Source};
pub use error::{RecipeError, RecipeFault};
pub use loss::Loss;
pub use optimizer::{Optimizer, OptimizerKind};
pub use run::{Quantisation, QuantisationMode, Seeds, Start, Stop};
pub use schedule::{Schedule, ScheduleKind};
pub use stages::{Stage, StagePlace};

use table::Table;

use crate::name::is_name;

/// More positions than exist; the steps of the longest run can still be counted.
const MAX_POSITIONS: u64 = 1_000_000_000_000;

/// The training of a net.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recipe {
    /// The name of the run and its files: 1 to 64 letters, digits, `.`, `_` or `-`, the first a
    /// letter or digit.
    pub name: String,
    /// The architecture of the net.
    pub architecture: Architecture,
    /// The training data.
    pub data: Data,
    /// The loss function.
    pub loss: Loss,
    /// The optimizer.
    pub optimizer: Optimizer,
    /// The length of the run, and the learning rate.
    pub schedule: Schedule,
    /// The mean of the weights; none if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average: Option<Average>,
    /// Quantisation-aware training.
    pub quantisation: Quantisation,
    /// The seeds of all randomness.
    pub seeds: Seeds,
    /// The net to start from; a new one if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Start>,
    /// The condition for abandoning a run.
    pub stop: Stop,
    /// The stages after the first one, which the sections above describe.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
}

impl Recipe {
    /// Parses a recipe's text.
    ///
    /// # Errors
    ///
    /// If it is not TOML, a key is unknown or missing, or a value is out of its range or
    /// contradicts another. The error is the first such fault.
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
            "average",
            "quantisation",
            "seeds",
            "start",
            "stop",
            "stages",
        ])?;
        let mut recipe = Self {
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
            average: if table.has("average") { Some(Average::read(&table.section("average")?)?) } else { None },
            quantisation: Quantisation::read(&table.section("quantisation")?)?,
            seeds: Seeds::read(&table.section("seeds")?)?,
            start: if table.has("start") { Some(Start::read(&table.section("start")?)?) } else { None },
            stop: Stop::read(&table.section("stop")?)?,
            stages: Vec::new(),
        };
        recipe.stages = Stage::read_all(&table, &recipe)?;
        if let Some(average) = &recipe.average {
            let last = recipe.stages.last().map_or(&recipe.schedule, |stage| &stage.schedule);
            average.check_length(&table.section("average")?, last)?;
        }
        Ok(recipe)
    }

    /// Writes the text with every value. Only options that are off by default (`data.filter.beyond`
    /// and similar) are omitted when off.
    ///
    /// # Panics
    ///
    /// If an integer is too large for TOML; [`Recipe::from_text`] accepts none such.
    #[must_use]
    pub fn to_text(&self) -> String {
        toml::to_string(self).expect("its keys are words and its numbers below 2⁶³")
    }
}
