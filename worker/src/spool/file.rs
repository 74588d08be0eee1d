//! A lease's file, open for appending.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::Path,
    sync::Arc,
};

use super::{contents::Contents, disk::Disk, record::Record};
use crate::state::sync_folder_of;

/// An open file.
pub struct SpoolFile {
    file: File,
    disk: Arc<dyn Disk>,
    /// Length of the whole records.
    length: u64,
    /// A torn write may follow the whole records.
    is_torn: bool,
}

impl SpoolFile {
    /// Creates a file with a first record, both durable.
    ///
    /// # Errors
    ///
    /// If it exists, or the disk fails.
    pub fn create(path: &Path, first: &Record, disk: Arc<dyn Disk>) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        let mut created = Self { file, disk, length: 0, is_torn: false };
        created.append(&first.to_bytes()?)?;
        created.sync()?;
        sync_folder_of(path)?;
        Ok(created)
    }

    /// Opens a file and truncates a torn tail; also returns its contents.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn open(path: &Path, disk: Arc<dyn Disk>) -> io::Result<(Self, Contents)> {
        let mut file = OpenOptions::new().read(true).write(true).open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let (contents, length) = Contents::read(&bytes);
        let mut opened = Self { file, disk, length, is_torn: length < bytes.len() as u64 };
        opened.truncate_torn_tail()?;
        Ok((opened, contents))
    }

    /// Appends encoded records, all or none. They survive a crash of the program at once, and one
    /// of the machine after a sync.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn append(&mut self, records: &[u8]) -> io::Result<()> {
        self.truncate_torn_tail()?;
        self.is_torn = true;
        self.disk.write(&mut self.file, records)?;
        self.is_torn = false;
        self.length += records.len() as u64;
        Ok(())
    }

    /// Makes the records durable.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn sync(&self) -> io::Result<()> {
        self.disk.sync(&self.file)
    }

    fn truncate_torn_tail(&mut self) -> io::Result<()> {
        if self.is_torn {
            self.file.set_len(self.length)?;
            self.is_torn = false;
            self.file.seek(SeekFrom::Start(self.length))?;
        }
        Ok(())
    }
}
