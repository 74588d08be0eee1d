//! Whoever watches a run.

use super::Line;

/// Somebody who is told how a run goes, and can stop it.
pub trait Observer {
    /// It begins, or goes on, after so many of so many steps.
    fn begins(&mut self, step: u64, steps: u64) {
        let _ = (step, steps);
    }

    /// A stretch of steps is done.
    fn reports(&mut self, line: &Line) {
        let _ = line;
    }

    /// Whether it shall stop after this step; it can be gone on with.
    fn wants_to_stop(&self) -> bool {
        false
    }
}

/// Nobody.
pub struct Silent;

impl Observer for Silent {}
