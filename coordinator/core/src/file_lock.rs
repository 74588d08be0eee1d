//! Locks beside a database file. The system releases them when their process ends, however it ends.
//!
//! One coordinator serves with a database file. All validators share a second lock, so that the
//! first of them knows that the claims of others are of processes that were killed.

use std::{
    fs::{File, TryLockError},
    io,
    path::Path,
    time::Duration,
};

/// Pause between attempts at a lock that is held for a moment.
const PAUSE: Duration = Duration::from_millis(20);

/// A lock, held until it is dropped.
#[derive(Debug)]
pub struct FileLock(File);

impl FileLock {
    /// Opens the file of a lock beside a database file.
    fn open(database: &Path, name: &str) -> io::Result<Self> {
        let mut path = database.as_os_str().to_owned();
        path.push(name);
        File::options().create(true).truncate(false).write(true).open(path).map(Self)
    }

    /// Takes the lock of the serving coordinator, unless another one holds it.
    ///
    /// # Errors
    ///
    /// If the file of the lock cannot be used.
    pub fn serving(database: &Path) -> io::Result<Option<Self>> {
        let lock = Self::open(database, ".serving")?;
        Ok(lock.try_alone()?.then_some(lock))
    }

    /// Takes the lock of validators. `alone` runs before if no other validator holds it.
    ///
    /// # Errors
    ///
    /// If the file of the lock cannot be used, or `alone` fails.
    pub async fn validating<E: From<io::Error>>(
        database: &Path,
        alone: impl AsyncFn() -> Result<(), E>,
    ) -> Result<Self, E> {
        let lock = Self::open(database, ".validating")?;
        loop {
            if lock.try_alone()? {
                alone().await?;
                lock.0.unlock()?;
            }
            match lock.0.try_lock_shared() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::WouldBlock) => tokio::time::sleep(PAUSE).await,
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
        }
    }

    fn try_alone(&self) -> io::Result<bool> {
        match self.0.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}
