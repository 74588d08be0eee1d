//! What an agent tells people: a line for each state, and now and then one while a state lasts.

use std::{
    io::{Write as _, stderr},
    sync::Arc,
    time::Duration,
};

use client::Clock;

/// While a state lasts, lines come at most so often.
const PAUSE: Duration = Duration::from_secs(30);

/// Standard error.
pub(super) struct Screen {
    clock: Arc<dyn Clock>,
    last: String,
    said_at: Duration,
}

impl Screen {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { said_at: clock.now(), clock, last: String::new() }
    }

    /// A new state; the same again is not said twice.
    pub(super) fn state(&mut self, line: &str) {
        if line != self.last {
            line.clone_into(&mut self.last);
            self.say(line);
        }
    }

    /// A line about a state that lasts, if there was none for a while.
    pub(super) fn now_and_then(&mut self, line: impl FnOnce() -> String) {
        if self.clock.now().saturating_sub(self.said_at) >= PAUSE {
            self.say(&line());
        }
    }

    fn say(&mut self, line: &str) {
        self.said_at = self.clock.now();
        // Whoever closed standard error does not want to know.
        let _ = writeln!(stderr(), "chuhe-trainer: {}", line.replace('\n', " "));
    }
}
