//! The state of a run between two steps.

use std::{io, mem};

use dataset::{Digest, training::ReaderPosition};
use protocol::recipe::{Recipe, StagePlace};

use super::{
    BackendKind, Conditions, Folder, Kept, Line, Metrics, Observer, Plan, RunError, StartError, Views, plan::Start,
};
use crate::{
    backend::{Backend, State},
    batch::Batch,
    checkpoint::{Best, Checkpoint, Progress},
    data::{Drawn, Loader, Ready, TrainingData},
    loss::Loss,
    model::Arrays,
    schedule,
};

/// The mean loss of fewer positions is too noisy to be the best so far, or an explosion.
const MIN_POSITIONS_TO_JUDGE: u64 = 2_000;

/// A run in progress.
pub(super) struct Training<'a> {
    recipe: &'a Recipe,
    /// The stages as recipes of their own.
    stages: Vec<Recipe>,
    plan: Plan,
    folder: &'a Folder,
    backend: Box<dyn Backend>,
    metrics: Metrics,
    /// The identity of the run.
    identity: String,
    place: ReaderPosition,
    progress: Progress,
    /// The mean of the weights so far.
    average: Option<Arrays>,
    threads: usize,
    steps: u64,
    /// The step of the last checkpoint.
    saved: u64,
    /// The state at step 0, until its checkpoint is written.
    start: Option<State>,
}

impl<'a> Training<'a> {
    /// Starts a run, or resumes it from its checkpoint.
    pub(super) fn begin(
        recipe: &'a Recipe,
        data: &TrainingData,
        plan: Plan,
        folder: &'a Folder,
        conditions: &Conditions,
    ) -> Result<Self, RunError> {
        let backend = conditions.backend_name();
        let resumed = folder.is_run();
        let checkpoint =
            if resumed { resume(recipe, data, &plan, folder, backend)? } else { fresh(recipe, data, &plan, backend)? };
        let Checkpoint { state, place, run: identity, progress } = checkpoint;
        let steps = state.steps;
        let metrics = Metrics::open(&folder.metrics(), steps)?;
        folder.remove_partial_checkpoints();
        let mut backend = conditions.backend.begin(&plan, &state, conditions.threads)?;
        if conditions.resident {
            // Before the first checkpoint, which names the conditions.
            backend.begin_resident()?;
            data.check_resident()?;
        }
        let (average, threads) = (state.average.clone(), conditions.threads);
        let training = Self {
            recipe,
            stages: (0..=recipe.stages.len()).map(|number| recipe.stage(number)).collect(),
            plan,
            folder,
            backend,
            metrics,
            identity,
            place,
            progress,
            average,
            threads,
            steps,
            saved: steps,
            start: (!resumed).then_some(state),
        };
        Ok(training)
    }

    /// Writes the checkpoint of a new run, once its data were read: from here on there is one to
    /// resume from. Without data nothing is left that another recipe could not begin.
    pub(super) fn keep_start(&mut self) -> Result<(), RunError> {
        self.start.take().map_or(Ok(()), |state| self.write(Kept::Last, state))
    }

    /// The place of the next step, and its stage.
    pub(super) fn stage(&self) -> (StagePlace, &Recipe) {
        self.stage_of(self.steps)
    }

    fn stage_of(&self, step: u64) -> (StagePlace, &Recipe) {
        let place = self.recipe.place(step);
        (place, &self.stages[place.stage])
    }

    /// Steps so far.
    pub(super) const fn steps(&self) -> u64 {
        self.steps
    }

    /// The step of the last checkpoint.
    pub(super) const fn saved(&self) -> u64 {
        self.saved
    }

    /// Loads the data of a stage from here on.
    pub(super) fn load(
        &mut self,
        data: &TrainingData,
        batch: usize,
        conditions: &Conditions,
    ) -> Result<Loader, RunError> {
        let Conditions { readers, cache_bytes, resident, .. } = *conditions;
        if !resident {
            return Ok(data.load(batch, self.place, readers, cache_bytes)?);
        }
        self.backend.begin_resident()?;
        let order = data.read_all(readers, |batch| self.backend.add_resident(batch))?;
        Ok(TrainingData::load_resident(order, batch, self.place))
    }

