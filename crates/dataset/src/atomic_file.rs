//! Atomic writes: a file name refers to a whole file, or does not exist.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    process,
};

/// The end of a partial file's name.
const PART: &str = ".part";

/// A file that gets its name when it is whole and safe on disk. Until then it is
/// `.NAME.<process>.part` in the same folder; after a crash it can be recovered from there
/// ([`leftovers`](Self::leftovers)). No file is ever overwritten, such leftovers included.
pub struct AtomicFile {
    path: PathBuf,
    part: PathBuf,
    file: io::BufWriter<File>,
    keep: bool,
}

impl AtomicFile {
    /// Begins a file that does not exist yet; missing folders are created.
    ///
    /// # Errors
    ///
    /// If it exists, or cannot be created.
    pub fn begin(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_owned();
        let name = name_of(&path).ok_or_else(|| names_none(&path))?;
        let folder = folder_of(&path);
        fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
        if path.try_exists().map_err(|error| named(&path, &error))? {
            return Err(exists(&path));
        }
        let (part, file) = new_part(folder, &name)?;
        Ok(Self { path, part, file: io::BufWriter::new(file), keep: false })
    }

    /// The path of the partial file.
    #[must_use]
    pub fn part(&self) -> &Path {
        &self.part
    }

    /// Writes a small file at once.
    ///
    /// # Errors
    ///
    /// See [`begin`](Self::begin) and [`finish`](Self::finish).
    pub fn write(path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
        let mut file = Self::begin(path)?;
        file.write_all(bytes)?;
        file.finish()
    }

    /// Replaces a small file, or creates it: after a crash there is the old one or the new one,
    /// whole.
    ///
    /// # Errors
    ///
    /// If the path names no file, or the disk fails; the old file then remains.
    pub fn replace(path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
        let path = path.as_ref();
        let name = name_of(path).ok_or_else(|| names_none(path))?;
        let folder = folder_of(path);
        let (part, mut file) = new_part(folder, &name)?;
        let replaced = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&part, path));
        if replaced.is_err() {
            let _ = fs::remove_file(&part);
        }
        replaced?;
        sync_folder(folder)
    }

    /// Finds the partial files of `path` that no process writes any more. They are locked until
    /// they are dropped.
    ///
    /// # Errors
    ///
    /// If the folder or one of them cannot be read.
    pub fn leftovers(path: impl AsRef<Path>) -> io::Result<Vec<Leftover>> {
        let path = path.as_ref();
        let start = format!(".{}.", name_of(path).ok_or_else(|| names_none(path))?);
        let folder = folder_of(path);
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).map_err(|error| named(folder, &error))? {
            let path = entry.map_err(|error| named(folder, &error))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(&start) && name.ends_with(PART) {
                let file = OpenOptions::new().read(true).write(true).open(&path);
                let file = file.map_err(|error| named(&path, &error))?;
                if file.try_lock().is_ok() {
                    found.push(Leftover { path, _locked: file });
                }
            }
        }
        Ok(found)
    }

    /// Ends without the file's name: the partial file stays, safe on disk, for a later process.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn keep(mut self) -> io::Result<()> {
        self.keep = true;
        self.file.flush()?;
        self.file.get_ref().sync_all()
    }

    /// Gives the file its name, after its content and before the name is safe on disk.
    ///
    /// # Errors
    ///
    /// If another process has created the file meanwhile, or the disk fails. The whole content then
    /// stays in the partial file, and the error names it.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        self.keep = true;
        give_name(&self.part, &self.path).map_err(|error| {
            let kept = format!("{error}; what should have been there is in {}", self.part.display());
            io::Error::new(error.kind(), kept)
        })?;
        sync_folder(folder_of(&self.path))
    }
}

/// A partial file that its process has left behind.
pub struct Leftover {
    path: PathBuf,
    _locked: File,
}

impl Leftover {
    /// The path of the partial file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the file.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    pub fn remove(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Removes an unfinished file; only a crash leaves one behind.
impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.keep {
            let _ = fs::remove_file(&self.part);
        }
    }
}

/// Creates the partial file. In a container, an earlier run may have had the same process id: its
/// leftover is kept.
fn new_part(folder: &Path, name: &str) -> io::Result<(PathBuf, File)> {
    let mut suffix = String::new();
    for attempt in 1.. {
        let part = folder.join(format!(".{name}.{}{suffix}{PART}", process::id()));
        match File::create_new(&part) {
            Ok(file) => {
                // Where the file system has no locks, no partial file counts as left behind.
                let _ = file.try_lock();
                return Ok((part, file));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => suffix = format!("-{attempt}"),
            Err(error) => return Err(named(&part, &error)),
        }
    }
    unreachable!("there are more numbers than files")
}

/// Links and unlinks: unlike a rename, a link fails if the name was taken meanwhile. Where the file
/// system has no links (memory sticks), checks the name and renames.
fn give_name(part: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(part, path) {
        Ok(()) => return fs::remove_file(part),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(exists(path)),
        Err(_) => {}
    }
    if path.try_exists().map_err(|error| named(path, &error))? {
        return Err(exists(path));
    }
    fs::rename(part, path).map_err(|error| named(path, &error))
}

/// The name, if the path names a file; `a/`, `.`, `..` and `/` do not.
fn name_of(path: &Path) -> Option<String> {
    let name = path.file_name()?;
    path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes()).then(|| name.to_string_lossy().into_owned())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A new name is durable when its folder is synced. Windows has no such call.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

fn exists(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, format!("{} exists already; nothing is written over", path.display()))
}

