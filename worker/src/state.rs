//! The folder in which a worker keeps what must outlive it.
//!
//! ```text
//! lock          held while a worker runs
//! asking        the word of a question for games that may not have been answered
//! leases/       leases that are being played: NAME.lease, and NAME.games with what is finished of them
//! outbox/       results that the server has not thanked for: NAME.result
//! refused/      results that it will never take, each with the reason
//! nets/ books/  files by their hashes
//! selftest.json what this program was found to compute on this machine
//! status.json   what it is doing; paused: it shall do nothing
//! ```

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use dataset::Digest;

/// The folder, held by this process alone.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    _lock: File,
}

impl Folder {
    /// Takes a folder; it is made if it is not there. Others cannot look into it: leases are secrets.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or another worker has it.
    pub fn take(root: &Path) -> Result<Self> {
        let named = || root.display().to_string();
        make_private(root).with_context(named)?;
        for name in ["leases", "outbox", "refused", "nets", "books"] {
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

    /// Whether a worker runs with a folder.
    ///
    /// # Errors
    ///
    /// If whoever asks may not look: the folder is its worker's alone.
    pub fn is_taken(root: &Path) -> io::Result<bool> {
        match File::open(lock_of(root)) {
            Ok(lock) => Ok(matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The folder itself.
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

    pub(crate) fn lease(&self, name: &str) -> PathBuf {
        self.root.join("leases").join(format!("{name}.lease"))
    }

    pub(crate) fn games(&self, name: &str) -> PathBuf {
        self.root.join("leases").join(format!("{name}.games"))
    }
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

/// Takes a file away for good, if it is there.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    sync_folder_of(path)
}

/// Makes a file's name safe, or that it has none any more. Windows has no such thing.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if cfg!(unix) => File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

/// The names of the files in a folder that end so, without the ending, in order. Leftovers of a crash are not among them.
pub(crate) fn names(folder: &Path, ending: &str) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let name = name.to_str().and_then(|name| name.strip_suffix(ending));
        names.extend(name.filter(|name| !name.starts_with('.')).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// Takes away what a crash left unfinished: the folder's files that never got their names. What should have been in them
/// is still where it came from.
pub(crate) fn sweep(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.strip_prefix('.').and_then(|name| name.strip_suffix(".part")).is_some() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
