//! Sources of bytes with random access: files, memory.
//!
//! Files are read at offsets, not mapped: blocks are small, the system caches them, and truncating
//! a mapped file kills its reader. Measured in `docs/decisions/022-read-files-without-mapping.md`.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::Path,
    sync::Arc,
};

/// Bytes with random access.
pub trait Source {
    /// The number of bytes.
    ///
    /// # Errors
    ///
    /// If it cannot be determined.
    fn size(&self) -> io::Result<u64>;

    /// Fills the buffer with the bytes at an offset.
    ///
    /// # Errors
    ///
    /// If they cannot be read, or the source ends before.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
}

impl Source for [u8] {
    fn size(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let from = usize::try_from(offset).ok().and_then(|offset| self.get(offset..)?.get(..buffer.len()));
        buffer.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

impl Source for Vec<u8> {
    fn size(&self) -> io::Result<u64> {
        self.as_slice().size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.as_slice().read_at(offset, buffer)
    }
}

impl<S: Source + ?Sized> Source for &S {
    fn size(&self) -> io::Result<u64> {
        (**self).size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        (**self).read_at(offset, buffer)
    }
}

/// A file. It is opened for each read, so that a set may have more shards than a process may have
/// open files. A block takes a hundred times as long to decode as its file to open.
#[derive(Clone, Debug)]
pub struct FileSource(Arc<Path>);

impl FileSource {
    /// Names a file.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        File::open(path)?;
        Ok(Self(path.into()))
    }
}

impl Source for FileSource {
    fn size(&self) -> io::Result<u64> {
        Ok(fs::metadata(&self.0)?.len())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let mut file = File::open(&self.0)?;
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(buffer)
    }
}
