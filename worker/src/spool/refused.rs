//! Results that the server will never accept and files that cannot be used, each with the reason.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::SystemTime,
};

use dataset::{AtomicFile, Digest};

use crate::{
    sentence::sentence,
    state::{self, at, sync_folder_of},
};

/// Maximum number of results, and of reasons without games: a server that rejects without end must
/// not fill the disk.
const MAX_RESULTS: usize = 500;
const MAX_BYTES: u64 = 256 << 20;
const REASON_EXTENSION: &str = ".txt";

/// The folder `refused`. Clones share its figures.
#[derive(Clone, Debug)]
pub struct Refused {
    folder: PathBuf,
    figures: Arc<Figures>,
}

/// Figures of the folder, so that it is not listed again and again.
#[derive(Debug, Default)]
struct Figures {
    /// Number of results.
    kept: AtomicUsize,
    /// Number of results that were removed since the last look.
    removed: AtomicUsize,
}

/// The files of one result.
#[derive(Default)]
struct Entry {
    modified: Option<SystemTime>,
    bytes: u64,
    files: Vec<PathBuf>,
}

impl Refused {
    /// Opens the folder in a state folder and removes the partial files of a crash.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn open(root: &Path) -> io::Result<Self> {
        let folder = root.join("refused");
        at(&folder, fs::create_dir_all(&folder))?;
        state::sweep(&folder)?;
        let refused = Self { folder, figures: Arc::default() };
        refused.limit(MAX_BYTES)?;
        Ok(refused)
    }

    /// Returns the names of all results.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub fn names(&self) -> io::Result<Vec<String>> {
        state::names(&self.folder, REASON_EXTENSION)
    }

    /// Returns the number of results after the last change.
    pub(crate) fn count(&self) -> usize {
        self.figures.kept.load(Relaxed)
    }

    /// Takes a sentence about the results that were removed because there are too many.
    pub(crate) fn take_removal(&self) -> Option<String> {
        let removed = self.figures.removed.swap(0, Relaxed);
        (removed > 0).then(|| format!("The folder `refused` is full: its oldest results are removed ({removed})."))
    }

    /// Keeps a submission with the reason, durably.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn put(&self, name: &str, bytes: &[u8], reason: &str) -> io::Result<()> {
        AtomicFile::replace(self.folder.join(format!("{name}.chuhe")), bytes)?;
        self.note(name, reason)
    }

    /// Keeps the reason why an acknowledged shard was rejected later.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn put_reason(&self, shard: Digest, reason: &str) -> io::Result<()> {
        self.note(&shard.to_string(), reason)
    }

    /// Moves a file here, untouched; returns a sentence about it.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn take(&self, path: &Path, reason: &str) -> io::Result<String> {
        let mut name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(REASON_EXTENSION) {
            name += ".file";
        }
        let path_of = |number: u32| self.folder.join(numbered(&name, number));
        let free = |number: &u32| !path_of(*number).exists() && !path_of(*number).with_extension("txt").exists();
        let kept = numbered(&name, (0..=MAX_RESULTS as u32 * 2).find(free).unwrap_or_default());
        let new = self.folder.join(&kept);
        at(path, fs::rename(path, &new))?;
        sync_folder_of(&new)?;
        sync_folder_of(path)?;
        let stem = Path::new(&kept).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        // The file matters more than the reason.
        let _ = self.note(&stem, reason);
        Ok(sentence(format!("`{}` cannot be used, and lies in `refused/{kept}`: {reason}", path.display())))
    }

    fn note(&self, name: &str, reason: &str) -> io::Result<()> {
        let path = self.folder.join(format!("{name}{REASON_EXTENSION}"));
        AtomicFile::replace(path, format!("{reason}\n").as_bytes())?;
        self.limit(MAX_BYTES)
    }

    /// Removes the oldest results beyond the limits, and updates the figures.
    fn limit(&self, max_bytes: u64) -> io::Result<()> {
        let mut entries = BTreeMap::<String, Entry>::new();
        for file in at(&self.folder, fs::read_dir(&self.folder))? {
            let file = at(&self.folder, file)?;
            let path = file.path();
            let about = match file.metadata() {
                // Another thread has removed it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                about => at(&path, about)?,
            };
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if about.is_file() && !stem.starts_with('.') {
                let entry = entries.entry(stem).or_default();
                entry.modified = entry.modified.max(about.modified().ok());
                entry.bytes += about.len();
                entry.files.push(path);
            }
        }
        let has_games = |entry: &Entry| entry.files.iter().any(|file| file.extension() != Some("txt".as_ref()));
        let (results, reasons): (Vec<_>, Vec<_>) = entries.into_values().partition(has_games);
        let mut kept = 0;
        for mut entries in [results, reasons] {
            // The newest first.
            entries.sort_by_key(|entry| std::cmp::Reverse(entry.modified));
            let (mut bytes, mut count) = (0, 0);
            for entry in entries {
                (bytes, count) = (bytes + entry.bytes, count + 1);
                // The newest result stays, whatever its size.
                if count == 1 || (count <= MAX_RESULTS && bytes <= max_bytes) {
                    kept += 1;
                } else {
                    entry.files.iter().try_for_each(|file| state::remove(file))?;
                    self.figures.removed.fetch_add(1, Relaxed);
                }
            }
        }
        self.figures.kept.store(kept, Relaxed);
        Ok(())
    }
}

