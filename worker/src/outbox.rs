//! Durable outbox: results stay on disk until the server acknowledges them.
//!
//! A submission is one file, so that it is whole or absent. It holds the SHA-256 of the rest, a
//! line of JSON (the metadata) and the shard. Its name derives from its lease: the same result is
//! never stored twice.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use dataset::{AtomicFile, Digest};
use serde::{Deserialize, Serialize};

use crate::state;

const EXTENSION: &str = ".result";

/// Metadata of a submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmissionMeta {
    /// Address of the server that granted the lease.
    pub server: String,
    /// The lease's token.
    pub lease: String,
    /// Number of the first game.
    pub first: u64,
    /// Number of games.
    pub games: u64,
    /// Hash of the shard; none without games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Digest>,
    /// Release: from this game on, nothing of the lease is played.
    #[serde(rename = "give_back", default, skip_serializing_if = "Option::is_none")]
    pub release_from: Option<u64>,
    /// Expiry of the lease, in seconds since 1970.
    pub until: u64,
}

/// A result to be submitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// Metadata.
    pub meta: SubmissionMeta,
    /// The shard; empty for a release.
    pub shard: Vec<u8>,
}

impl Submission {
    /// Encodes the file.
    ///
    /// # Errors
    ///
    /// Never: metadata can be serialised.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let rest = [&serde_json::to_vec(&self.meta)?[..], b"\n", &self.shard].concat();
        Ok([Digest::of(&rest).to_string().as_bytes(), b"\n", &rest].concat())
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (hash, rest) = split_line(bytes)?;
        if hash != Digest::of(rest).to_string().as_bytes() {
            return None;
        }
        let (meta, shard) = split_line(rest)?;
        let meta: SubmissionMeta = serde_json::from_slice(meta).ok()?;
        let is_valid = meta.sha256.map_or(shard.is_empty(), |sha256| sha256 == Digest::of(shard));
        is_valid.then(|| Self { meta, shard: shard.to_vec() })
    }
}

fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// The folders of pending and of refused results.
#[derive(Clone, Debug)]
pub struct Outbox {
    folder: PathBuf,
    refused: PathBuf,
}

impl Outbox {
    /// Opens the outbox in a state folder and removes the partial files of a crash.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn open(root: &Path) -> io::Result<Self> {
        let outbox = Self { folder: root.join("outbox"), refused: root.join("refused") };
        for folder in [&outbox.folder, &outbox.refused] {
            fs::create_dir_all(folder)?;
            state::sweep(folder)?;
        }
        Ok(outbox)
    }

    /// Stores a result durably. Idempotent: an existing one stays as it is.
    ///
    /// # Errors
    ///
    /// If the disk fails; then nothing is stored.
    pub fn put(&self, name: &str, submission: &Submission) -> io::Result<()> {
        let (path, bytes) = (self.path(name), submission.to_bytes()?);
        match AtomicFile::write(&path, &bytes) {
            // A damaged file of this name is replaced.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.read(name).is_ok() => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => AtomicFile::replace(&path, &bytes),
            done => done,
        }
    }

    /// Returns whether a result is stored.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Returns the names of all pending results, sorted.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub fn names(&self) -> io::Result<Vec<String>> {
        state::names(&self.folder, EXTENSION)
    }

    /// Returns the names of the refused results.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub fn refused(&self) -> io::Result<Vec<String>> {
        state::names(&self.refused, ".txt")
    }

    /// Reads a result and verifies its hash.
    ///
    /// # Errors
    ///
    /// If it cannot be read. The kind is `InvalidData` if the file is damaged.
    pub fn read(&self, name: &str) -> io::Result<Submission> {
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the file was damaged on this disk");
        Submission::from_bytes(&fs::read(self.path(name))?).ok_or_else(damaged)
    }

    /// Acknowledges a result: the server has stored it, so the file is removed.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn acknowledge(&self, name: &str) -> io::Result<()> {
        state::remove(&self.path(name))
    }

    /// Moves a result that no server will accept to `refused`, with the reason.
    ///
    /// # Errors
    ///
    /// If the disk fails; then the result stays in the outbox.
    pub fn reject(&self, name: &str, reason: &str) -> io::Result<()> {
        let shard = self.read(name).map(|submission| submission.shard).or_else(|_| fs::read(self.path(name)))?;
        for (extension, bytes) in [("chuhe", &shard[..]), ("txt", format!("{reason}\n").as_bytes())] {
            let path = self.refused.join(format!("{name}.{extension}"));
            match AtomicFile::write(&path, bytes) {
                // Left by a crash during this move.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => AtomicFile::replace(&path, bytes)?,
                done => done?,
            }
        }
        state::remove(&self.path(name))
    }

    /// Records that the server has rejected an acknowledged shard.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn record_rejection(&self, shard: Digest, reason: &str) -> io::Result<()> {
        AtomicFile::replace(self.refused.join(format!("{shard}.txt")), format!("{reason}\n").as_bytes())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}{EXTENSION}"))
    }
}
