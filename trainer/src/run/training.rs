//! A run between two steps.

use std::{io, mem};

use dataset::{Digest, training::Place};
use protocol::recipe::Recipe;

use super::{Conditions, Folder, Kept, Line, Metrics, Observer, Plan, RunError, Views, plan::Start};
use crate::{
    backend::{Backend, State},
    batch::Batch,
    checkpoint::{Best, Checkpoint, CheckpointError, Progress},
    data::{Ready, TrainingData},
    loss::Loss,
    schedule,
};

/// The mean loss of fewer positions is noise: it is neither the best so far nor an explosion.
const LEAST_TO_JUDGE: u64 = 2_000;

/// What learns, and what is known of it so far.
pub(super) struct Training<'a> {
    recipe: &'a Recipe,
    plan: Plan,
    folder: &'a Folder,
    backend: Box<dyn Backend>,
    metrics: Metrics,
    /// The name of what it is a run of.
    name: String,
    place: Place,
    progress: Progress,
    steps: u64,
    /// The step of the last checkpoint.
    saved: u64,
}

impl<'a> Training<'a> {
    /// A run at its beginning, or where its checkpoint says.
    pub(super) fn begin(
        recipe: &'a Recipe,
        data: &TrainingData,
        plan: Plan,
        folder: &'a Folder,
        conditions: &Conditions,
    ) -> Result<Self, RunError> {
        let learner = conditions.learner.name(conditions.threads);
        let taken_up = folder.is_run();
        let checkpoint =
            if taken_up { take_up(recipe, data, &plan, folder, learner)? } else { new(recipe, data, &plan, learner)? };
        let Checkpoint { state, place, run: name, progress } = checkpoint;
        let steps = state.steps;
        let metrics = Metrics::open(&folder.metrics(), steps)?;
        folder.clear();
        let backend = conditions.learner.begin(&plan, &state, conditions.threads)?;
        let training = Self { recipe, plan, folder, backend, metrics, name, place, progress, steps, saved: steps };
        if !taken_up {
            // So that there is always something to go back to.
            training.write(Kept::Last, state)?;
        }
        Ok(training)
    }

    /// How many steps were made.
    pub(super) const fn steps(&self) -> u64 {
        self.steps
    }

    /// The step of the last checkpoint.
    pub(super) const fn saved(&self) -> u64 {
        self.saved
    }

    /// Where in the data the next batch begins.
    pub(super) const fn place(&self) -> Place {
        self.place
    }

    /// Learns from a batch; `next` is what will be learned from after it, if anything.
    pub(super) fn learn(&mut self, ready: &Ready, next: Option<&Ready>) -> Result<(), RunError> {
        let (batch, next) = (&ready.batch, next.map(|next| &next.batch));
        let rate = schedule::learning_rate(&self.recipe.schedule, self.steps);
        let loss = self.plan.loss(self.recipe, self.steps / self.recipe.schedule.steps_per_epoch());
        let totals = self.backend.step_ahead(batch, next, loss, rate);
        self.steps += 1;
        self.place = ready.next;
        self.progress.stretch.loss += totals.loss;
        self.progress.stretch.positions += batch.len() as u64;
        self.number("the loss is", totals.loss).map(drop)
    }

    /// The loss of the held-out positions. It is measured by the same mixture of results and scores in all epochs, so
    /// that these can be compared.
    pub(super) fn validate(&mut self, held_out: &[Batch]) -> Result<f64, RunError> {
        let loss = mean_loss(&mut *self.backend, self.plan.validation_loss(self.recipe), held_out);
        self.number("the loss of the held-out positions is", loss)
    }

    /// The end of an epoch: if the held-out positions were never known better, the net is kept.
    pub(super) fn weigh(&mut self, loss: f64) -> Result<(), RunError> {
        if self.progress.best.is_none_or(|best| loss < best.loss) {
            self.progress.best = Some(Best { step: self.steps, loss });
            // Before the checkpoint that speaks of it: whoever is killed between the two writes it again.
            let state = self.good_state()?;
            self.write(Kept::Best, state)?;
        }
        Ok(())
    }

    /// The end of a stretch: its figures are written and shown.
    pub(super) fn report(
        &mut self,
        validation_loss: Option<f64>,
        observer: &mut impl Observer,
    ) -> Result<(), RunError> {
        let stretch = mem::take(&mut self.progress.stretch);
        let loss = stretch.mean().unwrap_or_default();
        let last = self.steps - 1;
        let epoch = last / self.recipe.schedule.steps_per_epoch();
        let line = Line {
            step: self.steps,
            epoch: epoch + 1,
            positions: self.steps * u64::from(self.recipe.schedule.batch),
            loss,
            validation_loss,
            best_validation_loss: validation_loss.and(self.progress.best).map(|best| best.loss),
            learning_rate: schedule::learning_rate(&self.recipe.schedule, last),
            lambda: self.plan.loss(self.recipe, epoch).lambda,
        };
        self.metrics.add(&line)?;
        observer.reports(&line);
        if stretch.positions < LEAST_TO_JUDGE {
            return Ok(());
        }
        if let Some(best) = self.progress.least_loss.filter(|_| self.explodes(loss)) {
            // So that it can be seen.
            Views::write(self.folder, &self.recipe.name)?;
            let (times, path) = (self.recipe.stop.explosion, self.folder.checkpoint(Kept::Last));
            return Err(RunError::Explosion { step: self.steps, loss, times, best, checkpoint: self.saved, path });
        }
        self.progress.least_loss = Some(self.progress.least_loss.map_or(loss, |least| least.min(loss)));
        Ok(())
    }

