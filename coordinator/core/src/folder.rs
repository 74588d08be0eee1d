//! Rights of the coordinator's data. They hold accounts, hashes of tokens, and games before their
//! audit.

use std::{
    fs::{self, DirBuilder, File, Permissions},
    io,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::Path,
};

/// Creates a folder, and those above it that are missing, for this user only. A folder that exists
/// keeps its rights.
///
/// # Errors
///
/// If it cannot be created.
pub fn create_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => io::Error::new(error.kind(), "it is a file"),
        _ => error,
    })
}

/// Creates a file for this user only, unless it exists.
///
/// # Errors
///
/// If it cannot be created.
pub fn create_private_file(path: &Path) -> io::Result<()> {
    File::options().create(true).append(true).mode(0o600).open(path).map(drop)
}

/// Takes all rights on a file or a folder from users outside of its group.
///
/// # Errors
///
/// If it belongs to another user.
pub fn close_to_others(path: &Path) -> io::Result<()> {
    let rights = fs::metadata(path)?.permissions().mode();
    let closed = rights & !0o007;
    if closed == rights { Ok(()) } else { fs::set_permissions(path, Permissions::from_mode(closed)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rights(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn only_its_user_reads_a_new_folder() {
        let parent = tempfile::tempdir().unwrap();
        fs::set_permissions(parent.path(), Permissions::from_mode(0o755)).unwrap();
        let folder = parent.path().join("data/objects");
        create_private(&folder).unwrap();
        assert_eq!([rights(&folder), rights(&parent.path().join("data"))], [0o700; 2]);
        create_private(parent.path()).unwrap();
        assert_eq!(rights(parent.path()), 0o755, "it was there before");
    }

    #[test]
    fn a_file_that_was_open_to_all_is_left_to_its_group() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("chuhe.db");
        create_private_file(&file).unwrap();
        assert_eq!(rights(&file), 0o600);
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        create_private_file(&file).unwrap();
        assert_eq!(rights(&file), 0o644, "it was there before");
        close_to_others(&file).unwrap();
        assert_eq!(rights(&file), 0o640);
    }
}
