//! The files of a run.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The folder of a run.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

/// The two checkpoints that a run keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The last checkpoint.
    Last,
    /// The checkpoint of the epoch with the least held-out loss.
    Best,
}

impl Kept {
    /// The file stem of its net, manifest and card.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Last => "net",
            Self::Best => "best",
        }
    }
}

impl Folder {
    /// The folder of a run.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The path of a file.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The recipe with every default.
    #[must_use]
    pub fn recipe(&self) -> PathBuf {
        self.file("recipe.toml")
    }

    /// The metrics.
    #[must_use]
    pub fn metrics(&self) -> PathBuf {
        self.file("metrics.jsonl")
    }

    /// The last or the best checkpoint.
    #[must_use]
    pub fn checkpoint(&self, kept: Kept) -> PathBuf {
        self.file(match kept {
            Kept::Last => "checkpoint.safetensors",
            Kept::Best => "best.safetensors",
        })
    }

    /// The net, its manifest or its card, by extension: `nnue`, `json` or `md`.
    #[must_use]
    pub fn net(&self, kept: Kept, ending: &str) -> PathBuf {
        self.file(&format!("{}.{ending}", kept.name()))
    }

    /// Removes partial checkpoints of a killed process. The caller holds the run's lock.
    pub(super) fn remove_partial_checkpoints(&self) {
        let kept = [Kept::Last, Kept::Best].map(|kept| self.checkpoint(kept));
        let names = kept.each_ref().map(|path| format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy()));
        // A file that cannot be removed only takes space.
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let unfinished = path.extension().is_some_and(|ending| ending == "part");
            if unfinished && names.iter().any(|begin| name.starts_with(begin)) {
                let _ = fs::remove_file(path);
            }
        }
    }

    /// Whether the folder holds a checkpoint.
    #[must_use]
    pub fn is_run(&self) -> bool {
        self.checkpoint(Kept::Last).exists()
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}