    /// Writes where the run stands.
    pub(super) fn save(&mut self) -> Result<(), RunError> {
        let stretch = &self.progress.stretch;
        if stretch.positions >= LEAST_TO_JUDGE && stretch.mean().is_some_and(|loss| self.explodes(loss)) {
            // The end of the stretch will tell; until then the checkpoint before is the last good one.
            return Ok(());
        }
        // Lines of the metrics first: those past a checkpoint are cut off when it is taken up.
        self.metrics.sync()?;
        let state = self.good_state()?;
        self.write(Kept::Last, state)?;
        self.saved = self.steps;
        Ok(())
    }

    /// What was learned, and from what.
    pub(super) fn finish(self) -> (State, Progress) {
        (self.backend.state(), self.progress)
    }

    fn explodes(&self, loss: f64) -> bool {
        self.progress.least_loss.is_some_and(|least| loss > self.recipe.stop.explosion * least)
    }

    /// What was learned, if all of it are numbers: a step can spoil weights, which only the next one's loss would show.
    fn good_state(&self) -> Result<State, RunError> {
        let state = self.backend.state();
        if state.is_finite() { Ok(state) } else { Err(self.not_a_number("a weight is")) }
    }

    fn number(&self, what: &'static str, value: f64) -> Result<f64, RunError> {
        if value.is_finite() { Ok(value) } else { Err(self.not_a_number(what)) }
    }

    fn not_a_number(&self, what: &'static str) -> RunError {
        let path = self.folder.checkpoint(Kept::Last);
        RunError::NotANumber { step: self.steps, what, checkpoint: self.saved, path }
    }

    fn write(&self, kept: Kept, state: State) -> Result<(), RunError> {
        let (run, progress) = (self.name.clone(), self.progress.clone());
        let checkpoint = Checkpoint { state, place: self.place, run, progress };
        Ok(checkpoint.write(&self.folder.checkpoint(kept), &self.plan.shape)?)
    }
}

/// A run that has not begun.
fn new(recipe: &Recipe, data: &TrainingData, plan: &Plan, learner: String) -> Result<Checkpoint, RunError> {
    let start = Start::find(recipe, data).map_err(RunError::Start)?;
    let values = match &start {
        Some(start) => start.values(&plan.shape).map_err(RunError::Start)?,
        None => plan.new_net(recipe),
    };
    let parents: Vec<Digest> = start.iter().map(|start| start.digest).collect();
    let run = Plan::name(recipe, data, &parents);
    let progress = Progress { learner, parents, ..Progress::default() };
    Ok(Checkpoint { state: State::new(&plan.shape, values, &plan.optimizer), place: Place::default(), run, progress })
}

/// A run that has begun. What it began with need not be there any more; if it is, it must be the same.
fn take_up(
    recipe: &Recipe,
    data: &TrainingData,
    plan: &Plan,
    folder: &Folder,
    ours: String,
) -> Result<Checkpoint, RunError> {
    let checkpoint = read(recipe, data, plan, folder, Kept::Last)?;
    let path = folder.checkpoint(Kept::Last);
    let Progress { learner, parents, .. } = &checkpoint.progress;
    if *learner != ours {
        return Err(RunError::OtherLearner { theirs: learner.clone(), ours, path });
    }
    match Start::find(recipe, data) {
        Err(CheckpointError::Unreadable { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(RunError::Start(error)),
        Ok(start) => {
            for (Start { path, digest, .. }, recorded) in start.into_iter().zip(parents) {
                if digest != *recorded {
                    return Err(RunError::OtherStart { path, found: digest, recorded: *recorded });
                }
            }
        }
    }
    Ok(checkpoint)
}

/// Reads a checkpoint of this run.
pub(super) fn read(
    recipe: &Recipe,
    data: &TrainingData,
    plan: &Plan,
    folder: &Folder,
    kept: Kept,
) -> Result<Checkpoint, RunError> {
    let path = folder.checkpoint(kept);
    let checkpoint = Checkpoint::read(&path, &plan.shape)?;
    if checkpoint.run == Plan::name(recipe, data, &checkpoint.progress.parents) {
        Ok(checkpoint)
    } else {
        Err(RunError::OtherRun(path))
    }
}

pub(super) fn mean_loss(backend: &mut dyn Backend, loss: Loss, held_out: &[Batch]) -> f64 {
    let mut values = Vec::new();
    let sum: f64 = held_out.iter().map(|batch| backend.evaluate(batch, loss, &mut values).loss).sum();
    sum / values.len() as f64
}

#[cfg(test)]
mod tests;
