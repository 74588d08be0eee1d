//! Folders of the coordinator's data.

use std::{fs::DirBuilder, io, os::unix::fs::DirBuilderExt as _, path::Path};

/// Creates a folder, and those above it that are missing, for this user only. They hold accounts,
/// hashes of tokens, and games before their audit. A folder that exists keeps its rights.
///
/// # Errors
///
/// If it cannot be created.
pub fn create_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
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
}