    /// Trains on a batch.
    pub(super) fn learn(&mut self, ready: &Ready) -> Result<(), RunError> {
        let (StagePlace { stage: number, step, .. }, stage) = self.stage();
        let per_epoch = stage.schedule.steps_per_epoch();
        let rate = schedule::learning_rate(&stage.schedule, step);
        let loss = self.plan.loss(stage, step / per_epoch);
        let (is_last, ends) = (number == self.recipe.stages.len(), step + 1 == stage.schedule.steps());
        if number > 0 && step == 0 {
            // Losses of another target cannot be compared.
            self.progress.min_loss = None;
        }
        let totals = match &ready.drawn {
            Drawn::Batch(batch) => self.backend.begin_step(batch, loss, rate),
            Drawn::Numbers(numbers) => self.backend.step_on_resident(numbers, loss, rate),
        };
        self.steps += 1;
        // The mean is of the last stage.
        let share = self.recipe.average.filter(|_| is_last).and_then(|it| it.share(step + 1, per_epoch));
        if let Some(share) = share {
            let values = self.backend.values();
            match &mut self.average {
                Some(average) => average.move_to(&values, share as f32),
                average => *average = Some(values),
            }
        }
        self.place = if ends && !is_last { ReaderPosition::default() } else { ready.next };
        self.progress.loss_sum.positions += ready.drawn.len() as u64;
        let Some(totals) = totals else { return Ok(()) };
        self.progress.loss_sum.loss += totals.loss;
        self.check_finite("the loss is", totals.loss).map(drop)
    }

    /// Waits for the losses of all steps.
    fn read_losses(&mut self) -> Result<(), RunError> {
        let losses = self.backend.unread_losses();
        let first = self.steps - losses.len() as u64;
        (first + 1..).zip(losses).try_for_each(|(step, loss)| {
            self.progress.loss_sum.loss += loss;
            if loss.is_finite() { Ok(()) } else { Err(self.not_a_number("the loss is", step)) }
        })
    }

    /// Computes the held-out loss, with one lambda for all epochs, so that epochs can be compared.
    pub(super) fn validate(&mut self, held_out: &[Batch]) -> Result<f64, RunError> {
        self.read_losses()?;
        let loss = self.plan.validation_loss(&self.stages[self.recipe.stages.len()]);
        let loss = match &self.average {
            Some(average) => {
                let mut backend = BackendKind::evaluating(&self.plan, average, self.threads)?;
                mean_loss(&mut *backend, loss, held_out)
            }
            None => mean_loss(&mut *self.backend, loss, held_out),
        };
        self.check_finite("the loss of the held-out positions is", loss)
    }

    /// Keeps the net as the best checkpoint if its held-out loss is the least so far.
    pub(super) fn keep_if_best(&mut self, loss: f64) -> Result<(), RunError> {
        if self.progress.best.is_none_or(|best| loss < best.loss) {
            self.progress.best = Some(Best { step: self.steps, loss });
            // Written before the checkpoint that mentions it: a process killed in between writes it
            // again.
            let state = self.good_state()?;
            self.write(Kept::Best, state)?;
        }
        Ok(())
    }

    /// Writes and reports a line of metrics, and stops a diverging run.
    pub(super) fn report(
        &mut self,
        validation_loss: Option<f64>,
        observer: &mut impl Observer,
    ) -> Result<(), RunError> {
        self.read_losses()?;
        let loss_sum = mem::take(&mut self.progress.loss_sum);
        let loss = loss_sum.mean().unwrap_or_default();
        let (StagePlace { step, epochs_before, .. }, stage) = self.stage_of(self.steps - 1);
        let epoch = step / stage.schedule.steps_per_epoch();
        let target = self.plan.loss(stage, epoch);
        let reported = loss_sum.positions / u64::from(stage.schedule.batch);
        let epoch_before = step.saturating_sub(reported) / stage.schedule.steps_per_epoch();
        let is_new_target = self.plan.loss(stage, epoch_before) != target;
        let line = Line {
            step: self.steps,
            epoch: epochs_before + epoch + 1,
            positions: self.recipe.positions(self.steps),
            loss,
            validation_loss,
            best_validation_loss: validation_loss.and(self.progress.best).map(|best| best.loss),
            learning_rate: schedule::learning_rate(&stage.schedule, step),
            lambda: target.lambda,
        };
        self.metrics.add(&line)?;
        observer.reports(&line);
        if loss_sum.positions < MIN_POSITIONS_TO_JUDGE {
            self.progress.min_loss = self.progress.min_loss.filter(|_| !is_new_target);
            return Ok(());
        }
        if let Some(best) = self.progress.min_loss.filter(|_| self.explodes(loss)) {
            // The curves show the explosion.
            Views::write(self.folder, &self.recipe.name)?;
            let (times, path) = (self.recipe.stop.explosion, self.folder.checkpoint(Kept::Last));
            return Err(RunError::Explosion { step: self.steps, loss, times, best, checkpoint: self.saved, path });
        }
        // Results in the target raise the loss: another `lambda` is compared once with the last.
        let least = self.progress.min_loss.filter(|_| !is_new_target);
        self.progress.min_loss = Some(least.map_or(loss, |least| least.min(loss)));
        Ok(())
    }

