//! Observers of a run.

use protocol::recipe::Recipe;

use super::Line;

/// Seconds between checkpoints, unless steps are counted.
pub(crate) const CHECKPOINT_SECONDS: u64 = 60;

/// An observer of a run's progress, which can stop the run.
pub trait Observer {
    /// The run begins, or resumes after `step` steps.
    fn begins(&mut self, recipe: &Recipe, step: u64) {
        let _ = (recipe, step);
    }

    /// A line of metrics was written.
    fn reports(&mut self, line: &Line) {
        let _ = line;
    }

    /// Whether a checkpoint is due after this step, by the observer's clock. It is asked where a
    /// run has no fixed number of steps between checkpoints.
    fn wants_checkpoint(&mut self) -> bool {
        false
    }

    /// Whether the run shall stop after this step. It can be resumed.
    fn wants_to_stop(&self) -> bool {
        false
    }
}

/// An observer that does nothing.
pub struct Silent;

impl Observer for Silent {}