fn names_none(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("`{}` names no file", path.display()))
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A temporary folder, removed on drop.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("new-file-{name}-{}", process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_name_refers_to_a_whole_file() {
        let folder = Folder::new("whole");
        let path = folder.0.join("deep/file");
        let mut file = AtomicFile::begin(&path).unwrap();
        file.write_all(b"some").unwrap();
        assert!(!path.exists());
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"some");
        assert_eq!(AtomicFile::begin(&path).err().unwrap().kind(), io::ErrorKind::AlreadyExists);
        let mut given_up = AtomicFile::begin(folder.0.join("other")).unwrap();
        given_up.write_all(b"half").unwrap();
        drop(given_up);
        assert_eq!(folder.names(), ["deep"]);
    }

    #[test]
    fn a_replaced_file_is_whole() {
        let folder = Folder::new("replaced");
        let path = folder.0.join("file");
        for bytes in [b"some".as_slice(), b"other", b""] {
            AtomicFile::replace(&path, bytes).unwrap();
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
        // A name that cannot be replaced stays, and no partial file is left.
        fs::create_dir(folder.0.join("deep")).unwrap();
        assert!(AtomicFile::replace(folder.0.join("deep"), b"some").is_err());
        assert!(AtomicFile::replace(folder.0.join("nowhere/file"), b"some").is_err());
        assert_eq!(folder.names(), ["deep", "file"]);
    }

    #[test]
    fn a_path_that_names_no_file_is_refused_before_anything_is_written() {
        let folder = Folder::new("none");
        for end in ["", ".", "..", "a/", "a/."] {
            let path = folder.0.join(end).join("");
            let error = AtomicFile::begin(&path).err().unwrap().to_string();
            assert_eq!(error, format!("`{}` names no file", path.display()));
        }
        assert_eq!(AtomicFile::begin("..").err().unwrap().to_string(), "`..` names no file");
        assert_eq!(folder.names(), [""; 0]);
    }

    #[test]
    fn a_leftover_of_a_crash_is_kept() {
        let folder = Folder::new("leftover");
        let left = folder.0.join(format!(".file.{}.part", process::id()));
        fs::write(&left, b"games").unwrap();
        AtomicFile::write(folder.0.join("file"), b"more games").unwrap();
        assert_eq!(fs::read(left).unwrap(), b"games");
        assert_eq!(fs::read(folder.0.join("file")).unwrap(), b"more games");
        assert_eq!(folder.names().len(), 2);
    }

    #[test]
    fn a_kept_file_is_found_when_its_process_is_done_with_it() {
        let folder = Folder::new("kept");
        let path = folder.0.join("file");
        let found = || {
            let found = AtomicFile::leftovers(&path).unwrap();
            found.into_iter().map(|file| fs::read(file.path()).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(found(), [b""; 0]);
        let mut file = AtomicFile::begin(&path).unwrap();
        file.write_all(b"half").unwrap();
        assert_eq!(found(), [b""; 0], "it is still written");
        file.keep().unwrap();
        AtomicFile::begin(folder.0.join("file2")).unwrap().keep().unwrap();
        assert_eq!(found(), [b"half"]);
        AtomicFile::leftovers(&path).unwrap().pop().unwrap().remove().unwrap();
        assert_eq!((found(), folder.names().len()), (Vec::new(), 1));
    }

    #[test]
    fn a_whole_file_is_kept_when_its_name_was_taken() {
        let folder = Folder::new("taken");
        let path = folder.0.join("file");
        let mut file = AtomicFile::begin(&path).unwrap();
        file.write_all(b"games").unwrap();
        fs::write(&path, b"another process's").unwrap();
        let error = file.finish().unwrap_err();
        assert_eq!(
            (error.kind(), fs::read(&path).unwrap()),
            (io::ErrorKind::AlreadyExists, b"another process's".to_vec())
        );
        let part = format!(".file.{}.part", process::id());
        assert!(
            error
                .to_string()
                .ends_with(&format!("; what should have been there is in {}", folder.0.join(&part).display())),
            "{error}"
        );
        assert_eq!(fs::read(folder.0.join(part)).unwrap(), b"games");
    }
}
