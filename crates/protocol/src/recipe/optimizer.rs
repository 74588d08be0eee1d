//! How a gradient becomes a step.

use std::ops::RangeInclusive;

use serde::Serialize;

use super::{
    RecipeError,
    table::{ABOVE_0_TO_1, Table},
};

/// What part of a mean may be kept at each step: the greatest is the last that is below 1 in 32 bits too.
const KEPT: RangeInclusive<f64> = 0.0..=0.999_999_9;

/// How a gradient becomes a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Optimizer {
    /// The method, with what only it has.
    #[serde(flatten)]
    pub kind: OptimizerKind,
    /// How much of the mean of the gradients is kept at each step: from 0 to 0.9999999. Closer to 1 a float of 32 bits
    /// would keep all of it, and learn nothing.
    pub beta1: f64,
    /// How much of the mean of their squares is kept at each step: from 0 to 0.9999999.
    pub beta2: f64,
    /// What is added to the root of that mean, so that nothing is divided by zero: 1e-30 (what a float of 32 bits
    /// holds) to 1.
    pub epsilon: f64,
    /// What a weight loses at each step, as a part of itself, times the learning rate: 0 to 1.
    pub weight_decay: f64,
}

/// A method, with what only it has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum OptimizerKind {
    /// Adam with weight decay apart from the gradient.
    AdamW,
    /// The same, careful in the first steps, while little is known of the squares.
    RAdam,
    /// `RAdam` with lookahead: slow weights follow the fast ones.
    Ranger {
        /// After how many steps the slow weights follow: 1 to 1,000.
        lookahead_steps: u32,
        /// What part of the way they go: above 0, at most 1.
        lookahead_blend: f64,
    },
}

impl Default for Optimizer {
    fn default() -> Self {
        Self { kind: OptimizerKind::AdamW, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.01 }
    }
}

impl OptimizerKind {
    /// `Ranger` with its defaults.
    pub const RANGER: Self = Self::Ranger { lookahead_steps: 6, lookahead_blend: 0.5 };

    /// Its word in a recipe.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::AdamW => "adamw",
            Self::RAdam => "radam",
            Self::Ranger { .. } => "ranger",
        }
    }

    fn read(table: &Table<'_>) -> Result<Self, RecipeError> {
        let kinds = [Self::AdamW, Self::RAdam, Self::RANGER].map(|kind| (kind.name(), kind));
        let kind = table.word("kind", &kinds)?.unwrap_or(Self::AdamW);
        Ok(match kind {
            Self::AdamW | Self::RAdam => {
                table.only_with("lookahead_steps", "kind", &["ranger"], kind.name())?;
                table.only_with("lookahead_blend", "kind", &["ranger"], kind.name())?;
                kind
            }
            Self::Ranger { lookahead_steps, lookahead_blend } => Self::Ranger {
                lookahead_steps: table.whole("lookahead_steps", 1..=1_000)?.unwrap_or(lookahead_steps),
                lookahead_blend: table.number("lookahead_blend", ABOVE_0_TO_1)?.unwrap_or(lookahead_blend),
            },
        })
    }
}

impl Optimizer {
    pub(super) fn read(table: &Table<'_>) -> Result<Self, RecipeError> {
        table.only(&["kind", "beta1", "beta2", "epsilon", "weight_decay", "lookahead_steps", "lookahead_blend"])?;
        let default = Self::default();
        Ok(Self {
            kind: OptimizerKind::read(table)?,
            beta1: table.number("beta1", KEPT)?.unwrap_or(default.beta1),
            beta2: table.number("beta2", KEPT)?.unwrap_or(default.beta2),
            epsilon: table.number("epsilon", 1e-30..=1.0)?.unwrap_or(default.epsilon),
            weight_decay: table.number("weight_decay", 0.0..=1.0)?.unwrap_or(default.weight_decay),
        })
    }
}
