//! A run: from a recipe to a net.
//!
//! All that a run is lies in one folder:
//!
//! | file | what |
//! |---|---|
//! | `recipe.toml` | the recipe with every default written out |
//! | `checkpoint.safetensors` | where it stands |
//! | `metrics.jsonl` | a line for each stretch of steps, and one for each epoch |
//! | `curves.svg`, `events.out.tfevents.chuhe` | the same to look at: as a picture, and for TensorBoard |
//! | `net.nnue`, `net.json`, `net.md` | what came of it: the net, its manifest, its card |
//!
//! Killed at any time, it goes on from its checkpoint and ends with the bytes it would have ended with.

mod metrics;
mod plan;
mod progress;
mod views;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use dataset::{Digest, training::Place};
use protocol::recipe::Recipe;

#[cfg(feature = "torch")]
use crate::torch::Torch;
use crate::{
    backend::{Backend, BackendError, State},
    batch::Batch,
    checkpoint::{Checkpoint, CheckpointError},
    cpu::Cpu,
    data::{DataError, TrainingData},
    loss::Loss,
    model::Arrays,
    schedule,
};
pub use metrics::{Line, Metrics, MetricsError};
pub use plan::{Plan, PlanError};
pub use progress::{Observer, Silent};
pub use views::Views;

/// A line of metrics stands for so many steps.
const STRETCH: u64 = 50;

/// Held-out positions that a net is measured by, at most.
const HELD_OUT: usize = 1 << 17;

/// Why a run stopped.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum RunError {
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Backend(#[from] BackendError),
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error(transparent)]
    Metrics(#[from] MetricsError),
    #[error("{}: {cause}", path.display())]
    View { path: PathBuf, cause: std::io::Error },
    #[error("{}: it is a checkpoint of another run, with other data or another recipe; name another folder, or remove this one", .0.display())]
    OtherRun(PathBuf),
    #[error("{}: it was learned by {theirs}, not {ours}: name the same `--backend`", path.display())]
    OtherLearner { path: PathBuf, theirs: String, ours: &'static str },
    #[error(
        "step {step}: the loss is no number; {} is the last good checkpoint, at step {checkpoint}. A smaller learning rate may help",
        path.display()
    )]
    NotANumber { step: u64, checkpoint: u64, path: PathBuf },
    #[error(
        "step {step}: the loss is {loss:.6}, more than {times} times the best so far, {best:.6}; {} is the last good checkpoint, at step {checkpoint}. A smaller learning rate may help",
        path.display()
    )]
    Explosion { step: u64, loss: f64, times: f64, best: f64, checkpoint: u64, path: PathBuf },
}

/// What came of a run.
pub struct Finished {
    /// The net.
    pub state: State,
    /// The files that learning began with.
    pub parents: Vec<Digest>,
    /// What learned.
    pub learner: String,
    /// The loss of the held-out positions in the end.
    pub validation_loss: f64,
    /// How many these are.
    pub held_out: usize,
}

/// Where a run's files are.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// The folder of a run.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The path of one of its files.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Where it stands.
    #[must_use]
    pub fn checkpoint(&self) -> PathBuf {
        self.file("checkpoint.safetensors")
    }
}

/// What learns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Learner {
    /// The processor, with the same bits everywhere.
    #[default]
    Processor,
    /// libtorch.
    #[cfg(feature = "torch")]
    Torch(crate::torch::Where),
}

impl Learner {
    /// Its name in checkpoints and manifests, with the version where that is not the trainer's.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Processor => "cpu",
            #[cfg(feature = "torch")]
            Self::Torch(crate::torch::Where::Processor) => "libtorch 2.11.0 on the processor",
            #[cfg(feature = "torch")]
            Self::Torch(crate::torch::Where::Card(_)) => "libtorch 2.11.0 on a graphics card",
        }
    }
}

/// How a run is made, beside its recipe. On the processor nothing of this changes a bit of it.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// What learns.
    pub learner: Learner,
    /// How many threads learn.
    pub threads: usize,
    /// How many threads read.
    pub readers: usize,
    /// How many bytes of decoded positions may be kept in memory.
    pub cache_bytes: usize,
    /// After how many steps a checkpoint is written, at the latest.
    pub checkpoint_steps: u64,
}

