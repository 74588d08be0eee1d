//! Writes and syncs of spool files, so that tests can slow them down and let them fail.

use std::{
    fs::File,
    io::{self, Write as _},
    path::Path,
};

use crate::state::sync_folder_of;

/// A disk.
pub trait Disk: Send + Sync {
    /// Writes at the file's position.
    ///
    /// # Errors
    ///
    /// If the disk fails; part of the bytes may be written.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    /// Makes what was written durable.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    /// Makes the name of a file durable.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    fn sync_folder_of(&self, path: &Path) -> io::Result<()> {
        sync_folder_of(path)
    }
}

/// The system's disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemDisk;

impl Disk for SystemDisk {}
