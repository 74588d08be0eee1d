//! The shards of streamed training sets: read when they are drawn, and fetched if missing.

use std::{
    collections::{BTreeSet, VecDeque},
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
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
use protocol::api::path;

/// Bounds of the delay after a failed download, and the number of failures that end the run.
const BACKOFF_BOUNDS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));
const MAX_FAILURES: u32 = 16;

/// Shards in different groups are fetched at the same time.
const GROUPS: usize = 64;

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
    path: PathBuf,
}

impl Stored {
    /// The files of a manifest's shards. Without a place to fetch from, all must be there.
    pub(super) fn all(
        entries: &[Entry],
        folder: &Path,
        quarantined: &BTreeSet<Digest>,
        is_fetched: bool,
    ) -> Result<Vec<Self>, ManifestError> {
        let digests = Manifest::digests(entries, quarantined)?;
        let paths = if is_fetched {
            digests.iter().map(|digest| shard_file(folder, *digest)).collect()
        } else {
            Manifest::locate(entries, folder, quarantined)?
        };
        let files = digests.into_iter().zip(paths).zip(entries);
        Ok(files.map(|((digest, path), entry)| Self { digest, bytes: entry.bytes, path }).collect())
    }
}

/// The shards of all sets.
pub(super) struct Store {
    sets: Vec<Vec<Stored>>,
    fetch: Option<Fetch>,
    /// Held while a shard of the group is fetched and read.
    groups: [Mutex<()>; GROUPS],
    /// The files that were fetched and not removed, the oldest first.
    fetched: Mutex<VecDeque<(PathBuf, u64)>>,
}

impl Store {
    pub(super) fn new(sets: Vec<Vec<Stored>>, fetch: Option<Fetch>) -> Self {
        let earlier = sets.iter().flatten().filter(|stored| fetch.is_some() && stored.path.exists());
        let earlier = earlier.map(|stored| (stored.path.clone(), stored.bytes)).collect();
        Self { sets, fetch, groups: [const { Mutex::new(()) }; GROUPS], fetched: Mutex::new(earlier) }
    }

    /// Removes the oldest fetched files, down to the limit.
    fn evict(&self, newest: &Stored, max_bytes: u64) -> io::Result<()> {
        let mut fetched = lock(&self.fetched);
        fetched.push_back((newest.path.clone(), newest.bytes));
        let mut bytes: u64 = fetched.iter().map(|(_, bytes)| bytes).sum();
        while bytes > max_bytes && fetched.len() > 1 {
            let Some((path, freed)) = fetched.pop_front() else { break };
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => bytes -= freed,
            }
        }
        drop(fetched);
        Ok(())
    }
}

impl Fetch {
    fn fetch(&self, stored: &Stored) -> io::Result<()> {
        let Stored { digest, bytes, path: into } = stored;
        let (min, max) = BACKOFF_BOUNDS;
        let mut backoff = Backoff::new(min, max, JitterRng::new(getrandom::u64().unwrap_or_default()));
        let mut failures = 0;
        loop {
            let fetched = self.client.fetch(&path::shard(*digest), *digest, *bytes, into, self.mirror.as_deref());
            let Err(error) = fetched else { return Ok(()) };
            failures += 1;
            if !error.is_transient() || failures == MAX_FAILURES {
                return Err(io::Error::other(error.to_string()));
            }
            thread::sleep(backoff.after_failure(error.retry_after()).min(max));
        }
    }
}

impl ShardStore for Store {
    type Source = Vec<u8>;

    fn open(&self, set: u32, shard: u32) -> Result<Shard<Vec<u8>>, ShardError> {
        let stored = &self.sets[set as usize][shard as usize];
        let Stored { digest, path, .. } = stored;
        let group = lock(&self.groups[usize::from(digest.as_bytes()[0]) % GROUPS]);
        loop {
            match fs::read(path) {
                Ok(bytes) if Digest::of(&bytes) == *digest => {
                    drop(group);
                    return Shard::new(bytes);
                }
                Ok(_) if self.fetch.is_none() => {
                    let altered = format!("{} was altered: it is no longer the shard {digest}", path.display());
                    return Err(io::Error::other(altered).into());
                }
                Ok(_) => fs::remove_file(path)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound && self.fetch.is_some() => {}
                Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display())).into()),
            }
            if let Some(fetch) = &self.fetch {
                fetch.fetch(stored)?;
                self.evict(stored, fetch.max_bytes)?;
            }
        }
    }
}

/// Ignores poisoning: no update panics halfway.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