/// Learns what a recipe says; from the folder's checkpoint on, if there is one.
///
/// # Errors
///
/// If something is wrong with data or disk, or the loss says that learning has failed.
pub fn train(
    recipe: &Recipe,
    data: &TrainingData,
    folder: &Folder,
    conditions: &Conditions,
    observer: &mut impl Observer,
) -> Result<Finished, RunError> {
    let plan = Plan::new(recipe, data)?;
    let mut run = Run::begin(recipe, data, plan, folder, conditions)?;
    let held_out = data.held_out(HELD_OUT, recipe.schedule.batch as usize)?;
    let mut loader =
        data.load(recipe.schedule.batch as usize, run.place, conditions.readers, conditions.cache_bytes)?;
    let (steps, per_epoch) = (recipe.schedule.steps(), recipe.schedule.steps_per_epoch());
    observer.begins(run.steps, steps);
    let mut validation_loss = None;
    while run.steps < steps {
        let ready = loader.next()?;
        run.learn(&ready.batch)?;
        run.place = ready.next;
        loader.give_back(ready.batch);
        let step = run.steps;
        let epoch_ends = step.is_multiple_of(per_epoch);
        validation_loss = epoch_ends.then(|| run.validate(&held_out));
        if epoch_ends || step.is_multiple_of(STRETCH) {
            run.report(validation_loss, observer)?;
        }
        if epoch_ends || step.is_multiple_of(conditions.checkpoint_steps) || observer.wants_to_stop() {
            run.save()?;
        }
        if epoch_ends {
            Views::write(folder, &recipe.name)?;
        }
        if observer.wants_to_stop() {
            break;
        }
    }
    Views::write(folder, &recipe.name)?;
    // A run that had ended already is measured again.
    let validation_loss = validation_loss.unwrap_or_else(|| run.validate(&held_out));
    let held_out = held_out.iter().map(Batch::len).sum();
    let learner = run.learner.name().to_owned();
    Ok(Finished { state: run.backend.state(), parents: run.parents, learner, validation_loss, held_out })
}

/// What came of a run so far, from its checkpoint.
///
/// # Errors
///
/// If there is no checkpoint of this recipe and these data, or the held-out positions cannot be read.
pub fn finished(recipe: &Recipe, data: &TrainingData, folder: &Folder, threads: usize) -> Result<Finished, RunError> {
    let plan = Plan::new(recipe, data)?;
    let path = folder.checkpoint();
    let checkpoint = Checkpoint::read(&path, &plan.shape)?;
    if checkpoint.run != Plan::name(recipe, data) {
        return Err(RunError::OtherRun(path));
    }
    let parents = parents_of(&checkpoint);
    let held_out = data.held_out(HELD_OUT, recipe.schedule.batch as usize)?;
    let mut backend = Cpu::new(plan.shape, plan.optimizer, &checkpoint.state, threads)?;
    let validation_loss = mean_loss(&mut backend, plan.validation_loss(recipe), &held_out);
    let held_out = held_out.iter().map(Batch::len).sum();
    let learner = learner_of(&checkpoint).to_owned();
    Ok(Finished { state: checkpoint.state, parents, learner, validation_loss, held_out })
}

fn mean_loss(backend: &mut dyn Backend, loss: Loss, held_out: &[Batch]) -> f64 {
    let mut values = Vec::new();
    let sum: f64 = held_out.iter().map(|batch| backend.evaluate(batch, loss, &mut values).loss).sum();
    sum / values.len() as f64
}

/// The key under which a checkpoint remembers what learning began with.
const PARENTS: &str = "parents";

/// What learned a checkpoint.
const LEARNER: &str = "learner";

fn learner_of(checkpoint: &Checkpoint) -> &str {
    checkpoint.progress.get(LEARNER).map_or("", String::as_str)
}

fn parents_of(checkpoint: &Checkpoint) -> Vec<Digest> {
    let text = checkpoint.progress.get(PARENTS).map_or("", String::as_str);
    text.split_whitespace().filter_map(|digest| digest.parse().ok()).collect()
}

struct Run<'a> {
    recipe: &'a Recipe,
    plan: Plan,
    folder: &'a Folder,
    backend: Box<dyn Backend>,
    metrics: Metrics,
    place: Place,
    /// The name of what it is a run of.
    name: String,
    /// The files that learning began with.
    parents: Vec<Digest>,
    learner: Learner,
    /// Losses since the last line of metrics.
    stretch: Stretch,
    /// The least loss of any stretch.
    best: f64,
    saved: u64,
    steps: u64,
}

#[derive(Clone, Copy, Default)]
struct Stretch {
    loss: f64,
    positions: u64,
}

impl<'a> Run<'a> {
    /// A run at its beginning, or where its checkpoint says.
    fn begin(
        recipe: &'a Recipe,
        data: &TrainingData,
        plan: Plan,
        folder: &'a Folder,
        conditions: &Conditions,
    ) -> Result<Self, RunError> {
        let name = Plan::name(recipe, data);
        let path = folder.checkpoint();
        let mut stretch = Stretch::default();
        let mut best = f64::INFINITY;
        let (state, place, parents) = if path.exists() {
            let checkpoint = Checkpoint::read(&path, &plan.shape)?;
            if checkpoint.run != name {
                return Err(RunError::OtherRun(path));
            }
            let number = |key: &str| checkpoint.progress.get(key).and_then(|text| text.parse::<u64>().ok());
            stretch.loss = f64::from_bits(number("stretch_loss_bits").unwrap_or(0));
            stretch.positions = number("stretch_positions").unwrap_or(0);
            best = number("best_loss_bits").map_or(best, f64::from_bits);
            let (theirs, ours) = (learner_of(&checkpoint), conditions.learner.name());
            if theirs != ours {
                return Err(RunError::OtherLearner { theirs: theirs.to_owned(), ours, path });
            }
            let parents = parents_of(&checkpoint);
            (checkpoint.state, checkpoint.place, parents)
        } else {
            (plan.initial_state(recipe)?, Place::default(), plan.parents()?)
        };
        let metrics = Metrics::open(&folder.file("metrics.jsonl"), state.steps)?;
        let steps = state.steps;
        let backend: Box<dyn Backend> = match conditions.learner {
            Learner::Processor => Box::new(Cpu::new(plan.shape, plan.optimizer, &state, conditions.threads)?),
            #[cfg(feature = "torch")]
            Learner::Torch(place) => Box::new(Torch::new(plan.shape, plan.optimizer, &state, place)?),
        };
        let learner = conditions.learner;
        let mut run = Self {
            recipe,
            plan,
            folder,
            backend,
            metrics,
            place,
            name,
            parents,
            learner,
            stretch,
            best,
            saved: steps,
            steps,
        };
        if !path.exists() {
            // So that there is always something to go back to.
            run.save()?;
        }
        Ok(run)
    }

