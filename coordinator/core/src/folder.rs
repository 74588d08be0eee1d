//! Folders of the coordinator's data.

use std::{
    fs::{DirBuilder, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::Path,
};

/// Creates a folder, and those above it that are missing, for this user only. They hold accounts,
/// hashes of tokens, and games before their audit. A folder that exists keeps its rights.
///
/// # Errors
///
/// If it cannot be created.
pub fn create_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates an empty file for this user only. A file that exists is left as it is.
///
/// # Errors
///
/// If it cannot be created.
pub(crate) fn create_private_file(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;

    fn rights(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn only_its_user_reads_a_new_folder() {
        let parent = tempfile::tempdir().unwrap();
        fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let folder = parent.path().join("data/objects");
        create_private(&folder).unwrap();
        assert_eq!([rights(&folder), rights(&parent.path().join("data"))], [0o700; 2]);
        create_private(parent.path()).unwrap();
        assert_eq!(rights(parent.path()), 0o755, "it was there before");
    }

    #[test]
    fn only_its_user_reads_a_new_file() {
        let parent = tempfile::tempdir().unwrap();
        let [new, old] = ["new", "old"].map(|name| parent.path().join(name));
        fs::write(&old, "rows").unwrap();
        fs::set_permissions(&old, fs::Permissions::from_mode(0o644)).unwrap();
        for path in [&new, &old] {
            create_private_file(path).unwrap();
        }
        assert_eq!((rights(&new), rights(&old), fs::read(&old).unwrap()), (0o600, 0o644, b"rows".to_vec()));
        assert!(create_private_file(&parent.path().join("no/folder")).is_err());
    }
}
