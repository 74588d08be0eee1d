//! Training sets: a manifest and its shards.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use dataset::{
    Digest,
    manifest::{Entry, Manifest},
};
use protocol::api::path;

use crate::{connection::Client, error::Error};

/// The largest manifest: that of half a million shards.
const MAX_MANIFEST_BYTES: u64 = 256 << 20;

/// How a file came to be in its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchOutcome {
    /// It was there already, whole.
    AlreadyPresent,
    /// It was downloaded.
    Downloaded,
}

/// The path of a shard in a folder of shards.
#[must_use]
pub fn shard_file(folder: &Path, sha256: Digest) -> PathBuf {
    folder.join(format!("{sha256}.chuhe"))
}

impl Client {
    /// Downloads a training set's manifest to `into`, unless it is there.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub fn fetch_manifest(&self, sha256: Digest, into: &Path, mirror: Option<&str>) -> Result<Manifest, Error> {
        if !is_whole(into, sha256)? {
            self.fetch(&path::manifest(sha256), sha256, MAX_MANIFEST_BYTES, into, mirror)?;
        }
        let failed = |source| Error::Storage { path: into.to_owned(), source };
        let text = fs::read_to_string(into).map_err(failed)?;
        Manifest::from_text(&text).map_err(|error| Error::malformed(&self.context("reading a manifest"), error))
    }

    /// Downloads a shard of a manifest into a folder, unless it is there and whole.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub fn fetch_shard(&self, entry: &Entry, folder: &Path, mirror: Option<&str>) -> Result<FetchOutcome, Error> {
        let digest = entry.sha256.parse::<Digest>();
        let sha256 = digest.map_err(|error| Error::malformed(&self.context("reading a manifest"), error))?;
        let into = shard_file(folder, sha256);
        if is_whole(&into, sha256)? {
            return Ok(FetchOutcome::AlreadyPresent);
        }
        self.fetch(&path::shard(sha256), sha256, entry.bytes, &into, mirror)?;
        Ok(FetchOutcome::Downloaded)
    }
}

/// Whether the file exists with this hash. A file with another hash is deleted.
fn is_whole(path: &Path, sha256: Digest) -> Result<bool, Error> {
    let failed = |source| Error::Storage { path: path.to_owned(), source };
    match fs::read(path) {
        Ok(bytes) if Digest::of(&bytes) == sha256 => Ok(true),
        Ok(_) => fs::remove_file(path).map(|()| false).map_err(failed),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(failed(error)),
    }
}
