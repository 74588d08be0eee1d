//! The optimizer.

use std::ops::RangeInclusive;

use serde::Serialize;

use super::{
    RecipeError,
    table::{ABOVE_0_TO_1, Table},
};

/// The range of the decay rates: the upper bound is the largest that is below 1 in 32 bits too.
const DECAY_RATES: RangeInclusive<f64> = 0.0..=0.999_999_9;

/// The optimizer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Optimizer {
    /// The method, with its own parameters.
    #[serde(flatten)]
    pub kind: OptimizerKind,
    /// The decay rate of the mean gradient: from 0 to 0.9999999. Closer to 1, it rounds to 1 in 32
    /// bits, and nothing is learned.
    pub beta1: f64,
    /// The decay rate of the mean squared gradient: from 0 to 0.9999999.
    pub beta2: f64,
    /// The term added to the root of that mean, against division by zero: 1e-12 to 1. Much smaller
    /// values are zero in 32 bits.
    pub epsilon: f64,
    /// The weight decay per step, scaled by the learning rate: 0 to 1.
    pub weight_decay: f64,
}

/// A method, with its own parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum OptimizerKind {
    /// `AdamW`: Adam with decoupled weight decay.
    AdamW,
    /// `RAdam`: `AdamW` with rectified variance, careful in the first steps.
    RAdam,
    /// `Ranger`: `RAdam` with lookahead, where slow weights follow the fast ones.
    Ranger {
        /// The steps between updates of the slow weights: 1 to 1,000.
        lookahead_steps: u32,
        /// The share of the distance that they move: above 0, at most 1.
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

    /// The name in a recipe.
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
            beta1: table.number("beta1", DECAY_RATES)?.unwrap_or(default.beta1),
            beta2: table.number("beta2", DECAY_RATES)?.unwrap_or(default.beta2),
            epsilon: table.number("epsilon", 1e-12..=1.0)?.unwrap_or(default.epsilon),
            weight_decay: table.number("weight_decay", 0.0..=1.0)?.unwrap_or(default.weight_decay),
        })
    }
}
