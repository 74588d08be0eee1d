//! Shards as files: opened by path, and written so that a name stands for a whole file or for none.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::{FileSource, Shard, ShardError};

/// A file that is no shard.
#[derive(Debug, thiserror::Error)]
#[error("{}", path.display())]
pub struct OpenError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub source: ShardError,
}

/// Opens a shard's file.
///
/// # Errors
///
/// If it cannot be read or is no shard.
pub fn open(path: impl AsRef<Path>) -> Result<Shard<FileSource>, OpenError> {
    let path = path.as_ref();
    let shard = File::open(path).map_err(ShardError::from).and_then(|file| Shard::new(FileSource::from(file)));
    shard.map_err(|source| OpenError { path: path.to_owned(), source })
}

/// A file that has no name before it is whole and safe on disk. Until then it is called `.NAME.<process>.part` and lies
/// beside; one that a crash left behind can be recovered. Nothing is ever written over.
pub struct NewFile {
    path: PathBuf,
    part: PathBuf,
    file: io::BufWriter<File>,
    named: bool,
}

impl NewFile {
    /// Begins a file that does not exist yet; its folder is made if it is not there.
    ///
    /// # Errors
    ///
    /// If it exists, or cannot be made.
    pub fn begin(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_owned();
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy().into_owned();
        let folder = folder_of(&path);
        fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
        if path.try_exists().map_err(|error| named(&path, &error))? {
            return Err(exists(&path));
        }
        let part = folder.join(format!(".{name}.{}.part", std::process::id()));
        let file = File::create(&part).map_err(|error| named(&part, &error))?;
        Ok(Self { path, part, file: io::BufWriter::new(file), named: false })
    }

    /// Gives the file its name, after all of it and before its name is safe on disk.
    ///
    /// # Errors
    ///
    /// If somebody has made such a file meanwhile, or the disk fails.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        // Unlike a renaming this fails if somebody has made such a file meanwhile.
        fs::hard_link(&self.part, &self.path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(&self.path),
            _ => named(&self.path, &error),
        })?;
        self.named = true;
        fs::remove_file(&self.part)?;
        sync_folder(folder_of(&self.path))
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// What has not been finished is not left behind, unless the process died.
impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.named {
            let _ = fs::remove_file(&self.part);
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A name is in its folder, and safe when that is. Windows has no such thing.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

fn exists(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, format!("{} exists already; nothing is written over", path.display()))
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
