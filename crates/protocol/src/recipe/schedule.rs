//! The length of the run, and the learning rate.

use serde::Serialize;

use super::{
    MAX_POSITIONS, RecipeError, RecipeFault,
    table::{ABOVE_0_TO_1, Table},
};

/// The length of the run, and the learning rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Schedule {
    /// The batch size: 1 to 1,048,576.
    pub batch: u32,
    /// The number of epochs: 1 to 1,000,000.
    pub epochs: u32,
    /// The positions of an epoch, rounded up to whole steps.
    pub positions_per_epoch: u64,
    /// The peak learning rate: above 0, at most 1.
    pub learning_rate: f64,
    /// The learning-rate schedule, with its own parameters.
    #[serde(flatten)]
    pub kind: ScheduleKind,
    /// The number of warm-up steps, over which the learning rate rises; at most all steps.
    pub warm_up_steps: u64,
}

/// A learning-rate schedule, with its own parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ScheduleKind {
    /// A constant rate.
    Constant,
    /// Cosine annealing over the whole run.
    Cosine {
        /// The final learning rate: from 0, at most the learning rate.
        final_learning_rate: f64,
    },
    /// Step decay, every `decay_epochs` epochs.
    Step {
        /// The factor: above 0, below 1.
        decay: f64,
        /// The interval in epochs: 1 to 1,000,000.
        decay_epochs: u32,
    },
    /// One cycle: rises and then falls, once over the whole run.
    OneCycle {
        /// The final learning rate: from 0, at most the learning rate.
        final_learning_rate: f64,
    },
}

const FINAL_LEARNING_RATE: f64 = 1e-5;
const DECAY: f64 = 0.1;

impl Schedule {
    /// The number of steps in an epoch.
    #[must_use]
    pub const fn steps_per_epoch(&self) -> u64 {
        self.positions_per_epoch.div_ceil(self.batch as u64)
    }

    /// The number of steps in the run.
    #[must_use]
    pub const fn steps(&self) -> u64 {
        self.steps_per_epoch() * self.epochs as u64
    }

    pub(super) fn read(table: &Table<'_>) -> Result<Self, RecipeError> {
        table.only(&[
            "batch",
            "epochs",
            "positions_per_epoch",
            "kind",
            "learning_rate",
            "final_learning_rate",
            "decay",
            "decay_epochs",
            "warm_up_steps",
        ])?;
        let positions_per_epoch = table.whole("positions_per_epoch", 1..=MAX_POSITIONS)?;
        let learning_rate = table.number("learning_rate", ABOVE_0_TO_1)?.unwrap_or(1e-3);
        let schedule = Self {
            batch: table.whole("batch", 1..=1_048_576)?.unwrap_or(16_384),
            epochs: table.whole("epochs", 1..=1_000_000)?.ok_or_else(|| table.missing("epochs"))?,
            positions_per_epoch: positions_per_epoch.ok_or_else(|| table.missing("positions_per_epoch"))?,
            kind: ScheduleKind::read(table, learning_rate)?,
            learning_rate,
            warm_up_steps: table.whole("warm_up_steps", 0..=i64::MAX as u64)?.unwrap_or(0),
        };
        let (warm_up, steps) = (schedule.warm_up_steps, schedule.steps());
        if warm_up > steps {
            let fault = RecipeFault::WarmUp { key: table.path_of(&"warm_up_steps"), warm_up, steps };
            return Err(table.error("warm_up_steps", fault));
        }
        Ok(schedule)
    }
}

impl ScheduleKind {
    /// The name in a recipe.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Cosine { .. } => "cosine",
            Self::Step { .. } => "step",
            Self::OneCycle { .. } => "one-cycle",
        }
    }

    fn read(table: &Table<'_>, learning_rate: f64) -> Result<Self, RecipeError> {
        let cosine = Self::Cosine { final_learning_rate: FINAL_LEARNING_RATE };
        let one_cycle = Self::OneCycle { final_learning_rate: FINAL_LEARNING_RATE };
        let step = Self::Step { decay: DECAY, decay_epochs: 1 };
        let kinds = [Self::Constant, cosine, step, one_cycle].map(|kind| (kind.name(), kind));
        let kind = table.word("kind", &kinds)?.unwrap_or(cosine);

        if !matches!(kind, Self::Cosine { .. } | Self::OneCycle { .. }) {
            table.only_with("final_learning_rate", "kind", &["cosine", "one-cycle"], kind.name())?;
        }
        if !matches!(kind, Self::Step { .. }) {
            table.only_with("decay", "kind", &["step"], kind.name())?;
            table.only_with("decay_epochs", "kind", &["step"], kind.name())?;
        }
        Ok(match kind {
            Self::Constant => kind,
            Self::Cosine { .. } => Self::Cosine { final_learning_rate: final_learning_rate(table, learning_rate)? },
            Self::OneCycle { .. } => Self::OneCycle { final_learning_rate: final_learning_rate(table, learning_rate)? },
            Self::Step { decay, .. } => {
                let open = (std::ops::Bound::Excluded(0.0), std::ops::Bound::Excluded(1.0));
                let decay_epochs = table.whole("decay_epochs", 1..=1_000_000)?;
                Self::Step {
                    decay: table.number("decay", open)?.unwrap_or(decay),
                    decay_epochs: decay_epochs.ok_or_else(|| {
                        let what = format!("`{}` \"step\"", table.path_of(&"kind"));
                        table.error("kind", RecipeFault::Needs { what, needed: table.path_of(&"decay_epochs") })
                    })?,
                }
            }
        })
    }
}

fn final_learning_rate(table: &Table<'_>, learning_rate: f64) -> Result<f64, RecipeError> {
    let (key, end_key) = ("learning_rate", "final_learning_rate");
    let end = table.number(end_key, 0.0..=1.0)?;
    let (given, end) = (end.is_some(), end.unwrap_or(FINAL_LEARNING_RATE));
    if end > learning_rate {
        let (start, end) = (learning_rate.to_string(), end.to_string());
        let fault =
            RecipeFault::LearningRate { key: table.path_of(&key), start, end_key: table.path_of(&end_key), end, given };
        return Err(table.error(if given { end_key } else { key }, fault));
    }
    Ok(end)
}
