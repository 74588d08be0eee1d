//! The stages of a run.

use serde::Serialize;

use super::{Data, Loss, Recipe, RecipeError, RecipeFault, Schedule, table::Table};

/// A stage after the first one, which the rest of the recipe describes.
///
/// It begins with the weights and the optimizer's state of the stage before. What it does not name
/// is as in the first stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stage {
    /// The training data. One in as many games is held out in all stages.
    pub data: Data,
    /// The loss function. All stages have the net's scores on one scale.
    pub loss: Loss,
    /// The length of the stage, and the learning rate.
    pub schedule: Schedule,
}

/// The place of a step among the stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StagePlace {
    /// The number of the stage, from 0.
    pub stage: usize,
    /// Steps of this stage before.
    pub step: u64,
    /// Epochs of the earlier stages.
    pub epochs_before: u64,
}

impl Stage {
    pub(super) fn read_all(root: &Table<'_>, first: &Recipe) -> Result<Vec<Self>, RecipeError> {
        if !root.has("stages") {
            return Ok(Vec::new());
        }
        root.sections("stages")?.iter().map(|table| Self::read(&table.over(root), first)).collect()
    }

    fn read(table: &Table<'_>, first: &Recipe) -> Result<Self, RecipeError> {
        table.only(&["data", "loss", "schedule"])?;
        let (data, loss) = (table.section("data")?, table.section("loss")?);
        let stage = Self {
            data: Data::read(&data)?,
            loss: Loss::read(&loss)?,
            schedule: Schedule::read(&table.section("schedule")?)?,
        };
        let other = |table: &Table<'_>, key: &str, found: String| {
            let allowed = "as in the first stage".to_owned();
            Err(table.error(key, RecipeFault::Value { key: table.path_of(&key), found, allowed }))
        };
        if stage.data.validation_one_in != first.data.validation_one_in {
            return other(&data, "validation_one_in", stage.data.validation_one_in.to_string());
        }
        match stage.loss.output_scale {
            Some(scale) if stage.loss.output_scale != first.loss.output_scale => {
                other(&loss, "output_scale", scale.to_string())
            }
            _ => Ok(stage),
        }
    }
}

impl Recipe {
    /// A stage, counted from 0, as a recipe of its own. Its data have an order of their own.
    ///
    /// # Panics
    ///
    /// If there is no such stage.
    #[must_use]
    pub fn stage(&self, number: usize) -> Self {
        let mut recipe = Self { stages: Vec::new(), ..self.clone() };
        if let Some(before) = number.checked_sub(1) {
            let Stage { data, loss, schedule } = self.stages[before].clone();
            recipe = Self { data, loss, schedule, ..recipe };
            recipe.seeds.order += number as u64;
        }
        recipe
    }

    /// The steps of all stages.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.schedules().map(Schedule::steps).sum()
    }

    /// The positions trained on after so many steps, with repetitions.
    #[must_use]
    pub fn positions(&self, steps: u64) -> u64 {
        let mut left = steps;
        let of_stage = |schedule: &Schedule| {
            let steps = left.min(schedule.steps());
            left -= steps;
            steps * u64::from(schedule.batch)
        };
        self.schedules().map(of_stage).sum()
    }

    /// The place of a step, counted from 0.
    #[must_use]
    pub fn place(&self, step: u64) -> StagePlace {
        let mut place = StagePlace { stage: 0, step, epochs_before: 0 };
        for schedule in self.schedules().take(self.stages.len()) {
            let Some(left) = place.step.checked_sub(schedule.steps()) else { break };
            let epochs_before = place.epochs_before + u64::from(schedule.epochs);
            place = StagePlace { stage: place.stage + 1, step: left, epochs_before };
        }
        place
    }

    fn schedules(&self) -> impl Iterator<Item = &Schedule> {
        std::iter::once(&self.schedule).chain(self.stages.iter().map(|stage| &stage.schedule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name = \"a\"\n[data]\npool_blocks = 7\n[[data.sources]]\nmanifest = \"gen0.json\"\n\
                        [loss]\nlambda_start = 1\nlambda_end = 0.9\n\
                        [schedule]\nbatch = 100\nepochs = 2\npositions_per_epoch = 1_000\nlearning_rate = 0.01\n\
                        [[stages]]\nloss.lambda_start = 0.5\nschedule.epochs = 1\n\
                        [[stages]]\n[stages.schedule]\nbatch = 50\nkind = \"constant\"\n\
                        [stages.data]\npool_blocks = 3\nsources = [{ manifest = \"gen1.json\" }]\n";

    #[test]
    fn a_stage_has_the_values_of_the_first_one_and_its_own() {
        let recipe = Recipe::from_text(TEXT).unwrap();
        let [first, second, third] = [0, 1, 2].map(|number| recipe.stage(number));
        assert_eq!((first.loss.lambda_start, second.loss.lambda_start, third.loss.lambda_start), (1.0, 0.5, 1.0));
        assert_eq!(second.loss.lambda_end.to_string(), "0.9");
        assert_eq!((second.schedule.epochs, second.schedule.batch), (1, 100));
        assert_eq!((third.schedule.epochs, third.schedule.batch, third.schedule.kind.name()), (2, 50, "constant"));
        assert_eq!((second.data.pool_blocks, third.data.pool_blocks), (7, 3));
        assert_eq!((&*second.data.sources[0].manifest, &*third.data.sources[0].manifest), ("gen0.json", "gen1.json"));
        assert_eq!([first.seeds.order, second.seeds.order, third.seeds.order], [2, 3, 4]);
        assert_eq!(Recipe::from_text(&recipe.to_text()).unwrap(), recipe);
    }

    #[test]
    fn steps_belong_to_stages() {
        let recipe = Recipe::from_text(TEXT).unwrap();
        assert_eq!(recipe.steps(), 20 + 10 + 40);
        let at = |step| {
            let StagePlace { stage, step, epochs_before } = recipe.place(step);
            (stage, step, epochs_before)
        };
        assert_eq!([at(0), at(19), at(20), at(29)], [(0, 0, 0), (0, 19, 0), (1, 0, 2), (1, 9, 2)]);
        assert_eq!([at(30), at(69), at(70)], [(2, 0, 3), (2, 39, 3), (2, 40, 3)]);
        assert_eq!([0, 20, 25, 70].map(|steps| recipe.positions(steps)), [0, 2_000, 2_500, 5_000]);
    }

    #[test]
    fn a_stage_changes_nothing_that_all_share() {
        let refused = |from: &str, to: &str| {
            assert!(TEXT.contains(from));
            Recipe::from_text(&TEXT.replacen(from, to, 1)).unwrap_err().to_string()
        };
        let sentence = refused("pool_blocks = 3", "validation_one_in = 9");
        assert_eq!(
            sentence,
            "line 22, column 21: `stages[1].data.validation_one_in` is 9; it must be as in the first stage"
        );
        let sentence = refused("schedule.epochs = 1", "loss.output_scale = 300");
        assert_eq!(
            sentence,
            "line 16, column 21: `stages[0].loss.output_scale` is 300; it must be as in the first stage"
        );
        let sentence = refused("schedule.epochs = 1", "optimizer.beta1 = 0.5");
        assert!(sentence.ends_with("`stages[0]` may have data, loss and schedule"), "{sentence}");
        let sentence = refused("schedule.epochs = 1", "schedule.epochs = 0");
        assert!(sentence.starts_with("line 16, column 19: `stages[0].schedule.epochs` is 0"), "{sentence}");
    }
}
