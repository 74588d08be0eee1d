//! Results on their way: on disk until the server has thanked for them.
//!
//! A parcel is one file, so that it is there whole or not at all: the SHA-256 of all that follows in a line, a line of JSON
//! that says whose it is, and the shard's bytes. Its name is that of its lease, so that the same result is never there twice.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use dataset::{Digest, NewFile};
use serde::{Deserialize, Serialize};

use crate::state;

const ENDING: &str = ".result";

/// What a parcel is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// Whose games these are.
    pub server: String,
    /// The lease's token.
    pub lease: String,
    /// The number of the first game.
    pub first: u64,
    /// How many games are in it.
    pub games: u64,
    /// The hash of the shard; none if there are no games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Digest>,
    /// From this game on, nothing of the lease is played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub give_back: Option<u64>,
    /// When the lease is over by itself, in seconds since 1970.
    pub until: u64,
}

/// A result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parcel {
    /// What it is.
    pub label: Label,
    /// The shard, or nothing.
    pub shard: Vec<u8>,
}

impl Parcel {
    /// As its file holds it.
    ///
    /// # Errors
    ///
    /// Never: a label can be written.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let rest = [&serde_json::to_vec(&self.label)?[..], b"\n", &self.shard].concat();
        Ok([Digest::of(&rest).to_string().as_bytes(), b"\n", &rest].concat())
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (hash, rest) = split_line(bytes)?;
        if hash != Digest::of(rest).to_string().as_bytes() {
            return None;
        }
        let (label, shard) = split_line(rest)?;
        let label: Label = serde_json::from_slice(label).ok()?;
        let sound = label.sha256.map_or(shard.is_empty(), |sha256| sha256 == Digest::of(shard));
        sound.then(|| Self { label, shard: shard.to_vec() })
    }
}

fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// The folder of results, and that of those which nobody wants.
#[derive(Clone, Debug)]
pub struct Outbox {
    folder: PathBuf,
    refused: PathBuf,
}

impl Outbox {
    /// Opens the outbox in a worker's folder, and takes away what a crash left half-written.
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

    /// Adds a result. When this returns it is safe. One that is there already stays as it is.
    ///
    /// # Errors
    ///
    /// If the disk fails; then it is not there.
    pub fn put(&self, name: &str, parcel: &Parcel) -> io::Result<()> {
        let (path, bytes) = (self.path(name), parcel.to_bytes()?);
        match NewFile::write(&path, &bytes) {
            // Something else in the way, a file in the place of the folder for one, is called the same.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.read(name).is_ok() => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => NewFile::replace(&path, &bytes),
            done => done,
        }
    }

    /// Whether a result is there.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The names of all results, in order.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub fn names(&self) -> io::Result<Vec<String>> {
        state::names(&self.folder, ENDING)
    }

    /// How many results were refused for ever, and lie in `refused`.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub fn refused(&self) -> io::Result<Vec<String>> {
        state::names(&self.refused, ".txt")
    }

    /// A result, held against its own hash: the disk may have changed it.
    ///
    /// # Errors
    ///
    /// If it cannot be read (the kind is `InvalidData` if it was read and is damaged).
    pub fn read(&self, name: &str) -> io::Result<Parcel> {
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the file was damaged on this disk");
        Parcel::from_bytes(&fs::read(self.path(name))?).ok_or_else(damaged)
    }

    /// The server has thanked: the result may go.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn thanked(&self, name: &str) -> io::Result<()> {
        state::remove(&self.path(name))
    }

    /// The server will never take it: it goes to `refused`, with the reason, for people to look at.
    ///
    /// # Errors
    ///
    /// If the disk fails; then it is still there.
    pub fn refuse(&self, name: &str, reason: &str) -> io::Result<()> {
        let shard = self.read(name).map(|parcel| parcel.shard).or_else(|_| fs::read(self.path(name)))?;
        for (ending, bytes) in [("chuhe", &shard[..]), ("txt", format!("{reason}\n").as_bytes())] {
            let path = self.refused.join(format!("{name}.{ending}"));
            match NewFile::write(&path, bytes) {
                // After a crash half-way it is there already.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => NewFile::replace(&path, bytes)?,
                done => done?,
            }
        }
        state::remove(&self.path(name))
    }

    /// The server took it and has rejected it since: the reason stands beside those of others.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn note_rejection(&self, shard: Digest, reason: &str) -> io::Result<()> {
        NewFile::replace(self.refused.join(format!("{shard}.txt")), format!("{reason}\n").as_bytes())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}{ENDING}"))
    }
}
