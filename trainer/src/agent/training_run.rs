//! The run itself, in this process.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use client::Clock;
use nnue::NetError;
use protocol::{api::training::Progress, recipe::Recipe};

use super::{lease::Lease, status_log::StatusLog, stop_reason::StopReason, stop_signal::StopSignal};
use crate::{
    checkpoint::CheckpointError,
    command::Export,
    data::{DataError, Fetch, TrainingData},
    export::ExportError,
    run::{self, CHECKPOINT_SECONDS, Conditions, Folder, Kept, Line, Observer, RunError, StartError, Views},
};

/// A run of one training.
pub(super) struct TrainingRun<'a> {
    pub(super) recipe: &'a Recipe,
    /// The folder of the run and its manifests.
    pub(super) folder: &'a Folder,
    /// The folder of shards.
    pub(super) shards: &'a Path,
    pub(super) conditions: Conditions,
    /// Where shards of a streamed recipe come from.
    pub(super) fetch: Option<Fetch>,
}

/// The files to upload.
pub(super) struct Artifacts {
    pub(super) net: PathBuf,
    pub(super) manifest: PathBuf,
    pub(super) curves: PathBuf,
}

impl TrainingRun<'_> {
    /// Trains from the last checkpoint on, and exports the net.
    pub(super) fn run(
        &self,
        lease: &Lease,
        stop: &StopSignal,
        clock: &Arc<dyn Clock>,
        log: &mut StatusLog,
    ) -> Result<Artifacts, StopReason> {
        let Self { recipe, folder, mut conditions, .. } = *self;
        let data = TrainingData::open_or_fetch(
            recipe,
            &self.folder.file(""),
            Some(self.shards),
            &BTreeSet::new(),
            self.fetch.as_ref(),
        );
        let data = data.map_err(classify_data_error)?;
        if conditions.resident && data.check_resident().is_err() {
            log.state("its positions are not kept on the device: the set is streamed, or has shares");
            conditions.resident = false;
        }
        let mut observer = ProgressObserver {
            lease,
            stop,
            clock,
            log,
            steps: 0,
            started: None,
            positions: 0,
            checkpoint: clock.now(),
        };
        let mut finished = run::train(recipe, &data, folder, &conditions, &mut observer);
        if let Err(error) = &finished
            && is_of_another_run(error)
        {
            observer.log.state(&format!("starting over: {error}"));
            let _ = fs::remove_file(folder.file("metrics.jsonl"));
            self.remove_checkpoints();
            finished = run::train(recipe, &data, folder, &conditions, &mut observer);
        }
        let finished = finished.map_err(classify_run_error)?;
        let steps = finished.state.steps;
        if steps < recipe.steps() {
            log.state(&format!("stopped at step {steps}; the same command resumes from there"));
            lease.check(stop)?;
            return Err(StopReason::Requested);
        }
        log.state(&format!("trained: the held-out loss is {:.6} after {steps} steps", finished.validation_loss));
        let export = Export { recipe, data: &data, folder, threads: conditions.threads };
        export.write(&finished, Kept::Last, None).map_err(classify_export_error)?;
        lease.check(stop)?;
        Ok(Artifacts {
            net: folder.file("net.nnue"),
            manifest: folder.file("net.json"),
            curves: folder.file(Views::CURVES),
        })
    }

    /// Removes the checkpoints, which only a resumed run needs.
    pub(super) fn remove_checkpoints(&self) {
        // A file that cannot be removed only takes space, or is found unfit again.
        for kept in [Kept::Last, Kept::Best] {
            let _ = fs::remove_file(self.folder.checkpoint(kept));
        }
    }
}

/// Reports progress to the coordinator and to the log.
struct ProgressObserver<'a> {
    lease: &'a Lease,
    stop: &'a StopSignal,
    clock: &'a Arc<dyn Clock>,
    log: &'a mut StatusLog,
    steps: u64,
    /// When this process started, and the positions before.
    started: Option<(Duration, u64)>,
    /// The positions of the whole run.
    positions: u64,
    /// When the last checkpoint was due.
    checkpoint: Duration,
}

