//! Where a run's files are.

use std::path::{Path, PathBuf};

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
