//! A run: from a recipe to a net.
//!
//! All that a run is lies in one folder:
//!
//! | file | what |
//! |---|---|
//! | `recipe.toml` | the recipe with every default written out |
//! | `checkpoint.safetensors` | where it stands |
//! | `best.safetensors` | where it stood when it knew the held-out positions best |
//! | `metrics.jsonl` | a line for each stretch of steps, and one for each epoch |
//! | `curves.svg`, `events.out.tfevents.chuhe` | the same to look at: as a picture, and for TensorBoard |
//! | `net.nnue`, `net.json`, `net.md` | what came of it: the net, its manifest, its card |
//! | `best.nnue`, `best.json`, `best.md` | the same of the best |
//!
//! Killed at any time, it goes on from its checkpoint and ends with the bytes it would have ended with.

mod error;
mod folder;
mod learner;
mod metrics;
mod observer;
mod plan;
mod training;
mod views;

use dataset::Digest;
use protocol::recipe::Recipe;

use crate::{
    backend::{Backend as _, State},
    batch::Batch,
    checkpoint::Best,
    cpu::Cpu,
    data::TrainingData,
    loss::Loss,
    model::Arrays,
};
pub use error::RunError;
pub use folder::{Folder, Kept};
pub use learner::Learner;
pub use metrics::{Line, Metrics, MetricsError};
pub use observer::{Observer, Silent};
pub use plan::{Plan, PlanError};
use training::Training;
pub use views::Views;

/// A line of metrics stands for so many steps.
const STRETCH: u64 = 50;

/// Held-out positions that a net is measured by, at most.
const HELD_OUT: usize = 1 << 17;

/// What came of a run.
pub struct Finished {
    /// The net.
    pub state: State,
    /// The files that learning began with.
    pub parents: Vec<Digest>,
    /// What learned.
    pub learner: String,
    /// The loss of the held-out positions.
    pub validation_loss: f64,
    /// How many these are.
    pub held_out: usize,
    /// The end of an epoch at which that was least, so far.
    pub best: Option<Best>,
    /// The step of the last checkpoint.
    pub saved: u64,
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
    let mut training = Training::begin(recipe, data, plan, folder, conditions)?;
    let batch = recipe.schedule.batch as usize;
    let held_out = data.held_out(HELD_OUT, batch)?;
    let mut loader = data.load(batch, training.place(), conditions.readers, conditions.cache_bytes)?;
    let (steps, per_epoch) = (recipe.schedule.steps(), recipe.schedule.steps_per_epoch());
    observer.begins(training.steps(), steps);
    let mut validation_loss = None;
    let mut ahead = if training.steps() < steps { Some(loader.next()?) } else { None };
    while let Some(ready) = ahead {
        ahead = if training.steps() + 1 < steps { Some(loader.next()?) } else { None };
        training.learn(&ready, ahead.as_ref())?;
        loader.give_back(ready.batch);
        let step = training.steps();
        let epoch_ends = step.is_multiple_of(per_epoch);
        validation_loss = None;
        if epoch_ends {
            let loss = training.validate(&held_out)?;
            training.weigh(loss)?;
            validation_loss = Some(loss);
        }
        if epoch_ends || step.is_multiple_of(STRETCH) {
            training.report(validation_loss, observer)?;
        }
        let stops = observer.wants_to_stop();
        if epoch_ends || step.is_multiple_of(conditions.checkpoint_steps) || stops {
            training.save()?;
        }
        if epoch_ends {
            Views::write(folder, &recipe.name)?;
        }
        if stops {
            break;
        }
    }
    Views::write(folder, &recipe.name)?;
    // A run that had ended already, or was stopped, is measured again.
    let validation_loss = match validation_loss {
        Some(loss) => loss,
        None => training.validate(&held_out)?,
    };
    let saved = training.saved();
    let (state, progress) = training.finish();
    let held_out = held_out.iter().map(Batch::len).sum();
    let (parents, learner, best) = (progress.parents, progress.learner, progress.best);
    Ok(Finished { state, parents, learner, validation_loss, held_out, best, saved })
}

/// What came of a run so far, from one of its checkpoints.
///
/// # Errors
///
/// If there is no such checkpoint of this recipe and these data, or the held-out positions cannot be read.
pub fn finished(
    recipe: &Recipe,
    data: &TrainingData,
    folder: &Folder,
    kept: Kept,
    threads: usize,
) -> Result<Finished, RunError> {
    let plan = Plan::new(recipe, data)?;
    let checkpoint = training::read(recipe, data, &plan, folder, kept)?;
    let held_out = data.held_out(HELD_OUT, recipe.schedule.batch as usize)?;
    let (state, progress) = (checkpoint.state, checkpoint.progress);
    let mut backend = Cpu::new(plan.shape, plan.optimizer, &state, threads)?;
    let validation_loss = training::mean_loss(&mut backend, plan.validation_loss(recipe), &held_out);
    let held_out = held_out.iter().map(Batch::len).sum();
    let (parents, learner, best) = (progress.parents, progress.learner, progress.best);
    let saved = state.steps;
    Ok(Finished { state, parents, learner, validation_loss, held_out, best, saved })
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
