//! The run itself, in this process.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use client::Clock;
use protocol::{api::training::Progress, recipe::Recipe};

use super::{halt::Halt, lease::Lease, screen::Screen, wish::Wish};
use crate::{
    checkpoint::CheckpointError,
    command::Export,
    data::{DataError, TrainingData},
    run::{self, Conditions, Folder, Kept, Line, Observer, RunError, Views},
};

/// A run to be made.
pub(super) struct Work<'a> {
    pub(super) recipe: &'a Recipe,
    /// Its folder, with its training sets.
    pub(super) place: &'a Folder,
    /// Where the games are.
    pub(super) shards: &'a Path,
    pub(super) conditions: &'a Conditions,
}

/// What came of it, by files.
pub(super) struct Made {
    pub(super) net: PathBuf,
    pub(super) manifest: PathBuf,
    pub(super) curves: PathBuf,
}

impl Work<'_> {
    /// Learns from the last checkpoint on, and makes a net of what was learned.
    pub(super) fn run(
        &self,
        lease: &Lease,
        wish: &Wish,
        clock: &Arc<dyn Clock>,
        screen: &mut Screen,
    ) -> Result<Made, Halt> {
        let Self { recipe, place, conditions, .. } = *self;
        let data = TrainingData::open(recipe, &self.folder(), Some(self.shards), &BTreeSet::new());
        let data = data.map_err(not_to_be_read)?;
        let mut watcher = Watcher { lease, wish, clock, screen, steps: 0, from: None };
        let mut finished = run::train(recipe, &data, place, conditions, &mut watcher);
        if let Err(error) = &finished
            && is_of_another_run(error)
        {
            watcher.screen.state(&format!("beginning anew: {error}"));
            let _ = fs::remove_file(place.file("metrics.jsonl"));
            self.forget();
            finished = run::train(recipe, &data, place, conditions, &mut watcher);
        }
        let finished = finished.map_err(not_to_be_learned)?;
        let steps = finished.state.steps;
        if steps < recipe.schedule.steps() {
            screen.state(&format!("stopped at step {steps}; the same command goes on from there"));
            lease.check(wish)?;
            return Err(Halt::Stopped);
        }
        screen.state(&format!("learned: the held-out loss is {:.6} after {steps} steps", finished.validation_loss));
        let export = Export { recipe, data: &data, folder: place, threads: conditions.threads };
        export.write(&finished, Kept::Last, None)?;
        lease.check(wish)?;
        Ok(Made { net: place.file("net.nnue"), manifest: place.file("net.json"), curves: place.file(Views::CURVES) })
    }

    /// Takes away what only going on needs.
    pub(super) fn forget(&self) {
        // What cannot be taken away only takes room, or is found unfit again.
        for kept in [Kept::Last, Kept::Best] {
            let _ = fs::remove_file(self.place.checkpoint(kept));
        }
    }

    fn folder(&self) -> PathBuf {
        self.place.file("")
    }
}

/// Tells the coordinator and people how it goes.
struct Watcher<'a> {
    lease: &'a Lease,
    wish: &'a Wish,
    clock: &'a Arc<dyn Clock>,
    screen: &'a mut Screen,
    steps: u64,
    /// When this process began, and at which step.
    from: Option<(Duration, u64)>,
}

impl Observer for Watcher<'_> {
    fn begins(&mut self, step: u64, steps: u64) {
        self.steps = steps;
        self.from = Some((self.clock.now(), step));
        self.lease.set(Progress { step, steps, loss: None, validation_loss: None, positions_per_second: None });
        self.screen.state(&format!("learning from step {step} of {steps} on"));
    }

    fn reports(&mut self, line: &Line) {
        let (since, first) = self.from.unwrap_or_default();
        let seconds = self.clock.now().saturating_sub(since).as_secs_f64();
        let per_step = line.positions / line.step.max(1);
        let rate = (line.step.saturating_sub(first) * per_step) as f64 / seconds.max(1e-3);
        self.lease.set(Progress {
            step: line.step,
            steps: self.steps,
            loss: Some(line.loss).filter(|loss| loss.is_finite()),
            validation_loss: line.validation_loss.filter(|loss| loss.is_finite()),
            positions_per_second: Some(rate.round()),
        });
        let steps = self.steps;
        self.screen.now_and_then(|| {
            let held_out = line.validation_loss.map_or(String::new(), |loss| format!(", held out {loss:.6}"));
            let left = (steps.saturating_sub(line.step) * per_step) as f64 / rate.max(1.0);
            format!(
                "epoch {} step {} of {steps}: {rate:.0} positions/s, loss {:.6}{held_out}, {left:.0} s left",
                line.epoch, line.step, line.loss
            )
        });
    }

    fn wants_to_stop(&self) -> bool {
        self.wish.is_stop() || self.lease.is_lost()
    }
}

/// Whether a checkpoint that lies here is not one to go on from, though nothing else is wrong.
fn is_of_another_run(error: &RunError) -> bool {
    match error {
        RunError::OtherRun(_) | RunError::OtherLearner { .. } => true,
        RunError::Checkpoint(error) => {
            !matches!(error, CheckpointError::Unreadable { .. } | CheckpointError::Unwritable { .. })
        }
        RunError::Metrics(error) => matches!(error, run::MetricsError::NotMetrics { .. }),
        _ => false,
    }
}

fn not_to_be_read(error: DataError) -> Halt {
    match error {
        DataError::Unreadable { .. } => Halt::Broken(error.into()),
        // Whatever they are, they were fetched whole: others have the same.
        error => Halt::Impossible(format!("{:#}", anyhow::Error::from(error))),
    }
}

fn not_to_be_learned(error: RunError) -> Halt {
    match error {
        RunError::NotANumber { step, .. } => Halt::Impossible(format!("step {step}: the loss is no number")),
        RunError::Explosion { step, loss, times, best, .. } => Halt::Impossible(format!(
            "step {step}: the loss is {loss:.6}, more than {times} times the best so far, {best:.6}"
        )),
        RunError::Data(error) => not_to_be_read(error),
        RunError::Plan(error) => Halt::Impossible(error.to_string()),
        error => Halt::Broken(error.into()),
    }
}
