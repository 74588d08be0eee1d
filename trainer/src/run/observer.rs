//! Observers of a run.

use super::Line;

/// An observer of a run's progress, which can stop the run.
pub trait Observer {
    /// The run begins or resumes after `step` of `steps` steps.
    fn begins(&mut self, step: u64, steps: u64) {
        let _ = (step, steps);
    }

    /// A line of metrics was written.
    fn reports(&mut self, line: &Line) {
        let _ = line;
    }

    /// Whether the run shall stop after this step. It can be resumed.
    fn wants_to_stop(&self) -> bool {
        false
    }
}

/// An observer that does nothing.
pub struct Silent;

impl Observer for Silent {}
