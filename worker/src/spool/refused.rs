//! Submissions that the server will never accept, each with the reason.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use dataset::{AtomicFile, Digest};

use crate::state;

/// The folder `refused`.
#[derive(Clone, Debug)]
pub struct Refused(PathBuf);

impl Refused {
    /// Opens the folder in a state folder and removes the partial files of a crash.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn open(root: &Path) -> io::Result<Self> {
        let folder = root.join("refused");
        fs::create_dir_all(&folder)?;
        state::sweep(&folder)?;
        Ok(Self(folder))
    }

    /// Returns the names of all refused submissions.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub fn names(&self) -> io::Result<Vec<String>> {
        state::names(&self.0, ".txt")
    }

    /// Keeps a submission with the reason, durably.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn put(&self, name: &str, bytes: &[u8], reason: &str) -> io::Result<()> {
        AtomicFile::replace(self.0.join(format!("{name}.chuhe")), bytes)?;
        self.note(name, reason)
    }

    /// Records the reason why an acknowledged shard was rejected later.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn put_reason(&self, shard: Digest, reason: &str) -> io::Result<()> {
        self.note(&shard.to_string(), reason)
    }

    fn note(&self, name: &str, reason: &str) -> io::Result<()> {
        AtomicFile::replace(self.0.join(format!("{name}.txt")), format!("{reason}\n").as_bytes())
    }
}
