//! A run: trains a net by a recipe.
//!
//! The whole run is one folder:
//!
//! | file | content |
//! |---|---|
//! | `recipe.toml` | the recipe with every default written out |
//! | `checkpoint.safetensors` | the last checkpoint |
//! | `best.safetensors` | the checkpoint with the least held-out loss |
//! | `metrics.jsonl` | a line every `METRICS_INTERVAL_STEPS` steps, and one at the end of each epoch |
//! | `curves.svg`, `events.out.tfevents.chuhe` | the metrics as a picture, and for TensorBoard |
//! | `net.nnue`, `net.json`, `net.md` | the exported net, its manifest, its card |
//! | `best.nnue`, `best.json`, `best.md` | the same of the best checkpoint |
//!
//! Killed at any time, a run resumes from its checkpoint and ends with the same bytes as an
//! unbroken one.

mod backend_kind;
mod error;
mod folder;
mod metrics;
mod observer;
mod plan;
mod training;
mod views;

use dataset::Digest;
use protocol::recipe::Recipe;

use crate::{backend::State, batch::Batch, checkpoint::Best, data::TrainingData, loss::Loss, model::Arrays};
pub use backend_kind::BackendKind;
pub use error::RunError;
pub use folder::{Folder, Kept};
pub use metrics::{Line, Metrics, MetricsError};
pub(crate) use observer::CHECKPOINT_SECONDS;
pub use observer::{Observer, Silent};
pub use plan::{Plan, PlanError, StartError};
use training::Training;
pub use views::Views;

/// Steps between two lines of metrics.
const METRICS_INTERVAL_STEPS: u64 = 50;

/// The result of a run.
pub struct Finished {
    /// The net and the optimiser's state.
    pub state: State,
    /// The checkpoint or net that the run started from.
    pub parents: Vec<Digest>,
    /// The backend's name.
    pub backend: String,
    /// The mean loss on the held-out positions.
    pub validation_loss: f64,
    /// The number of held-out positions.
    pub held_out: usize,
    /// The epoch with the least held-out loss so far.
    pub best: Option<Best>,
    /// The step of the last checkpoint.
    pub saved: u64,
}

/// The conditions of a run, beside its recipe. On the CPU backend none of them changes a bit of the
/// result.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// The backend.
    pub backend: BackendKind,
    /// The number of training threads.
    pub threads: usize,
    /// The number of reading threads.
    pub readers: usize,
    /// Memory for decoded positions, in bytes.
    pub cache_bytes: usize,
    /// Maximum steps between checkpoints; if none, the observer says when one is due.
    pub checkpoint_steps: Option<u64>,
    /// Whether the device keeps all positions, and draws them one by one.
    pub resident: bool,
}

impl Conditions {
    /// The backend's name in checkpoints and manifests.
    fn backend_name(&self) -> String {
        let name = self.backend.name(self.threads);
        if self.resident { name + ", positions kept on the device" } else { name }
    }
}

/// Trains by a recipe, from the folder's checkpoint on if there is one.
///
/// # Errors
///
/// If data or disk fail, or training diverges.
pub fn train(
    recipe: &Recipe,
    data: &TrainingData,
    folder: &Folder,
    conditions: &Conditions,
    observer: &mut impl Observer,
) -> Result<Finished, RunError> {
    let plan = Plan::new(recipe, data)?;
    let mut training = Training::begin(recipe, data, plan, folder, conditions)?;
    let last = recipe.stage(recipe.stages.len());
    let held_out = data.last().held_out(last.schedule.batch as usize)?;
    let steps = recipe.steps();
    observer.begins(recipe, training.steps());
    let mut validation_loss = None;
    let mut stops = false;
    while training.steps() < steps && !stops {
        // A stage: its data have an order of their own.
        let (place, stage) = training.stage();
        let end = training.steps() - place.step + stage.schedule.steps();
        let (batch, per_epoch) = (stage.schedule.batch as usize, stage.schedule.steps_per_epoch());
        let start = end - stage.schedule.steps();
        let data = data.stage(place.stage);
        let mut loader = training.load(data, batch, conditions)?;
        while training.steps() < end && !stops {
            let ready = loader.next()?;
            training.keep_start()?;
            training.learn(&ready)?;
            loader.recycle(ready.drawn);
            let step = training.steps();
            let epoch_ends = (step - start).is_multiple_of(per_epoch);
            validation_loss = None;
            // Validation, and a copy of the best checkpoint.
            if epoch_ends {
                let loss = training.validate(&held_out)?;
                training.keep_if_best(loss)?;
                validation_loss = Some(loss);
            }
            if epoch_ends || step.is_multiple_of(METRICS_INTERVAL_STEPS) {
                training.report(validation_loss, observer)?;
            }
            stops = observer.wants_to_stop();
            let is_due = match conditions.checkpoint_steps {
                Some(steps) => step.is_multiple_of(steps),
                None => observer.wants_checkpoint(),
            };
            if epoch_ends || is_due || stops {
                training.save()?;
            }
            if epoch_ends {
                Views::write(folder, &recipe.name)?;
            }
        }
    }
    Views::write(folder, &recipe.name)?;
    // A stopped run, or one that had already ended, is validated now.
    let validation_loss = match validation_loss {
        Some(loss) => loss,
        None => training.validate(&held_out)?,
    };
    let saved = training.saved();
    let (state, progress) = training.finish();
    let held_out = held_out.iter().map(Batch::len).sum();
    let (parents, backend, best) = (progress.parents, progress.backend, progress.best);
    Ok(Finished { state, parents, backend, validation_loss, held_out, best, saved })
}

/// The result of a run so far, from one of its checkpoints.
///
/// # Errors
///
/// If there is no such checkpoint of this recipe and these data, or the held-out positions cannot
/// be read.
pub fn finished(
    recipe: &Recipe,
    data: &TrainingData,
    folder: &Folder,
    kept: Kept,
    threads: usize,
) -> Result<Finished, RunError> {
    let plan = Plan::new(recipe, data)?;
    let checkpoint = training::read(recipe, data, &plan, folder, kept)?;
    let last = recipe.stage(recipe.stages.len());
    let held_out = data.last().held_out(last.schedule.batch as usize)?;
    let (state, progress) = (checkpoint.state, checkpoint.progress);
    let mut backend = BackendKind::evaluating(&plan, state.net(), threads)?;
    let validation_loss = training::mean_loss(&mut *backend, plan.validation_loss(&last), &held_out);
    let held_out = held_out.iter().map(Batch::len).sum();
    let (parents, backend, best) = (progress.parents, progress.backend, progress.best);
    let saved = state.steps;
    Ok(Finished { state, parents, backend, validation_loss, held_out, best, saved })
}

/// The model's values of a batch, in its own unit.
///
/// # Errors
///
/// If the thread pool cannot be started.
pub fn values_of(plan: &Plan, values: &Arrays, batch: &Batch, threads: usize) -> Result<Vec<f32>, RunError> {
    let mut backend = BackendKind::evaluating(plan, values, threads)?;
    let mut found = Vec::new();
    let loss = Loss { exponent: 2.0, lambda: 1.0, scale: 1.0 };
    backend.evaluate(batch, loss, &mut found);
    Ok(found)
}
