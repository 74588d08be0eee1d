//! Where a run's files are.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The folder of a run.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

/// One of the two nets that a run keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// That of the last step.
    Last,
    /// That of the epoch whose end had the least held-out loss.
    Best,
}

impl Kept {
    /// What its net, manifest and card are called, but for what follows the dot.
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

    /// The path of one of its files.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The recipe with every default.
    #[must_use]
    pub fn recipe(&self) -> PathBuf {
        self.file("recipe.toml")
    }

    /// The figures.
    #[must_use]
    pub fn metrics(&self) -> PathBuf {
        self.file("metrics.jsonl")
    }

    /// Where it stands, or stood when it was best.
    #[must_use]
    pub fn checkpoint(&self, kept: Kept) -> PathBuf {
        self.file(match kept {
            Kept::Last => "checkpoint.safetensors",
            Kept::Best => "best.safetensors",
        })
    }

    /// Its net, or what is said of that: `nnue`, `json` or `md`.
    #[must_use]
    pub fn net(&self, kept: Kept, ending: &str) -> PathBuf {
        self.file(&format!("{}.{ending}", kept.name()))
    }

    /// Takes away checkpoints that a killed process had not finished; nobody else may be at work on the run.
    pub(super) fn clear(&self) {
        let kept = [Kept::Last, Kept::Best].map(|kept| self.checkpoint(kept));
        let names = kept.each_ref().map(|path| format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy()));
        // Whatever cannot be found or taken away only takes room.
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let unfinished = path.extension().is_some_and(|ending| ending == "part");
            if unfinished && names.iter().any(|begin| name.starts_with(begin)) {
                let _ = fs::remove_file(path);
            }
        }
    }

    /// Whether a run has begun here.
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
