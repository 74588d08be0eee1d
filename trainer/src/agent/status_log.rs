//! The agent's log for people: a line for each state, and throttled lines while a state lasts.

use std::{
    io::{Write as _, stderr},
    sync::Arc,
    time::Duration,
};

use client::Clock;

/// Minimum interval of throttled lines.
const MIN_INTERVAL: Duration = Duration::from_secs(30);

/// A log on standard error.
pub(super) struct StatusLog {
    clock: Arc<dyn Clock>,
    last_state: String,
    last_line_at: Duration,
}

impl StatusLog {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { last_line_at: clock.now(), clock, last_state: String::new() }
    }

    /// Logs a new state; repetitions are dropped.
    pub(super) fn state(&mut self, line: &str) {
        if line != self.last_state {
            line.clone_into(&mut self.last_state);
            self.write_line(line);
        }
    }

    /// Logs a line unless another was written within [`MIN_INTERVAL`].
    pub(super) fn throttled(&mut self, line: impl FnOnce() -> String) {
        if self.clock.now().saturating_sub(self.last_line_at) >= MIN_INTERVAL {
            self.write_line(&line());
        }
    }

    fn write_line(&mut self, line: &str) {
        self.last_line_at = self.clock.now();
        // A closed standard error is no reason to stop.
        let _ = writeln!(stderr(), "chuhe-trainer: {}", line.replace('\n', " "));
    }
}
