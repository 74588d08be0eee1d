//! Shards as files.

use std::path::{Path, PathBuf};

use super::{FileSource, Shard, ShardError};

/// The error for a file that is not a shard.
#[derive(Debug, thiserror::Error)]
#[error("{}", path.display())]
pub struct OpenError {
    /// The path of the shard.
    pub path: PathBuf,
    /// The reason why it cannot be read.
    pub source: ShardError,
}

/// Opens a shard's file.
///
/// # Errors
///
/// If it cannot be read or is no shard.
pub fn open(path: impl AsRef<Path>) -> Result<Shard<FileSource>, OpenError> {
    let path = path.as_ref();
    let shard = FileSource::open(path).map_err(ShardError::from).and_then(Shard::new);
    shard.map_err(|source| OpenError { path: path.to_owned(), source })
}
