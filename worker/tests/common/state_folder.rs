//! Content of a worker's state folder.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use worker::spool::{Contents, State};

/// Returns the leases in a folder: files and contents. A running worker may remove one meanwhile.
pub(crate) fn leases(state: &Path) -> Vec<(PathBuf, Contents)> {
    let entries = match fs::read_dir(state.join("spool")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        entries => entries.unwrap(),
    };
    let mut leases = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        let is_lease = path.extension().is_some_and(|extension| extension == "lease");
        if let (true, Ok(bytes)) = (is_lease, fs::read(&path)) {
            leases.push((path, Contents::read(&bytes).0));
        }
    }
    leases
}

/// Returns the number of leases in a state.
pub(crate) fn count(state: &Path, wanted: State) -> usize {
    leases(state).iter().filter(|(_, contents)| contents.state() == Some(wanted)).count()
}

/// Returns the finished games.
pub(crate) fn finished(state: &Path) -> BTreeSet<u64> {
    leases(state).iter().flat_map(|(_, contents)| contents.finished()).collect()
}
