//! Locates the files of a training set by their SHA-256, whatever their names.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use super::{Entry, Manifest, ManifestError, known::KnownDigests};
use crate::{
    Digest,
    shard::{self, FileSource, Shard, ShardError},
};

impl Manifest {
    /// The newest shards, the last ones, with together at most this many positions; at least one
    /// shard.
    #[must_use]
    pub fn newest(&self, positions: u64) -> &[Entry] {
        let mut left = positions;
        let fitting = self.shards.iter().rev().take_while(|entry| match left.checked_sub(entry.positions) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        });
        let count = fitting.count().max(1).min(self.shards.len());
        &self.shards[self.shards.len() - count..]
    }

    /// The files of a folder with the length of one of these shards, by their SHA-256.
    ///
    /// # Errors
    ///
    /// If the folder or a file cannot be read.
    pub fn files(entries: &[Entry], folder: &Path) -> Result<BTreeMap<Digest, PathBuf>, ManifestError> {
        let unreadable = |path: &Path| {
            let path = path.to_owned();
            move |source: io::Error| ManifestError::Unreadable { path, source }
        };
        let lengths: BTreeSet<u64> = entries.iter().map(|entry| entry.bytes).collect();
        let mut known = KnownDigests::read(folder);
        let mut files = BTreeMap::new();
        for file in fs::read_dir(folder).map_err(unreadable(folder))? {
            let path = file.map_err(unreadable(folder))?.path();
            let metadata = fs::metadata(&path).map_err(unreadable(&path))?;
            if metadata.is_file() && lengths.contains(&metadata.len()) {
                files.insert(known.digest(&path, &metadata).map_err(unreadable(&path))?, path);
            }
        }
        known.write(folder);
        Ok(files)
    }

    /// The shards that a folder lacks. An altered file is not one of them.
    ///
    /// # Errors
    ///
    /// If the folder or a file cannot be read.
    pub fn missing<'a>(entries: &'a [Entry], folder: &Path) -> Result<Vec<&'a Entry>, ManifestError> {
        let present: BTreeSet<_> = Self::files(entries, folder)?.into_keys().map(|digest| digest.to_string()).collect();
        Ok(entries.iter().filter(|entry| !present.contains(&entry.sha256)).collect())
    }

    /// The hashes of shards.
    ///
    /// # Errors
    ///
    /// If one is listed in `quarantined`.
    pub fn digests(entries: &[Entry], quarantined: &BTreeSet<Digest>) -> Result<Vec<Digest>, ManifestError> {
        let digests = entries.iter().map(|entry| {
            let digest = entry.sha256.parse().map_err(|_| ManifestError::NotADigest(entry.sha256.clone()))?;
            if quarantined.contains(&digest) { Err(ManifestError::Quarantined(digest)) } else { Ok(digest) }
        });
        digests.collect()
    }

    /// The files of shards in a folder, in this order. An altered file is not found: every file is
    /// hashed that is not known ([`KNOWN_DIGESTS`](super::KNOWN_DIGESTS)).
    ///
    /// # Errors
    ///
    /// If one is missing, altered, or listed in `quarantined`.
    pub fn locate(
        entries: &[Entry],
        folder: &Path,
        quarantined: &BTreeSet<Digest>,
    ) -> Result<Vec<PathBuf>, ManifestError> {
        let (digests, files) = (Self::digests(entries, quarantined)?, Self::files(entries, folder)?);
        let path = |digest| files.get(&digest).cloned().ok_or_else(|| missing(digest, entries, folder, &files));
        digests.into_iter().map(path).collect()
    }

    /// Opens shards in a folder, in this order.
    ///
    /// # Errors
    ///
    /// As [`locate`](Self::locate), or if one is not a shard, or one of games under a clock, or has
    /// other counts.
    pub fn open(
        entries: &[Entry],
        folder: &Path,
        quarantined: &BTreeSet<Digest>,
    ) -> Result<Vec<Shard<FileSource>>, ManifestError> {
        let failed = |path, source| ManifestError::Shard { path, source };
        let open = |(path, entry): (PathBuf, &Entry)| {
            let shard = shard::open(&path).map_err(|error| failed(error.path, error.source))?;
            if shard.header().clock.is_some() {
                return Err(failed(path, ShardError::Timed));
            }
            let counts = [("games", entry.games, shard.games()), ("positions", entry.positions, shard.positions())];
            match counts.into_iter().find(|(_, stated, found)| stated != found) {
                Some((what, stated, found)) => Err(ManifestError::Count { path, what, stated, found }),
                None => Ok(shard),
            }
        };
        Self::locate(entries, folder, quarantined)?.into_iter().zip(entries).map(open).collect()
    }
}

fn missing(digest: Digest, entries: &[Entry], folder: &Path, files: &BTreeMap<Digest, PathBuf>) -> ManifestError {
    // A file of this length that is no other listed shard is the altered one.
    let is_listed = |found: &Digest| entries.iter().any(|entry| entry.sha256 == found.to_string());
    let length = entries.iter().find(|entry| entry.sha256 == digest.to_string()).map(|entry| entry.bytes);
    let is_as_long = |path: &Path| fs::metadata(path).map(|metadata| metadata.len()).ok() == length;
    match files.iter().find(|(found, path)| !is_listed(found) && is_as_long(path)) {
        Some((found, path)) => ManifestError::Altered { path: path.clone(), expected: digest, found: *found },
        None => ManifestError::Missing { digest, folder: folder.to_owned() },
    }
}