    fn loss(&self) -> Loss {
        let epoch = self.steps / self.recipe.schedule.steps_per_epoch();
        self.plan.loss(self.recipe, epoch)
    }

    fn learn(&mut self, batch: &Batch) -> Result<(), RunError> {
        let rate = schedule::learning_rate(&self.recipe.schedule, self.steps);
        let loss = self.loss();
        let totals = self.backend.step(batch, loss, rate);
        self.steps += 1;
        self.stretch.loss += totals.loss;
        self.stretch.positions += batch.len() as u64;
        if !totals.loss.is_finite() {
            let (step, checkpoint, path) = (self.steps, self.saved, self.folder.checkpoint());
            return Err(RunError::NotANumber { step, checkpoint, path });
        }
        Ok(())
    }

    fn validate(&mut self, held_out: &[Batch]) -> f64 {
        // Measured by the results and scores alike, whatever the mixture of the epoch: epochs can be compared.
        let loss = self.plan.validation_loss(self.recipe);
        mean_loss(&mut *self.backend, loss, held_out)
    }

    fn report(&mut self, validation_loss: Option<f64>, observer: &mut impl Observer) -> Result<(), RunError> {
        let loss = self.stretch.loss / self.stretch.positions.max(1) as f64;
        self.stretch = Stretch::default();
        let last = self.steps - 1;
        let line = Line {
            step: self.steps,
            epoch: last / self.recipe.schedule.steps_per_epoch() + 1,
            positions: self.steps * u64::from(self.recipe.schedule.batch),
            loss,
            validation_loss,
            learning_rate: schedule::learning_rate(&self.recipe.schedule, last),
            lambda: self.plan.loss(self.recipe, last / self.recipe.schedule.steps_per_epoch()).lambda,
        };
        self.metrics.add(&line)?;
        observer.reports(&line);
        let times = self.recipe.stop.explosion;
        if loss > times * self.best {
            // So that it can be seen.
            Views::write(self.folder, &self.recipe.name)?;
            let (step, best, checkpoint, path) = (self.steps, self.best, self.saved, self.folder.checkpoint());
            return Err(RunError::Explosion { step, loss, times, best, checkpoint, path });
        }
        self.best = self.best.min(loss);
        Ok(())
    }

    fn save(&mut self) -> Result<(), RunError> {
        // Lines of the metrics first: those past a checkpoint are cut off when it is taken up.
        self.metrics.sync()?;
        let progress = [
            ("stretch_loss_bits", self.stretch.loss.to_bits()),
            ("stretch_positions", self.stretch.positions),
            ("best_loss_bits", self.best.to_bits()),
        ];
        let mut progress: BTreeMap<_, _> =
            progress.into_iter().map(|(key, value)| (key.to_owned(), value.to_string())).collect();
        progress.insert(LEARNER.to_owned(), self.learner.name().to_owned());
        if !self.parents.is_empty() {
            let parents: Vec<String> = self.parents.iter().map(ToString::to_string).collect();
            progress.insert(PARENTS.to_owned(), parents.join(" "));
        }
        let checkpoint =
            Checkpoint { state: self.backend.state(), place: self.place, run: self.name.clone(), progress };
        checkpoint.write(&self.folder.checkpoint(), &self.plan.shape)?;
        self.saved = self.steps;
        Ok(())
    }
}

/// The model's values of samples, in its own unit.
///
/// # Errors
///
/// If the threads cannot be had.
pub fn values_of(plan: &Plan, values: &Arrays, batch: &Batch, threads: usize) -> Result<Vec<f32>, RunError> {
    let state = State::new(&plan.shape, values.clone(), &plan.optimizer);
    let mut cpu = Cpu::new(plan.shape, plan.optimizer, &state, threads)?;
    let mut found = Vec::new();
    let loss = Loss { exponent: 2.0, lambda: 1.0, scale: 1.0 };
    cpu.evaluate(batch, loss, &mut found);
    Ok(found)
}

/// Whether a path is a folder that can be a run's.
#[must_use]
pub fn is_run(path: &Path) -> bool {
    Folder::new(path).checkpoint().exists()
}
