//! The folder of leases, and the request for the next one.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use dataset::AtomicFile;

use super::{
    contents::{Contents, Extent},
    disk::Disk,
    file::SpoolFile,
    record::{Record, State},
    refused::Refused,
    takeover::{self, DAMAGED},
};
use crate::{
    sentence::sentence,
    state::{self, at},
};

const EXTENSION: &str = ".lease";

/// The end of the name of an unreadable lease, as an earlier version left it.
const DAMAGED_EXTENSION: &str = ".damaged";

/// The spool of a state folder.
#[derive(Clone)]
pub struct Spool {
    folder: PathBuf,
    asking: PathBuf,
    disk: Arc<dyn Disk>,
    refused: Refused,
}

impl Spool {
    /// Opens the spool and takes over the files of earlier versions. Returns also a sentence about
    /// each file that cannot be used and is in `refused` now.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read or written.
    pub fn open(root: &Path, disk: Arc<dyn Disk>) -> io::Result<(Self, Vec<String>)> {
        let refused = Refused::open(root)?;
        let spool = Self { folder: root.join("spool"), asking: root.join("asking"), disk, refused };
        at(&spool.folder, fs::create_dir_all(&spool.folder))?;
        state::sweep(&spool.folder)?;
        let ask = |nonce: &str| spool.ask(nonce).map(drop);
        let mut kept = takeover::run(root, &spool.refused, |name, records| spool.put(name, records), ask)?;
        kept.extend(spool.restore_request()?);
        for name in state::names(&spool.folder, DAMAGED_EXTENSION)? {
            kept.push(spool.refused.take(&spool.folder.join(format!("{name}{DAMAGED_EXTENSION}")), DAMAGED)?);
        }
        Ok((spool, kept))
    }

    /// Returns the folder of results that the server will never accept.
    #[must_use]
    pub const fn refused(&self) -> &Refused {
        &self.refused
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
    pub fn read(&self, name: &str) -> io::Result<(Contents, Extent)> {
        let path = self.path(name);
        Ok(Contents::read(&at(&path, fs::read(&path))?))
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

    /// Moves a lease's file to `refused`, untouched; returns a sentence about it.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn refuse(&self, name: &str, reason: &str) -> io::Result<String> {
        self.refused.take(&self.path(name), reason)
    }

    /// Says that a lease's file stays as it is for the version that wrote it.
    pub(crate) fn left_for_another_version(&self, name: &str) -> String {
        let path = self.path(name);
        sentence(format!("`{}` holds records of another version of this program, and is left for that", path.display()))
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

    /// Turns the request into the lease that its file holds by now. The name is durable after the
    /// file's next sync.
    ///
    /// # Errors
    ///
    /// If the disk fails; the request then stays one.
    pub fn grant(&self, name: &str, file: &mut SpoolFile) -> io::Result<()> {
        let path = self.path(name);
        at(&path, fs::rename(&self.asking, &path))?;
        file.renamed(&path);
        Ok(())
    }

    /// Restores the request after a crash: a file with a lease is granted, and one without a whole
    /// record was never sent. Returns a sentence about an obstacle.
    fn restore_request(&self) -> io::Result<Option<String>> {
        if self.asking.is_dir() {
            return self.refused.take(&self.asking, "a file is expected there").map(Some);
        }
        let Some(bytes) = state::read_if_exists(&self.asking)? else { return Ok(None) };
        let contents = Contents::read(&bytes).0;
        match (contents.state(), contents.nonce) {
            (Some(State::Asked), _) => {}
            (Some(_), Some(name)) if !self.path(&name).exists() => {
                let (mut file, _) = SpoolFile::open(&self.asking, Arc::clone(&self.disk))?;
                self.grant(&name, &mut file)?;
                file.sync()?;
            }
            _ => self.cancel_request()?,
        }
        Ok(None)
    }

    /// Returns the path of the request.
    pub(crate) fn asking(&self) -> &Path {
        &self.asking
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}{EXTENSION}"))
    }
}