impl Observer for ProgressObserver<'_> {
    fn begins(&mut self, recipe: &Recipe, step: u64) {
        let steps = recipe.steps();
        self.steps = steps;
        self.positions = recipe.positions(steps);
        self.started = Some((self.clock.now(), recipe.positions(step)));
        self.lease.set_progress(Progress {
            step,
            steps,
            loss: None,
            validation_loss: None,
            positions_per_second: None,
        });
        self.log.state(&format!("training from step {step} of {steps}"));
    }

    fn reports(&mut self, line: &Line) {
        let (since, before) = self.started.unwrap_or_default();
        let seconds = self.clock.now().saturating_sub(since).as_secs_f64();
        let rate = line.positions.saturating_sub(before) as f64 / seconds.max(1e-3);
        self.lease.set_progress(Progress {
            step: line.step,
            steps: self.steps,
            loss: Some(line.loss).filter(|loss| loss.is_finite()),
            validation_loss: line.validation_loss.filter(|loss| loss.is_finite()),
            positions_per_second: Some(rate.round()),
        });
        let (steps, all) = (self.steps, self.positions);
        self.log.throttled(|| {
            let held_out = line.validation_loss.map_or(String::new(), |loss| format!(", held out {loss:.6}"));
            let left = all.saturating_sub(line.positions) as f64 / rate.max(1.0);
            format!(
                "epoch {} step {} of {steps}: {rate:.0} positions/s, loss {:.6}{held_out}, {left:.0} s left",
                line.epoch, line.step, line.loss
            )
        });
    }

    fn wants_checkpoint(&mut self) -> bool {
        let now = self.clock.now();
        let is_due = now.saturating_sub(self.checkpoint).as_secs() >= CHECKPOINT_SECONDS;
        if is_due {
            self.checkpoint = now;
        }
        is_due
    }

    fn wants_to_stop(&self) -> bool {
        self.stop.is_requested() || self.lease.is_lost()
    }
}

/// Whether the folder holds another run's checkpoint, and nothing else is wrong.
fn is_of_another_run(error: &RunError) -> bool {
    match error {
        RunError::OtherRun(_) | RunError::OtherBackend { .. } => true,
        RunError::Checkpoint(error) => {
            !matches!(error, CheckpointError::Unreadable { .. } | CheckpointError::Unwritable { .. })
        }
        RunError::Metrics(error) => matches!(error, run::MetricsError::NotMetrics { .. }),
        _ => false,
    }
}

fn classify_data_error(error: DataError) -> StopReason {
    let is_local = match &error {
        DataError::Unreadable { .. } => true,
        DataError::Manifest { source, .. } => source.is_local(),
        DataError::Reading(source) => source.is_local(),
        // The files were downloaded whole, so other agents have the same.
        _ => false,
    };
    let error = anyhow::Error::from(error);
    if is_local { StopReason::LocalFailure(error) } else { StopReason::Impossible(format!("{error:#}")) }
}

fn classify_run_error(error: RunError) -> StopReason {
    match error {
        RunError::NotANumber { step, .. } => StopReason::Impossible(format!("step {step}: the loss is no number")),
        RunError::Explosion { step, loss, times, best, .. } => StopReason::Impossible(format!(
            "step {step}: the loss is {loss:.6}, more than {times} times the best so far, {best:.6}"
        )),
        RunError::Data(error) => classify_data_error(error),
        RunError::Plan(error) => StopReason::Impossible(error.to_string()),
        // The net was downloaded whole, so it is of another shape.
        RunError::Start(error @ (StartError::Net { .. } | StartError::Checkpoint(_))) => {
            StopReason::Impossible(format!("the recipe: {error}"))
        }
        error => StopReason::LocalFailure(error.into()),
    }
}