    /// Writes a checkpoint, unless the loss is exploding.
    pub(super) fn save(&mut self) -> Result<(), RunError> {
        self.read_losses()?;
        let loss_sum = &self.progress.loss_sum;
        if loss_sum.positions >= MIN_POSITIONS_TO_JUDGE && loss_sum.mean().is_some_and(|loss| self.explodes(loss)) {
            // The next line of metrics decides; until then the previous checkpoint is the last good
            // one.
            return Ok(());
        }
        // Metrics first: on resuming, lines past the checkpoint are cut off.
        self.metrics.sync()?;
        let state = self.good_state()?;
        self.write(Kept::Last, state)?;
        self.saved = self.steps;
        Ok(())
    }

    /// Returns the net and the rest of the run's state.
    pub(super) fn finish(self) -> (State, Progress) {
        (State { average: self.average, ..self.backend.state() }, self.progress)
    }

    fn explodes(&self, loss: f64) -> bool {
        self.progress.min_loss.is_some_and(|least| loss > self.recipe.stop.explosion * least)
    }

    /// The state, if all of it is finite. A step can spoil weights that only the next loss would
    /// show.
    fn good_state(&self) -> Result<State, RunError> {
        let state = State { average: self.average.clone(), ..self.backend.state() };
        if state.is_finite() { Ok(state) } else { Err(self.not_a_number("a weight is", self.steps)) }
    }

    fn check_finite(&self, what: &'static str, value: f64) -> Result<f64, RunError> {
        if value.is_finite() { Ok(value) } else { Err(self.not_a_number(what, self.steps)) }
    }

    fn not_a_number(&self, what: &'static str, step: u64) -> RunError {
        let path = self.folder.checkpoint(Kept::Last);
        RunError::NotANumber { step, what, checkpoint: self.saved, path }
    }

    fn write(&self, kept: Kept, state: State) -> Result<(), RunError> {
        let (run, progress) = (self.identity.clone(), self.progress.clone());
        let checkpoint = Checkpoint { state, place: self.place, run, progress };
        Ok(checkpoint.write(&self.folder.checkpoint(kept), &self.plan.shape)?)
    }
}

/// The state of a new run.
fn fresh(recipe: &Recipe, data: &TrainingData, plan: &Plan, backend: String) -> Result<Checkpoint, RunError> {
    let start = Start::find(recipe, data).map_err(RunError::Start)?;
    let values = match &start {
        Some(start) => start.values(&plan.shape).map_err(RunError::Start)?,
        None => plan.initial_values(recipe),
    };
    let parents: Vec<Digest> = start.iter().map(|start| start.digest).collect();
    let run = Plan::identity(recipe, data, &parents);
    let progress = Progress { backend, parents, ..Progress::default() };
    Ok(Checkpoint {
        state: State::new(&plan.shape, values, &plan.optimizer),
        place: ReaderPosition::default(),
        run,
        progress,
    })
}

/// Resumes a run. The file that it started from may be gone; if present, it must be unchanged.
fn resume(
    recipe: &Recipe,
    data: &TrainingData,
    plan: &Plan,
    folder: &Folder,
    ours: String,
) -> Result<Checkpoint, RunError> {
    let checkpoint = read(recipe, data, plan, folder, Kept::Last)?;
    let path = folder.checkpoint(Kept::Last);
    let Progress { backend, parents, .. } = &checkpoint.progress;
    if *backend != ours {
        return Err(RunError::OtherBackend { theirs: backend.clone(), ours, path });
    }
    match Start::find(recipe, data) {
        Err(StartError::Unreadable { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => {}
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
    if checkpoint.run == Plan::identity(recipe, data, &checkpoint.progress.parents) {
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