/// Returns a file name that differs by a number: `lease-2.games`.
fn numbered(name: &str, number: u32) -> String {
    let (stem, extension) =
        name.rsplit_once('.').map_or((name, String::new()), |(stem, end)| (stem, format!(".{end}")));
    if number == 0 { name.to_owned() } else { format!("{stem}-{number}{extension}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_and_reasons_are_limited_and_the_oldest_go() {
        let folder = tempfile::tempdir().expect("a folder can be created");
        let refused = Refused::open(folder.path()).expect("it can be opened");
        refused.put("games", b"games", "no").expect("it can be written");
        for number in 0..MAX_RESULTS + 7 {
            let shard = Digest::of(&number.to_le_bytes());
            refused.put_reason(shard, "illegal_move").expect("it can be written");
        }
        let names = refused.names().expect("they can be read");
        assert_eq!((names.len(), refused.count()), (MAX_RESULTS + 1, MAX_RESULTS + 1));
        let last = Digest::of(&(MAX_RESULTS + 6).to_le_bytes()).to_string();
        assert!(names.contains(&"games".to_owned()) && names.contains(&last), "games and the newest reasons stay");
        let said = refused.take_removal().expect("it was full");
        assert!(said.contains("(7)") && refused.take_removal().is_none(), "{said}");
        // Games beyond the limit of bytes.
        let old = folder.path().join("refused/games.chuhe");
        for file in [old.clone(), old.with_extension("txt")] {
            let file = fs::File::options().write(true).open(file).expect("it is there");
            file.set_modified(SystemTime::UNIX_EPOCH).expect("it can be set");
        }
        refused.put("newer", &[0; 900], "no").expect("it can be written");
        refused.limit(1000).expect("the folder can be read");
        assert!(old.exists());
        refused.limit(905).expect("the folder can be read");
        let names = refused.names().expect("they can be read");
        assert!(!old.exists() && !names.contains(&"games".to_owned()) && names.contains(&"newer".to_owned()));
        assert!(refused.take_removal().is_some());
    }

    #[test]
    fn a_file_that_is_moved_here_replaces_no_other() {
        let folder = tempfile::tempdir().expect("a folder can be created");
        let refused = Refused::open(folder.path()).expect("it can be opened");
        for text in ["one", "other"] {
            let path = folder.path().join("some.lease");
            fs::write(&path, text).expect("it can be written");
            let said = refused.take(&path, "no").expect("it can be moved");
            assert!(said.contains("some.lease") && !path.exists(), "{said}");
        }
        let read = |name: &str| fs::read_to_string(folder.path().join("refused").join(name)).expect("it is there");
        assert_eq!(["some.lease", "some-1.lease", "some-1.txt"].map(read), ["one", "other", "no\n"]);
    }
}
