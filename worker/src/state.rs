//! State folder: the worker's durable state.
//!
//! ```text
//! lock          held while a worker runs
//! asking        request for a lease that may have no response yet
//! spool/        leases with their finished games, until the server has acknowledged them
//! refused/      results that it will never accept and unusable files, each with the reason
//! nets/ books/  cached files, named by their hashes
//! server        the last server that knew this worker's account
//! selftest.json result of the last self-test
//! status.json   snapshot of the status; paused: pauses the worker while it exists
//! ```

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use dataset::{AtomicFile, Digest};

/// State folder, locked by this process.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    _lock: File,
}

impl Folder {
    /// Creates and locks a folder. It is private: leases are secrets.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or another worker holds the lock.
    pub fn lock(root: &Path) -> Result<Self> {
        let named = || root.display().to_string();
        let unusable = || format!("the state folder {} cannot be used (`--state DIR` names another)", root.display());
        make_private(root).map_err(as_file).with_context(unusable)?;
        for name in ["spool", "refused", "nets", "books"] {
            fs::create_dir_all(root.join(name)).with_context(|| root.join(name).display().to_string())?;
        }
        let lock = File::create(lock_of(root)).with_context(|| lock_of(root).display().to_string())?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { root: root.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => {
                bail!("{}: another worker runs with this folder; `--state DIR` gives this one another", named())
            }
            Err(TryLockError::Error(error)) => Err(error).with_context(named),
        }
    }

    /// Returns whether a worker holds the lock.
    ///
    /// # Errors
    ///
    /// If the folder may not be read: it is private to its worker's user.
    pub fn is_locked(root: &Path) -> io::Result<bool> {
        match File::open(lock_of(root)) {
            Ok(lock) => Ok(matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns whether a server has ever known the account of a worker with this folder.
    #[must_use]
    pub fn has_had_contact(&self) -> bool {
        contact_of(&self.root).exists()
    }

    /// Records that a server knows this worker's account. If that fails, the next contact is
    /// recorded.
    pub fn record_contact(root: &Path, server: &str) {
        if fs::read(contact_of(root)).ok().as_deref() != Some(server.as_bytes()) {
            let _ = AtomicFile::replace(contact_of(root), server.as_bytes());
        }
    }

    /// Returns the folder's path.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn net(&self, hash: Digest) -> PathBuf {
        self.root.join("nets").join(hash.to_string())
    }

    pub(crate) fn book(&self, hash: Digest) -> PathBuf {
        self.root.join("books").join(hash.to_string())
    }
}

fn contact_of(root: &Path) -> PathBuf {
    root.join("server")
}

fn lock_of(root: &Path) -> PathBuf {
    root.join("lock")
}

fn make_private(root: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(root)
}

/// Names a file that is in the place of a folder.
fn as_file(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::AlreadyExists { io::Error::new(error.kind(), "it is a file") } else { error }
}

/// Names the file in an error.
pub(crate) fn at<T>(path: &Path, result: io::Result<T>) -> io::Result<T> {
    result.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// Reads a file; none if there is none.
pub(crate) fn read_if_exists(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => at(path, read.map(Some)),
    }
}

/// Deletes a file durably, if it exists.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return at(path, Err(error)),
        _ => {}
    }
    sync_folder_of(path)
}

/// Syncs the folder of a file, so that its name or its deletion is durable. No-op on Windows.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if cfg!(unix) => at(folder, File::open(folder).and_then(|folder| folder.sync_all())),
        _ => Ok(()),
    }
}

/// Returns the names of the files with an extension, without it, sorted. Partial files are skipped.
pub(crate) fn names(folder: &Path, extension: &str) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in at(folder, fs::read_dir(folder))? {
        let name = at(folder, entry)?.file_name();
        let name = name.to_str().and_then(|name| name.strip_suffix(extension));
        names.extend(name.filter(|name| !name.starts_with('.')).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// Deletes the partial files of a crash. Their source still has the content.
pub(crate) fn sweep(folder: &Path) -> io::Result<()> {
    for entry in at(folder, fs::read_dir(folder))? {
        let entry = at(folder, entry)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.strip_prefix('.').and_then(|name| name.strip_suffix(".part")).is_some() {
            at(&entry.path(), fs::remove_file(entry.path()))?;
        }
    }
    Ok(())
}
