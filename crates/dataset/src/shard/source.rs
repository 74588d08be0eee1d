//! Sources of bytes with random access: files, memory.
//!
//! Files are read at offsets, not mapped: blocks are small, the system caches them, and truncating
//! a mapped file kills its reader. Measured in `docs/decisions/022-read-files-without-mapping.md`.

use std::{fs::File, io, path::Path, sync::Arc};

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

/// A file. Several threads may read it at once; a clone shares the file.
#[derive(Clone, Debug)]
pub struct FileSource(Arc<File>);

impl FileSource {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self(Arc::new(File::open(path)?)))
    }
}

impl Source for FileSource {
    fn size(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    #[cfg(unix)]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&*self.0, buffer, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, mut offset: u64, mut buffer: &mut [u8]) -> io::Result<()> {
        while !buffer.is_empty() {
            let read = std::os::windows::fs::FileExt::seek_read(&*self.0, buffer, offset)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            offset += read as u64;
            buffer = &mut buffer[read..];
        }
        Ok(())
    }
}