/// A net that no integers can hold is the recipe's; a full disk is this machine's.
fn classify_export_error(error: anyhow::Error) -> StopReason {
    match error.downcast() {
        Ok(error) => classify_data_error(error),
        Err(error) if error.is::<ExportError>() || error.is::<NetError>() => {
            StopReason::Impossible(format!("{error:#}"))
        }
        Err(error) => StopReason::LocalFailure(error),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use dataset::{
        manifest::{Manifest, ManifestError},
        shard::ShardError,
        training::TrainingError,
    };

    use super::*;
    use crate::{backend::BackendError, model::Array};

    /// Too many open files.
    fn io_error() -> io::Error {
        io::Error::from_raw_os_error(24)
    }

    fn is_back(reason: StopReason) -> bool {
        match reason {
            StopReason::LocalFailure(_) => true,
            StopReason::Impossible(_) => false,
            other => panic!("{other:?}"),
        }
    }

    fn is_given_back(error: DataError) -> bool {
        is_back(classify_data_error(error))
    }

    #[test]
    fn an_unreadable_file_gives_the_training_back() {
        let path = || PathBuf::from("games");
        let in_manifest = |source| DataError::Manifest { manifest: path(), source };
        let unreadable = ManifestError::Unreadable { path: path(), source: io_error() };
        let shard = |cause| ManifestError::Shard { path: path(), source: cause };
        let within = |cause| ManifestError::In { path: path(), cause: Box::new(cause) };
        let reading = |cause| DataError::Reading(TrainingError::Shard { set: 0, shard: 0, cause });
        assert!(is_given_back(DataError::Unreadable { path: path(), source: io_error() }));
        assert!(is_given_back(in_manifest(within(unreadable))));
        assert!(is_given_back(in_manifest(shard(ShardError::Io(io_error())))));
        assert!(is_given_back(reading(ShardError::Io(io_error()))));

        assert!(!is_given_back(in_manifest(within(shard(ShardError::NotAShard)))));
        assert!(!is_given_back(reading(ShardError::DamagedHead)));
        assert!(!is_given_back(DataError::TooSmall { found: 1, least: 2 }));
        // The coordinator offers a set of which it lacks a shard.
        assert!(!is_given_back(reading(ShardError::NotServed("no such shard".to_owned()))));
    }

    #[test]
    fn a_failing_machine_gives_a_run_back_and_a_diverging_run_is_given_up() {
        let path = || PathBuf::from("run");
        let full = || io::Error::from_raw_os_error(28);
        for error in [
            RunError::Backend(BackendError::Threads("no memory".into())),
            RunError::Checkpoint(CheckpointError::Unwritable { path: path(), cause: full() }),
            RunError::Metrics(run::MetricsError::File { path: path(), cause: full() }),
            RunError::View { path: path(), cause: full() },
            RunError::Data(DataError::Unreadable { path: path(), source: io_error() }),
        ] {
            let text = error.to_string();
            assert!(is_back(classify_run_error(error)), "{text}");
        }
        let diverged = RunError::NotANumber { step: 1, what: "the loss is", checkpoint: 0, path: path() };
        assert!(!is_back(classify_run_error(diverged)));
        let unreadable = StartError::Unreadable { path: path(), cause: io_error() };
        assert!(is_back(classify_run_error(RunError::Start(unreadable))));
        let other_shape = StartError::Net { path: path(), cause: NetError::Foreign };
        assert!(!is_back(classify_run_error(RunError::Start(other_shape))));
        assert!(!is_back(classify_run_error(RunError::Data(DataError::NothingHeldOut))));
    }

    #[test]
    fn a_net_without_integers_is_given_up_and_a_full_disk_gives_it_back() {
        let no_number = ExportError::NotANumber { array: Array::First, place: 0 };
        assert!(!is_back(classify_export_error(no_number.into())));
        assert!(!is_back(classify_export_error(DataError::NothingHeldOut.into())));
        assert!(is_back(classify_export_error(io::Error::from_raw_os_error(28).into())));
        let named = anyhow::Error::from(io_error()).context("net.nnue");
        assert!(is_back(classify_export_error(named)));
    }

    /// A folder has the shard's name.
    #[test]
    fn an_unreadable_shard_of_a_manifest_is_local() {
        let folder = tempfile::tempdir().unwrap();
        let error = Manifest::of_files(&[folder.path()]).unwrap_err();
        assert!(error.is_local(), "{error}");
    }
}
