//! Progress of a run: a bar on a terminal, plain lines elsewhere.

use std::{
    io::{IsTerminal as _, Write as _, stderr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use protocol::recipe::Recipe;

use crate::run::{CHECKPOINT_SECONDS, Line, Observer};

/// Minimum interval of plain lines; the end of an epoch always prints one.
const MIN_INTERVAL: Duration = Duration::from_secs(30);

/// Signals that are nearer to the first one are the same.
const MIN_SIGNAL_INTERVAL: Duration = Duration::from_secs(1);

/// An observer that prints to standard error.
pub(super) struct Terminal {
    bar: Option<ProgressBar>,
    quiet: bool,
    steps: u64,
    stop: Arc<AtomicBool>,
    begun: Clock,
    last: Clock,
    checkpoint: Clock,
    /// Positions before this process, and of the whole run.
    positions: (u64, u64),
    rate: f64,
    validation: Option<f64>,
}

#[derive(Clone, Copy)]
struct Clock(Instant);

#[allow(clippy::disallowed_methods, reason = "this is the edge: no result depends on it")]
impl Clock {
    fn now() -> Self {
        Self(Instant::now())
    }

    fn passed(self) -> Duration {
        self.0.elapsed()
    }
}

impl Terminal {
    pub(super) fn new(quiet: bool) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let mut first = None;
        // The second interrupt kills, as it would without a handler. A terminal, and what started
        // this process, may send the first one twice.
        let handler = move || {
            flag.store(true, Ordering::Relaxed);
            if first.get_or_insert_with(Clock::now).passed() >= MIN_SIGNAL_INTERVAL {
                std::process::exit(130);
            }
        };
        // Without a handler an interrupt kills at once, and the run resumes from its last
        // checkpoint.
        let _ = ctrlc::set_handler(handler);
        let now = Clock::now();
        let (bar, validation) = (None, None);
        Self {
            bar,
            quiet,
            steps: 0,
            stop,
            begun: now,
            last: now,
            checkpoint: now,
            positions: (0, 0),
            rate: 0.0,
            validation,
        }
    }

    pub(super) fn was_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish();
        }
    }
}

impl Observer for Terminal {
    fn begins(&mut self, recipe: &Recipe, step: u64) {
        let steps = recipe.steps();
        self.steps = steps;
        self.begun = Clock::now();
        (self.last, self.checkpoint) = (self.begun, self.begun);
        self.positions = (recipe.positions(step), recipe.positions(steps));
        if !self.quiet && stderr().is_terminal() {
            let bar = ProgressBar::new(steps).with_position(step);
            let style = ProgressStyle::with_template("{bar:30} step {pos} of {len}, {eta} left | {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            self.bar = Some(bar);
        }
    }

    fn reports(&mut self, line: &Line) {
        let (before, all) = self.positions;
        let seconds = self.begun.passed().as_secs_f64();
        self.rate = line.positions.saturating_sub(before) as f64 / seconds.max(1e-9);
        self.validation = line.validation_loss.or(self.validation);
        let validation = self.validation.map_or(String::new(), |loss| format!(", held out {loss:.6}"));
        let message = format!(
            "{:.0} positions/s, loss {:.6}{validation}, learning rate {:.2e}",
            self.rate, line.loss, line.learning_rate
        );
        if let Some(bar) = &self.bar {
            bar.set_position(line.step);
            bar.set_message(message);
        } else if !self.quiet && (line.validation_loss.is_some() || self.last.passed() >= MIN_INTERVAL) {
            self.last = Clock::now();
            let left = all.saturating_sub(line.positions) as f64 / self.rate.max(1.0);
            // A closed standard error is no reason to stop.
            let _ = writeln!(
                stderr(),
                "epoch {} step {} of {}: {message}, {left:.0} s left",
                line.epoch,
                line.step,
                self.steps
            );
        }
    }

    fn wants_checkpoint(&mut self) -> bool {
        let is_due = self.checkpoint.passed().as_secs() >= CHECKPOINT_SECONDS;
        if is_due {
            self.checkpoint = Clock::now();
        }
        is_due
    }

    fn wants_to_stop(&self) -> bool {
        self.was_stopped()
    }
}
