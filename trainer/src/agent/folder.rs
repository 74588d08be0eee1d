//! The folder in which an agent keeps what must outlive it.
//!
//! ```text
//! lock       held while an agent runs
//! shards/    games, by their hashes; kept for other trainings as far as there is room
//! NAME/      a training: its recipe, its training sets, and its run
//! ```

use std::{
    collections::BTreeSet,
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use anyhow::{Context as _, Result, bail};
use dataset::{Digest, NewFile, manifest::Entry};
use protocol::{api::training::Training, is_name, recipe::Recipe};

use crate::run;

/// The folder, held by this process alone.
pub(super) struct Folder {
    root: PathBuf,
    _lock: File,
}

impl Folder {
    /// Takes a folder; it is made if it is not there.
    pub(super) fn take(root: &Path) -> Result<Self> {
        let named = || root.display().to_string();
        fs::create_dir_all(root.join("shards")).with_context(named)?;
        let path = root.join("lock");
        let lock = File::create(&path).with_context(|| path.display().to_string())?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { root: root.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => {
                bail!("{}: another agent runs with this folder; `--work DIR` gives this one another", named())
            }
            Err(TryLockError::Error(error)) => Err(error).with_context(named),
        }
    }

    /// Where shards are.
    pub(super) fn shards(&self) -> PathBuf {
        self.root.join("shards")
    }

    /// The folder of a training: the same for the same recipe and training sets.
    pub(super) fn name_of(&self, recipe: &Recipe, training: &Training) -> PathBuf {
        let sets: Vec<_> = training.manifests.iter().map(|named| format!("{} {}", named.name, named.sha256)).collect();
        let digest = Digest::of(format!("{}\n{}", recipe.to_text(), sets.join("\n")).as_bytes()).to_string();
        let name = if is_name(&recipe.name) { &recipe.name } else { "training" };
        self.root.join(format!("{name}-{}", &digest[..16]))
    }

    /// A training's folder, with its recipe in it.
    pub(super) fn training(&self, recipe: &Recipe, training: &Training) -> Result<run::Folder> {
        let path = self.name_of(recipe, training);
        fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        let folder = run::Folder::new(&path);
        let path = folder.file("recipe.toml");
        NewFile::replace(&path, recipe.to_text().as_bytes()).with_context(|| path.display().to_string())?;
        Ok(folder)
    }

    /// Takes away shards that are not needed now, those first that were used longest ago, until they have so many bytes.
    pub(super) fn make_room(&self, needed: &[Entry], spare_bytes: u64) -> Result<()> {
        let needed: BTreeSet<_> = needed.iter().map(|entry| format!("{}.chuhe", entry.sha256)).collect();
        let shards = self.shards();
        let failed = || shards.display().to_string();
        let mut spare = Vec::new();
        for file in fs::read_dir(&shards).with_context(failed)? {
            let file = file.with_context(failed)?;
            let name = file.file_name().to_string_lossy().into_owned();
            let known = name.strip_prefix('.').and_then(|name| name.strip_suffix(".part")).unwrap_or(&name);
            if !needed.contains(known) {
                let metadata = file.metadata().with_context(failed)?;
                spare.push((metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH), file.path(), metadata.len()));
            }
        }
        spare.sort();
        let mut bytes: u64 = spare.iter().map(|(_, _, length)| length).sum();
        for (_, path, length) in spare {
            if bytes <= spare_bytes {
                break;
            }
            fs::remove_file(&path).with_context(|| path.display().to_string())?;
            bytes -= length;
        }
        Ok(())
    }

    /// Notes that shards were used.
    pub(super) fn were_used(&self, shards: &[Entry], since_1970: Duration) {
        for entry in shards {
            let path = self.shards().join(format!("{}.chuhe", entry.sha256));
            // Who cannot note it only forgets sooner.
            if let Ok(file) = File::options().append(true).open(path) {
                let _ = file.set_modified(SystemTime::UNIX_EPOCH + since_1970);
            }
        }
    }

    /// A sentence as others may read it: where things are on this machine is nobody's business.
    pub(super) fn without_places(&self, text: &str) -> String {
        let root = self.root.display().to_string();
        if root.len() > 1 { text.replace(&root, "…") } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(sha256: &str) -> Entry {
        let text = format!(
            "{{\"sha256\":{sha256:?},\"bytes\":4,\"games\":1,\"positions\":1,\"outcomes\":{{}},\"provenance\":\
             {{\"bench_signature\":1,\"net\":null,\"rules\":\"cxr\",\"hard_nodes\":1,\"soft_nodes\":null,\"book\":null,\
             \"random_plies\":8,\"seed\":1,\"first_game\":0}},\"scale_tenths\":null}}"
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_folder_is_held_by_one() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::take(place.path()).unwrap();
        assert!(Folder::take(place.path()).is_err_and(|error| error.to_string().contains("another agent")));
        drop(folder);
        assert!(Folder::take(place.path()).is_ok());
    }

    #[test]
    fn what_was_used_longest_ago_goes_first_and_what_is_needed_stays() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::take(place.path()).unwrap();
        for (name, at) in [("a", 3), ("b", 1), ("c", 2), ("d", 0)] {
            fs::write(folder.shards().join(format!("{name}.chuhe")), "four").unwrap();
            folder.were_used(&[entry(name)], Duration::from_secs(at));
        }
        folder.make_room(&[entry("d")], 8).unwrap();
        let is_there = |name: &str| folder.shards().join(format!("{name}.chuhe")).exists();
        assert_eq!(["a", "b", "c", "d"].map(is_there), [true, false, true, true]);
        folder.make_room(&[], 0).unwrap();
        assert_eq!(["a", "b", "c", "d"].map(is_there), [false; 4]);
    }

    #[test]
    fn places_are_not_told() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::take(place.path()).unwrap();
        let text = format!("{}/x/games.json: nothing", place.path().display());
        assert_eq!(folder.without_places(&text), "…/x/games.json: nothing");
    }
}
