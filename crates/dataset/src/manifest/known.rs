//! Digests of files that were hashed before.

use std::{
    collections::BTreeMap,
    fs::{self, File, Metadata},
    io::{self, Read as _},
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use sha2::{Digest as _, Sha256};

use crate::{AtomicFile, Digest};

/// The file in a folder of shards with the digests of files that were hashed before.
///
/// Each line has a file's SHA-256, its length, its time of modification in nanoseconds since 1970,
/// and its name. A file is hashed again if its length or its time differs.
pub const KNOWN_DIGESTS: &str = ".known-digests";

/// A file's length and time of modification, as a line has them.
type Stamp = (u64, u128);

/// The known digests of a folder.
#[derive(Default)]
pub(super) struct KnownDigests {
    before: BTreeMap<String, (Stamp, Digest)>,
    now: BTreeMap<String, (Stamp, Digest)>,
    /// When they were written: a file that is as new may have been altered since.
    written: u128,
}

impl KnownDigests {
    /// Reads what an earlier call wrote. A missing or damaged file only costs time.
    pub(super) fn read(folder: &Path) -> Self {
        let path = folder.join(KNOWN_DIGESTS);
        let text = fs::read_to_string(&path).unwrap_or_default();
        let written = fs::metadata(&path).ok().and_then(|metadata| nanoseconds(&metadata)).unwrap_or(0);
        let before = text.lines().filter_map(|line| {
            let mut words = line.splitn(4, ' ');
            let digest = words.next()?.parse().ok()?;
            let stamp = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            Some((words.next()?.to_owned(), (stamp, digest)))
        });
        Self { before: before.collect(), now: BTreeMap::new(), written }
    }

    /// The digest of a file.
    pub(super) fn digest(&mut self, path: &Path, metadata: &Metadata) -> io::Result<Digest> {
        let stamp = nanoseconds(metadata).map(|modified| (metadata.len(), modified));
        let name = path.file_name().and_then(|name| name.to_str()).filter(|name| !name.contains('\n'));
        let known = name.and_then(|name| self.before.get(name));
        let known = known.filter(|(before, _)| Some(*before) == stamp && before.1 < self.written);
        let digest = match known {
            Some((_, digest)) => *digest,
            None => hash(path)?,
        };
        if let (Some(name), Some(stamp)) = (name, stamp) {
            self.now.insert(name.to_owned(), (stamp, digest));
        }
        Ok(digest)
    }

    /// Writes the digests, unless nothing changed. A folder that cannot be written to only costs
    /// time.
    pub(super) fn write(mut self, folder: &Path) {
        let mut all = self.before.clone();
        all.append(&mut self.now);
        if all == self.before {
            return;
        }
        let lines: Vec<_> = all
            .iter()
            .map(|(name, ((bytes, modified), digest))| format!("{digest} {bytes} {modified} {name}\n"))
            .collect();
        let _ = AtomicFile::replace(folder.join(KNOWN_DIGESTS), lines.concat().as_bytes());
    }
}

fn nanoseconds(metadata: &Metadata) -> Option<u128> {
    let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH).duration_since(UNIX_EPOCH).ok()?;
    Some(modified.as_nanos())
}

fn hash(path: &Path) -> io::Result<Digest> {
    let mut file = File::open(path)?;
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(<[u8; 32]>::from(hasher.finalize()).into()),
            read => hasher.update(&buffer[..read]),
        }
    }
}
