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

/// A manifest has at most so many bytes: that of half a million shards.
const MOST_MANIFEST_BYTES: u64 = 256 << 20;

/// What was done for a file to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// It was there, whole.
    Before,
    /// It was fetched.
    Now,
}

/// The file of a shard in a folder of shards.
#[must_use]
pub fn shard_file(folder: &Path, sha256: Digest) -> PathBuf {
    folder.join(format!("{sha256}.chuhe"))
}

impl Client {
    /// Brings a training set's manifest to `into`, unless it is there.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    pub fn fetch_manifest(&self, sha256: Digest, into: &Path, mirror: Option<&str>) -> Result<Manifest, Error> {
        if !is_whole(into, sha256)? {
            self.fetch(&path::manifest(sha256), sha256, MOST_MANIFEST_BYTES, into, mirror)?;
        }
        let failed = |source| Error::Storage { path: into.to_owned(), source };
        let text = fs::read_to_string(into).map_err(failed)?;
        Manifest::from_text(&text).map_err(|error| Error::answer(&self.asked("reading a manifest"), error))
    }

    /// Brings a shard of a manifest into a folder, unless it is there and whole.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    pub fn fetch_shard(&self, entry: &Entry, folder: &Path, mirror: Option<&str>) -> Result<Came, Error> {
        let digest = entry.sha256.parse::<Digest>();
        let sha256 = digest.map_err(|error| Error::answer(&self.asked("reading a manifest"), error))?;
        let into = shard_file(folder, sha256);
        if is_whole(&into, sha256)? {
            return Ok(Came::Before);
        }
        self.fetch(&path::shard(sha256), sha256, entry.bytes, &into, mirror)?;
        Ok(Came::Now)
    }
}

/// Whether a file is there with this hash; one with another is taken away.
fn is_whole(path: &Path, sha256: Digest) -> Result<bool, Error> {
    let failed = |source| Error::Storage { path: path.to_owned(), source };
    match fs::read(path) {
        Ok(bytes) if Digest::of(&bytes) == sha256 => Ok(true),
        Ok(_) => fs::remove_file(path).map(|()| false).map_err(failed),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(failed(error)),
    }
}
