//! Why a run stopped.

use std::path::PathBuf;

use dataset::Digest;

use super::{MetricsError, PlanError, StartError};
use crate::{backend::BackendError, checkpoint::CheckpointError, data::DataError};

/// Why a run stopped.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum RunError {
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Backend(#[from] BackendError),
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error("`start`: {0}")]
    Start(StartError),
    #[error(
        "`start`: {} has the SHA-256 {found}; this run began with {recorded}: give it its own again, or name another folder",
        path.display()
    )]
    OtherStart { path: PathBuf, found: Digest, recorded: Digest },
    #[error(transparent)]
    Metrics(#[from] MetricsError),
    #[error("{}: {cause}", path.display())]
    View { path: PathBuf, cause: std::io::Error },
    #[error("{}: it is a checkpoint of another run, with other data or another recipe; name another folder, or remove this one", .0.display())]
    OtherRun(PathBuf),
    #[error("{}: it was learned by `{theirs}`, not by `{ours}`: name the same `--backend`, `--precision`, `--resident` and `--threads`", path.display())]
    OtherBackend { path: PathBuf, theirs: String, ours: String },
    #[error(
        "step {step}: {what} no number; {} is the last good checkpoint, at step {checkpoint}. A smaller learning rate may help",
        path.display()
    )]
    NotANumber { step: u64, what: &'static str, checkpoint: u64, path: PathBuf },
    #[error(
        "step {step}: the loss is {loss:.6}, more than {times} times the best so far, {best:.6}; {} is the last good checkpoint, at step {checkpoint}. A smaller learning rate may help",
        path.display()
    )]
    Explosion { step: u64, loss: f64, times: f64, best: f64, checkpoint: u64, path: PathBuf },
}

impl RunError {
    /// Whether training diverged, as opposed to bad input or a failing machine.
    #[must_use]
    pub const fn is_divergence(&self) -> bool {
        matches!(self, Self::NotANumber { .. } | Self::Explosion { .. })
    }
}
