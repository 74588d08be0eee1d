//! Submissions that the server will never accept, each with the reason.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use dataset::{AtomicFile, Digest};

use crate::state;

/// Maximum reasons of rejections without games: a server that rejects without end must not fill the
/// disk.
const MAX_REASONS: usize = 500;

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
        self.note(&shard.to_string(), reason)?;
        self.limit_reasons()
    }

    /// Removes the oldest reasons beyond a number. Those beside games stay.
    fn limit_reasons(&self) -> io::Result<()> {
        let names = self.names()?;
        if names.len() <= MAX_REASONS {
            return Ok(());
        }
        let mut alone = Vec::new();
        for name in names {
            let path = self.0.join(format!("{name}.txt"));
            if !self.0.join(format!("{name}.chuhe")).try_exists()? {
                alone.push((fs::metadata(&path)?.modified()?, path));
            }
        }
        alone.sort();
        let extra = alone.len().saturating_sub(MAX_REASONS);
        alone.into_iter().take(extra).try_for_each(|(_, path)| fs::remove_file(path))
    }

    fn note(&self, name: &str, reason: &str) -> io::Result<()> {
        AtomicFile::replace(self.0.join(format!("{name}.txt")), format!("{reason}\n").as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_without_games_are_limited() {
        let folder = tempfile::tempdir().expect("a folder can be created");
        let refused = Refused::open(folder.path()).expect("it can be opened");
        refused.put("games", b"games", "no").expect("it can be written");
        for number in 0..MAX_REASONS + 7 {
            let shard = Digest::of(&number.to_le_bytes());
            refused.put_reason(shard, "illegal_move").expect("it can be written");
        }
        let names = refused.names().expect("they can be read");
        assert_eq!(names.len(), MAX_REASONS + 1);
        let last = Digest::of(&(MAX_REASONS + 6).to_le_bytes()).to_string();
        assert!(names.contains(&"games".to_owned()) && names.contains(&last), "games and the newest reasons stay");
    }
}
