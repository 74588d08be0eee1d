//! Simulated disk: replays a process's file operations and can lose power at any time.
//!
//! Synced data survives. Of a folder's unsynced names each may be new or old. Of a file's unsynced
//! data any part may be missing or zero. A rename between two folders is atomic, as on file systems
//! with a journal.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use client::JitterRng;
use testkit::trace::Call;

const FOLDERS: [&str; 2] = ["spool", "refused"];

/// A file's content and its synced length.
#[derive(Clone, Default)]
struct File {
    written: Vec<u8>,
    synced: usize,
}

/// A change of one or two names in a folder.
type Change = Vec<(PathBuf, Option<usize>)>;

/// Some folders of a disk.
pub(crate) struct Disk {
    root: PathBuf,
    files: Vec<File>,
    /// As processes see it.
    names: BTreeMap<PathBuf, usize>,
    safe: BTreeMap<PathBuf, usize>,
    /// Unsynced changes, in order.
    pending: Vec<Change>,
}

/// The path of a call's file.
fn path_of(call: &Call) -> Option<PathBuf> {
    let (_, rest) = call.text.split_once('<')?;
    Some(rest.split_once('>')?.0.trim_end_matches(" (deleted)").into())
}

impl Disk {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            files: Vec::new(),
            names: BTreeMap::new(),
            safe: BTreeMap::new(),
            pending: Vec::new(),
        }
    }

    fn is_ours(&self, path: &Path) -> bool {
        let folder = path.parent();
        path == self.root.join("asking") || FOLDERS.iter().any(|name| folder == Some(&self.root.join(name)))
    }

    fn change(&mut self, change: Change) {
        for (path, file) in &change {
            match file {
                Some(file) => drop(self.names.insert(path.clone(), *file)),
                None => drop(self.names.remove(path)),
            }
        }
        self.pending.push(change);
    }

    /// Replays a call; returns whether it concerned these folders.
    pub(crate) fn act(&mut self, call: &Call) -> bool {
        if !call.went_well() {
            return false;
        }
        let paths: Vec<PathBuf> =
            call.texts().into_iter().map(|text| PathBuf::from(String::from_utf8_lossy(&text).into_owned())).collect();
        if call.is(&["openat"]) {
            let path = paths[0].clone();
            let is_new = self.is_ours(&path) && call.text.contains("O_CREAT") && !self.names.contains_key(&path);
            if is_new {
                self.files.push(File::default());
                self.change(vec![(path, Some(self.files.len() - 1))]);
            }
            return is_new;
        }
        if call.is(&["write"]) {
            let file = path_of(call).and_then(|path| self.names.get(&path).copied());
            if let Some(file) = file {
                let count: usize = call.text.rsplit_once("= ").unwrap().1.trim().parse().unwrap();
                let bytes = call.texts().swap_remove(0);
                assert!(count == bytes.len(), "all of it was written down");
                self.files[file].written.extend(bytes);
            }
            return file.is_some();
        }
        if call.is(&["fsync", "fdatasync"]) {
            let Some(path) = path_of(call) else { return false };
            if let Some(&file) = self.names.get(&path) {
                self.files[file].synced = self.files[file].written.len();
                return true;
            }
            let inside = |name: &Path| name.parent() == Some(&path);
            let names = self.names.iter().filter(|(name, _)| inside(name)).map(|(name, file)| (name.clone(), *file));
            let names: Vec<_> = names.collect();
            self.safe.retain(|name, _| !inside(name));
            self.safe.extend(names);
            let (synced, pending): (Vec<_>, Vec<_>) = std::mem::take(&mut self.pending)
                .into_iter()
                .partition(|change: &Change| change.iter().any(|(path, _)| inside(path)));
            self.pending = pending;
            // The other side of a rename.
            for (path, file) in synced.iter().flatten().filter(|(path, _)| !inside(path)) {
                match file {
                    Some(file) => drop(self.safe.insert(path.clone(), *file)),
                    None => drop(self.safe.remove(path)),
                }
            }
            return !synced.is_empty();
        }
        let Some(&file) = paths.first().and_then(|path| self.names.get(path)) else { return false };
        if call.is(&["link", "linkat"]) {
            self.change(vec![(paths[1].clone(), Some(file))]);
        } else if call.is(&["rename", "renameat", "renameat2"]) {
            self.change(vec![(paths[0].clone(), None), (paths[1].clone(), Some(file))]);
        } else if call.is(&["unlink", "unlinkat"]) {
            self.change(vec![(paths[0].clone(), None)]);
        } else {
            return false;
        }
        true
    }

    /// Writes a possible state after a power loss into another folder.
    pub(crate) fn lose_power(&self, rng: &mut JitterRng, into: &Path) {
        let mut names = self.safe.clone();
        // Some disks keep the order of changes and some do not.
        let in_order = rng.next_u64().is_multiple_of(2);
        let most = rng.next_u64() as usize % (self.pending.len() + 1);
        for (index, change) in self.pending.iter().enumerate() {
            if if in_order { index < most } else { rng.next_u64().is_multiple_of(2) } {
                for (path, file) in change {
                    match file {
                        Some(file) => drop(names.insert(path.clone(), *file)),
                        None => drop(names.remove(path)),
                    }
                }
            }
        }
        for folder in FOLDERS {
            fs::create_dir_all(into.join(folder)).unwrap();
        }
        for (path, file) in names {
            let File { written, synced } = &self.files[file];
            let mut bytes = written.clone();
            let cut = synced + rng.next_u64() as usize % (written.len() - synced + 1);
            if rng.next_u64().is_multiple_of(2) {
                bytes.truncate(cut);
            } else {
                bytes[cut..].fill(0);
            }
            fs::write(into.join(path.strip_prefix(&self.root).unwrap()), bytes).unwrap();
        }
    }
}
