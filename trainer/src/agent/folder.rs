//! The agent's work folder, which outlives the process.
//!
//! ```text
//! lock       held while an agent runs
//! shards/    games, by their hashes; a cache for later trainings
//! NAME/      a training: its recipe, its training sets, and its run
//! ```

use std::{
    collections::BTreeSet,
    fs::{self, File, FileTimes, TryLockError},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use anyhow::{Context as _, Result, bail};
use dataset::{
    AtomicFile, Digest,
    manifest::{Entry, KNOWN_DIGESTS},
};
use protocol::{api::training::Training, is_name, recipe::Recipe};

use crate::{data::FETCHED, run};

/// The work folder, locked by this process.
pub(super) struct Folder {
    root: PathBuf,
    _lock: File,
}

impl Folder {
    /// Creates and locks the folder.
    pub(super) fn lock(root: &Path) -> Result<Self> {
        let named = || root.display().to_string();
        let unusable = || format!("the work folder {} cannot be used (`--work DIR` names another)", root.display());
        fs::create_dir_all(root.join("shards")).with_context(unusable)?;
        let lock = File::create(root.join("lock")).with_context(unusable)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { root: root.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => {
                bail!("{}: another agent runs with this folder; `--work DIR` gives this one another", named())
            }
            Err(TryLockError::Error(error)) => Err(error).with_context(named),
        }
    }

    /// The folder of shards.
    pub(super) fn shards(&self) -> PathBuf {
        self.root.join("shards")
    }

    /// The folder of a training; a function of the recipe and the training sets.
    pub(super) fn training_path(&self, recipe: &Recipe, training: &Training) -> PathBuf {
        let sets: Vec<_> = training.manifests.iter().map(|named| format!("{} {}", named.name, named.sha256)).collect();
        let digest = Digest::of(format!("{}\n{}", recipe.to_text(), sets.join("\n")).as_bytes()).to_string();
        let name = if is_name(&recipe.name) { &recipe.name } else { "training" };
        self.root.join(format!("{name}-{}", &digest[..16]))
    }

    /// Creates a training's folder and writes its recipe.
    pub(super) fn training(&self, recipe: &Recipe, training: &Training) -> Result<run::Folder> {
        let path = self.training_path(recipe, training);
        fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        let folder = run::Folder::new(&path);
        let path = folder.file("recipe.toml");
        AtomicFile::replace(&path, recipe.to_text().as_bytes()).with_context(|| path.display().to_string())?;
        Ok(folder)
    }

    /// Evicts the least recently used shards that are not needed now, down to `spare_bytes`.
    pub(super) fn evict_shards(&self, needed: &[Entry], spare_bytes: u64) -> Result<()> {
        let needed: BTreeSet<_> = needed.iter().map(|entry| format!("{}.chuhe", entry.sha256)).collect();
        let shards = self.shards();
        let failed = || shards.display().to_string();
        let mut spare = Vec::new();
        // Those that were fetched when they were drawn are needed by none.
        let fetched = fs::read_dir(shards.join(FETCHED)).into_iter().flatten().map(|file| (file, false));
        let files = fs::read_dir(&shards).with_context(failed)?.map(|file| (file, true));
        for (file, may_be_needed) in files.chain(fetched) {
            let file = file.with_context(failed)?;
            let name = file.file_name().to_string_lossy().into_owned();
            let known = name.strip_prefix('.').and_then(|name| name.strip_suffix(".part")).unwrap_or(&name);
            let metadata = file.metadata().with_context(failed)?;
            if metadata.is_file() && name != KNOWN_DIGESTS && !(may_be_needed && needed.contains(known)) {
                spare.push((metadata.accessed().unwrap_or(SystemTime::UNIX_EPOCH), file.path(), metadata.len()));
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

    /// Updates the time of last use. That of modification stays: a shard's digest is known by it.
    pub(super) fn touch(&self, shards: &[Entry], since_1970: Duration) {
        for entry in shards {
            let path = self.shards().join(format!("{}.chuhe", entry.sha256));
            // A failure only makes the shard an earlier candidate for eviction.
            if let Ok(file) = File::options().append(true).open(path) {
                let used = FileTimes::new().set_accessed(SystemTime::UNIX_EPOCH + since_1970);
                let _ = file.set_times(used);
            }
        }
    }

    /// Removes this machine's paths from a text for others.
    pub(super) fn redact_paths(&self, text: &str) -> String {
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
    fn a_folder_is_locked_by_one_process() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::lock(dir.path()).unwrap();
        assert!(Folder::lock(dir.path()).is_err_and(|error| error.to_string().contains("another agent")));
        drop(folder);
        assert!(Folder::lock(dir.path()).is_ok());
    }

    #[test]
    fn a_wrong_work_folder_is_named_with_its_option() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let error = format!("{:#}", Folder::lock(&file).err().unwrap());
        let text = format!("the work folder {} cannot be used (`--work DIR` names another): ", file.display());
        assert!(error.starts_with(&text), "{error}");
    }

    #[test]
    fn least_recently_used_shards_are_evicted_and_needed_ones_stay() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::lock(dir.path()).unwrap();
        for (name, at) in [("a", 3), ("b", 1), ("c", 2), ("d", 0)] {
            fs::write(folder.shards().join(format!("{name}.chuhe")), "four").unwrap();
            folder.touch(&[entry(name)], Duration::from_secs(at));
        }
        // A needed one that was fetched when it was drawn, and is older.
        let fetched = folder.shards().join(FETCHED).join("d.chuhe");
        fs::create_dir(fetched.parent().unwrap()).unwrap();
        fs::write(&fetched, "four").unwrap();
        File::options()
            .write(true)
            .open(&fetched)
            .unwrap()
            .set_times(FileTimes::new().set_accessed(SystemTime::UNIX_EPOCH))
            .unwrap();
        folder.evict_shards(&[entry("d")], 8).unwrap();
        assert!(!fetched.exists());
        let is_there = |name: &str| folder.shards().join(format!("{name}.chuhe")).exists();
        assert_eq!(["a", "b", "c", "d"].map(is_there), [true, false, true, true]);
        folder.evict_shards(&[], 0).unwrap();
        assert_eq!(["a", "b", "c", "d"].map(is_there), [false; 4]);
    }

    #[test]
    fn paths_of_this_machine_are_redacted() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::lock(dir.path()).unwrap();
        let text = format!("{}/x/games.json: nothing", dir.path().display());
        assert_eq!(folder.redact_paths(&text), "…/x/games.json: nothing");
    }
}
