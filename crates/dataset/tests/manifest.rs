//! Training sets on disk: only whole and unaltered shards are read.

#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

mod common;

use std::{collections::BTreeSet, fs, path::PathBuf};

use dataset::{
    Digest,
    manifest::{Manifest, ManifestError},
};

/// A folder with three shards under arbitrary names, and their manifest.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> (Self, Manifest) {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("manifest-{name}"));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        let folder = Self(path);
        let files: Vec<_> = (0..3)
            .map(|seed| {
                let header = common::header(seed);
                let file = folder.file(seed);
                fs::write(&file, common::shard(&header, &common::games(&header, 20 + seed))).unwrap();
                file
            })
            .collect();
        let manifest = Manifest::of_files(&files).unwrap();
        (folder, manifest)
    }

    fn file(&self, seed: u64) -> PathBuf {
        self.0.join(format!("some-{seed}"))
    }

    fn open(&self, manifest: &Manifest, quarantined: &[Digest]) -> Result<Vec<u64>, ManifestError> {
        let quarantined: BTreeSet<_> = quarantined.iter().copied().collect();
        let shards = Manifest::open(&manifest.shards, &self.0, &quarantined)?;
        Ok(shards.iter().map(dataset::shard::Shard::games).collect())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn shards_are_found_by_their_hash() {
    let (folder, manifest) = Folder::new("found");
    assert_eq!(folder.open(&manifest, &[]).unwrap(), [20, 21, 22]);
    let path = folder.0.join("set.json");
    fs::write(&path, manifest.to_text()).unwrap();
    assert_eq!(Manifest::from_file(&path).unwrap(), manifest);
    fs::write(&path, "{}").unwrap();
    let error = Manifest::from_file(&path).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: not a manifest: missing field", path.display())), "{error}");
}

#[test]
fn missing_altered_and_quarantined_shards_are_refused() {
    let (folder, manifest) = Folder::new("refused");
    let digest: Digest = manifest.shards[1].sha256.parse().unwrap();
    let error = folder.open(&manifest, &[digest]).unwrap_err();
    assert!(matches!(error, ManifestError::Quarantined(found) if found == digest), "{error}");

    let mut bytes = fs::read(folder.file(1)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(folder.file(1), &bytes).unwrap();
    let error = folder.open(&manifest, &[]).unwrap_err();
    let ManifestError::Altered { path, expected, found } = &error else { panic!("{error}") };
    assert_eq!((path, *expected, *found), (&folder.file(1), digest, Digest::of(&bytes)));

    fs::remove_file(folder.file(1)).unwrap();
    let error = folder.open(&manifest, &[]).unwrap_err();
    assert_eq!(error.to_string(), format!("no file in {} is the shard {digest}", folder.0.display()));
}

#[test]
fn a_window_takes_the_last_shards_that_fit() {
    let (_folder, manifest) = Folder::new("window");
    let of = |count: usize| manifest.shards[3 - count..].iter().map(|entry| entry.positions).sum::<u64>();
    for (positions, count) in
        [(0, 1), (of(1), 1), (of(2) - 1, 1), (of(2), 2), (of(3) - 1, 2), (of(3), 3), (u64::MAX, 3)]
    {
        assert_eq!(manifest.newest(positions).len(), count, "{positions}");
        assert_eq!(manifest.newest(positions).last(), manifest.shards.last());
    }
}
