//! A lease's file, open for appending.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{contents::Contents, disk::Disk, record::Record};
use crate::state::at;

/// An open file.
pub struct SpoolFile {
    file: File,
    path: PathBuf,
    disk: Arc<dyn Disk>,
    /// Length of the durable records.
    synced: u64,
    /// The records behind them. After a failed sync the system may have dropped them.
    unsynced: Vec<u8>,
    /// The file may differ from its records from here on.
    uncertain_from: Option<u64>,
    /// The file's name is not durable yet.
    is_renamed: bool,
}

impl SpoolFile {
    /// Creates a file with a first record, both durable.
    ///
    /// # Errors
    ///
    /// If it exists, or the disk fails.
    pub fn create(path: &Path, first: &Record, disk: Arc<dyn Disk>) -> io::Result<Self> {
        let file = at(path, OpenOptions::new().write(true).create_new(true).open(path))?;
        let mut created = Self::new(file, path, disk, Vec::new());
        created.append(&first.to_bytes()?)?;
        created.is_renamed = true;
        created.sync()?;
        Ok(created)
    }

    /// Opens a file; also returns its contents. The next write replaces a torn one at its end.
    /// Everything else stays.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn open(path: &Path, disk: Arc<dyn Disk>) -> io::Result<(Self, Contents)> {
        let mut file = at(path, OpenOptions::new().read(true).write(true).open(path))?;
        let mut bytes = Vec::new();
        at(path, file.read_to_end(&mut bytes))?;
        let (contents, extent) = Contents::read(&bytes);
        let is_torn = extent.length < bytes.len() as u64;
        bytes.truncate(extent.length as usize);
        let mut opened = Self::new(file, path, disk, bytes);
        opened.uncertain_from = is_torn.then_some(extent.length);
        Ok((opened, contents))
    }

    fn new(file: File, path: &Path, disk: Arc<dyn Disk>, unsynced: Vec<u8>) -> Self {
        Self { file, path: path.to_owned(), disk, synced: 0, unsynced, uncertain_from: None, is_renamed: false }
    }

    /// Appends encoded records, all or none. They survive a crash of the program at once, and one
    /// of the machine after a sync.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn append(&mut self, records: &[u8]) -> io::Result<()> {
        self.rewrite()?;
        self.uncertain_from = Some(self.length());
        at(&self.path, self.disk.write(&mut self.file, records))?;
        self.uncertain_from = None;
        self.unsynced.extend(records);
        Ok(())
    }

    /// Makes the records durable, and the name if it is new. After a failed sync they are written
    /// again first: a repeated sync may succeed without them.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn sync(&mut self) -> io::Result<()> {
        self.rewrite()?;
        self.uncertain_from = Some(self.synced);
        at(&self.path, self.disk.sync(&self.file))?;
        self.uncertain_from = None;
        self.synced = self.length();
        self.unsynced.clear();
        if self.is_renamed {
            at(&self.path, self.disk.sync_folder_of(&self.path))?;
            self.is_renamed = false;
        }
        Ok(())
    }

    /// Follows a rename. The new name is durable after the next sync.
    pub(super) fn renamed(&mut self, path: &Path) {
        path.clone_into(&mut self.path);
        self.is_renamed = true;
    }

    fn length(&self) -> u64 {
        self.synced + self.unsynced.len() as u64
    }

    /// Writes the records again that may not be in the file, and removes a torn write.
    fn rewrite(&mut self) -> io::Result<()> {
        if let Some(from) = self.uncertain_from {
            at(&self.path, self.file.set_len(self.length()))?;
            at(&self.path, self.file.seek(SeekFrom::Start(from)))?;
            let records = &self.unsynced[(from - self.synced) as usize..];
            if !records.is_empty() {
                at(&self.path, self.disk.write(&mut self.file, records))?;
            }
            self.uncertain_from = None;
        }
        Ok(())
    }
}
