//! The mean of a run's weights.

use serde::Serialize;

use super::{RecipeError, RecipeFault, Schedule, table::Table};

/// The mean of a run's weights, which is validated and exported in place of the last weights.
///
/// The mean of all so far is taken until they are as many as `1 / (1 - decay)`, then a moving one.
/// So `decay` 1 is the mean of all (SWA), any other a moving average (EMA).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Average {
    /// The part of the mean that stays: 0 to 1.
    pub decay: f64,
    /// The steps from one set of weights to the next: 1 to 1,000,000.
    pub interval_steps: u64,
    /// The first epoch whose weights count: 1 to 1,000,000.
    pub from_epoch: u32,
}

impl Average {
    pub(super) fn read(table: &Table<'_>) -> Result<Self, RecipeError> {
        table.only(&["decay", "interval_steps", "from_epoch"])?;
        Ok(Self {
            decay: table.number("decay", 0.0..=1.0)?.unwrap_or(0.99),
            interval_steps: table.whole("interval_steps", 1..=1_000_000)?.unwrap_or(10),
            from_epoch: table.whole("from_epoch", 1..=1_000_000)?.unwrap_or(1),
        })
    }

    /// Expects weights that count in the last stage.
    pub(super) fn check_length(&self, table: &Table<'_>, last: &Schedule) -> Result<(), RecipeError> {
        let Self { from_epoch, interval_steps, .. } = *self;
        let (epochs, steps) = (last.epochs, last.steps_per_epoch());
        if u64::from(from_epoch - 1) * steps + interval_steps <= last.steps() {
            return Ok(());
        }
        let key = if from_epoch > epochs { "from_epoch" } else { "interval_steps" };
        Err(table.error(key, RecipeFault::EmptyMean { from_epoch, interval_steps, epochs, steps }))
    }

    /// The part that a step's weights have in the mean; none if they do not count. Steps count from
    /// 1.
    #[must_use]
    pub fn share(&self, step: u64, steps_per_epoch: u64) -> Option<f64> {
        let before = u64::from(self.from_epoch - 1) * steps_per_epoch;
        let counted = step.checked_sub(before).filter(|step| step.is_multiple_of(self.interval_steps))?;
        let number = counted / self.interval_steps;
        (number > 0).then(|| (1.0 - self.decay).max(1.0 / number as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::Average;

    #[test]
    fn a_mean_of_all_becomes_a_moving_one() {
        let average = Average { decay: 0.75, interval_steps: 5, from_epoch: 3 };
        let shares: Vec<_> = (0..=50).filter_map(|step| average.share(step, 10)).collect();
        assert_eq!(shares, [1.0, 0.5, 1.0 / 3.0, 0.25, 0.25, 0.25]);
        let all = Average { decay: 1.0, ..average };
        assert_eq!(all.share(50, 10), Some(1.0 / 6.0));
    }
}
