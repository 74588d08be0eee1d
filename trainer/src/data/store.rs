//! The shards of streamed training sets: read when they are drawn, and fetched if missing.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use client::{Backoff, Client, JitterRng, shard_file};
use dataset::{
    Digest,
    manifest::{Entry, Manifest, ManifestError},
    shard::{Shard, ShardError},
    training::ShardStore,
};
use protocol::api::{path, problem::Code};

/// Bounds of the delay after a failed download, and the number of failures that end the run.
const BACKOFF_BOUNDS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));
const MAX_FAILURES: u32 = 16;

/// Shards in different groups are fetched at the same time.
const GROUPS: usize = 64;

/// The folder beside the shards with those that were fetched. No other file is ever removed.
pub(crate) const FETCHED: &str = "fetched";

/// After this failure of a download it says why it waits.
const MENTIONED_FAILURE: u32 = 3;

/// Where missing shards are fetched.
#[derive(Clone)]
pub struct Fetch {
    /// The client of the coordinator.
    pub client: Client,
    /// The address of a copy of the coordinator's files, as in a public bucket; it is tried first.
    pub mirror: Option<String>,
    /// Disk space for fetched shards: those that were fetched first are removed first.
    pub max_bytes: u64,
}

/// A shard's file.
pub(super) struct Stored {
    digest: Digest,
    bytes: u64,
    positions: u64,
    path: PathBuf,
    /// Whether it is fetched when it is drawn.
    is_fetched: bool,
}

impl Stored {
    /// The files of a manifest's shards. Those that the folder lacks are fetched, or an error.
    pub(super) fn all(
        entries: &[Entry],
        folder: &Path,
        quarantined: &BTreeSet<Digest>,
        can_fetch: bool,
    ) -> Result<Vec<Self>, ManifestError> {
        let digests = Manifest::digests(entries, quarantined)?;
        let fetched = folder.join(FETCHED);
        let mut files = BTreeMap::new();
        if !can_fetch {
            files = digests.iter().copied().zip(Manifest::locate(entries, folder, quarantined)?).collect();
        } else if folder.exists() {
            files = Manifest::files(entries, folder)?;
        }
        let stored = digests.into_iter().zip(entries).map(|(digest, entry)| {
            let here = files.remove(&digest);
            let is_fetched = here.is_none();
            let path = here.unwrap_or_else(|| shard_file(&fetched, digest));
            Self { digest, bytes: entry.bytes, positions: entry.positions, path, is_fetched }
        });
        Ok(stored.collect())
    }

    /// Reads the shard; `None` if the file is another.
    fn read(&self) -> io::Result<Option<Vec<u8>>> {
        let read = fs::read(&self.path);
        let bytes = read.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.path.display())))?;
        Ok((Digest::of(&bytes) == self.digest).then_some(bytes))
    }
}

/// Fetches shards for all stages of a run.
pub(super) struct Fetcher {
    from: Fetch,
    /// Held while a shard of the group is fetched and read.
    groups: [Mutex<()>; GROUPS],
    fetched: Mutex<Fetched>,
}

/// The fetched files.
#[derive(Default)]
struct Fetched {
    /// The folders whose files are known.
    folders: BTreeSet<PathBuf>,
    /// The files that were not removed, the oldest first.
    files: VecDeque<(PathBuf, u64)>,
}

impl Fetcher {
    pub(super) fn new(from: Fetch) -> Self {
        Self { from, groups: [const { Mutex::new(()) }; GROUPS], fetched: Mutex::default() }
    }

    /// Reads a shard, which is fetched first if it is not there.
    fn read(&self, stored: &Stored) -> Result<Vec<u8>, ShardError> {
        let _group = lock(&self.groups[usize::from(stored.digest.as_bytes()[0]) % GROUPS]);
        loop {
            match stored.read() {
                Ok(Some(bytes)) => return Ok(bytes),
                Ok(None) => fs::remove_file(&stored.path)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
            self.fetch(stored)?;
            self.evict(stored)?;
        }
    }

    fn fetch(&self, Stored { digest, bytes, path: into, .. }: &Stored) -> Result<(), ShardError> {
        let Fetch { client, mirror, .. } = &self.from;
        let (min, max) = BACKOFF_BOUNDS;
        let mut backoff = Backoff::new(min, max, JitterRng::new(getrandom::u64().unwrap_or_default()));
        let mut failures = 0;
        loop {
            let fetched = client.fetch(&path::shard(*digest), *digest, *bytes, into, mirror.as_deref());
            let Err(error) = fetched else { return Ok(()) };
            failures += 1;
            let sentence = format!("the shard {digest}: {error}");
            if error.code() == Some(Code::NotFound) {
                return Err(ShardError::NotServed(sentence));
            }
            if !error.is_transient() || failures == MAX_FAILURES {
                return Err(io::Error::other(sentence).into());
            }
            if failures == MENTIONED_FAILURE {
                let _ = writeln!(io::stderr(), "chuhe-trainer: {sentence}; it is tried again");
            }
            thread::sleep(backoff.after_failure(error.retry_after()).min(max));
        }
    }

    /// Removes the oldest fetched files, down to the limit.
    fn evict(&self, newest: &Stored) -> io::Result<()> {
        let mut fetched = lock(&self.fetched);
        let Fetched { folders, files } = &mut *fetched;
        if let Some(folder) = newest.path.parent()
            && folders.insert(folder.to_owned())
        {
            let earlier = files_by_age(folder)?.into_iter().filter(|(path, _)| *path != newest.path);
            files.extend(earlier);
        }
        files.push_back((newest.path.clone(), newest.bytes));
        let mut bytes: u64 = files.iter().map(|(_, bytes)| bytes).sum();
        while bytes > self.from.max_bytes && files.len() > 1 {
            let Some((path, freed)) = files.pop_front() else { break };
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => bytes -= freed,
            }
        }
        drop(fetched);
        Ok(())
    }
}

/// The shards of a folder with their lengths, the oldest first.
fn files_by_age(folder: &Path) -> io::Result<Vec<(PathBuf, u64)>> {
    let mut files = Vec::new();
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        if path.extension().is_some_and(|it| it == "chuhe") {
            let metadata = fs::metadata(&path)?;
            files.push((metadata.modified()?, path, metadata.len()));
        }
    }
    files.sort();
    Ok(files.into_iter().map(|(_, path, bytes)| (path, bytes)).collect())
}

/// The shards of all sets of a stage.
pub(super) struct Store {
    pub(super) sets: Vec<Vec<Stored>>,
    pub(super) fetcher: Option<Arc<Fetcher>>,
}

impl ShardStore for Store {
    type Source = Vec<u8>;

    fn open(&self, set: u32, shard: u32) -> Result<Shard<Vec<u8>>, ShardError> {
        let stored = &self.sets[set as usize][shard as usize];
        let bytes = match &self.fetcher {
            Some(fetcher) if stored.is_fetched => fetcher.read(stored)?,
            _ => stored.read()?.ok_or_else(|| {
                let Stored { digest, path, .. } = stored;
                io::Error::other(format!("{} was altered: it is no longer the shard {digest}", path.display()))
            })?,
        };
        let (shard, stated) = (Shard::new(bytes)?, stored.positions);
        match shard.positions() {
            found if found == stated => Ok(shard),
            found => Err(ShardError::Positions { stated, found }),
        }
    }
}

/// Ignores poisoning: no update panics halfway.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
