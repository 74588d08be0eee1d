//! The folder of leases, and the request for the next one.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use dataset::AtomicFile;

use super::{
    contents::Contents,
    disk::Disk,
    file::SpoolFile,
    record::{Record, State},
    takeover,
};
use crate::state::{self, sync_folder_of};

const EXTENSION: &str = ".lease";

/// The spool of a state folder.
#[derive(Clone)]
pub struct Spool {
    folder: PathBuf,
    asking: PathBuf,
    disk: Arc<dyn Disk>,
}

impl Spool {
    /// Opens the spool and takes over the files of earlier versions. Returns also the names of the
    /// damaged ones, which are in `refused` now.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read or written.
    pub fn open(root: &Path, disk: Arc<dyn Disk>) -> io::Result<(Self, Vec<String>)> {
        let spool = Self { folder: root.join("spool"), asking: root.join("asking"), disk };
        fs::create_dir_all(&spool.folder)?;
        state::sweep(&spool.folder)?;
        let damaged =
            takeover::run(root, |name, records| spool.put(name, records), |nonce| spool.ask(nonce).map(drop))?;
        spool.restore_request()?;
        Ok((spool, damaged))
    }

    /// Returns the names of all leases, sorted.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub fn names(&self) -> io::Result<Vec<String>> {
        state::names(&self.folder, EXTENSION)
    }

    /// Reads a lease's file.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn read(&self, name: &str) -> io::Result<Contents> {
        Ok(Contents::read(&fs::read(self.path(name))?).0)
    }

    /// Opens a lease's file for appending.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn append(&self, name: &str) -> io::Result<(SpoolFile, Contents)> {
        SpoolFile::open(&self.path(name), Arc::clone(&self.disk))
    }

    /// Stores a lease with all its records durably, unless it is there already.
    ///
    /// # Errors
    ///
    /// If the disk fails; then nothing is stored.
    pub fn put(&self, name: &str, records: &[Record]) -> io::Result<()> {
        let records: Vec<Vec<u8>> = records.iter().map(Record::to_bytes).collect::<Result<_, _>>()?;
        match AtomicFile::write(self.path(name), &records.concat()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.path(name).is_file() => Ok(()),
            done => done,
        }
    }

    /// Removes an acknowledged lease durably.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        state::remove(&self.path(name))
    }

    /// Sets an unreadable file aside; its name then ends in `.damaged`.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn set_aside(&self, name: &str) -> io::Result<()> {
        fs::rename(self.path(name), self.path(name).with_extension("damaged"))
    }

    /// Stores the nonce of a request durably.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn ask(&self, nonce: &str) -> io::Result<SpoolFile> {
        self.cancel_request()?;
        SpoolFile::create(&self.asking, &Record::Asked(nonce.to_owned()), Arc::clone(&self.disk))
    }

    /// Returns the request that may have no response yet, with its nonce.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn request(&self) -> io::Result<Option<(SpoolFile, String)>> {
        match SpoolFile::open(&self.asking, Arc::clone(&self.disk)) {
            Ok((file, contents)) => Ok(contents.nonce.map(|nonce| (file, nonce))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes the request: its response is known.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn cancel_request(&self) -> io::Result<()> {
        if self.asking.exists() { state::remove(&self.asking) } else { Ok(()) }
    }

    /// Turns the request into the lease that its file holds by now. The name is durable afterwards,
    /// since the next request replaces the old name.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn grant(&self, name: &str) -> io::Result<()> {
        fs::rename(&self.asking, self.path(name))?;
        sync_folder_of(&self.path(name))
    }

    /// Restores the request after a crash: a file with a lease is granted, and one without a whole
    /// record was never sent.
    fn restore_request(&self) -> io::Result<()> {
        let contents = match fs::read(&self.asking) {
            Ok(bytes) => Contents::read(&bytes).0,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        match (contents.state(), contents.nonce) {
            (Some(State::Asked), _) => Ok(()),
            (Some(_), Some(name)) if !self.path(&name).exists() => self.grant(&name),
            _ => self.cancel_request(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}{EXTENSION}"))
    }
}
