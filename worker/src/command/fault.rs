//! Faults of a command, and how they are printed.

use std::{
    io::{self, Write as _},
    time::Duration,
};

use anyhow::Error;
use xiangqi::text::plain_words;

use crate::supervised;

/// Timeout of a terminal that is stopped.
const PRINT_TIMEOUT: Duration = Duration::from_secs(2);

/// A fault that may pass, such as one of the disk. It is no bad input, so a service manager starts
/// the worker again.
#[derive(Debug, thiserror::Error)]
#[error("{0:#}")]
pub(super) struct PassingFault(Error);

/// Marks an error as a fault that may pass.
pub(super) fn passing(error: impl Into<Error>) -> Error {
    PassingFault(error.into()).into()
}

/// Returns whether only the owner can mend an error of a path: it is not their file or folder.
pub(super) fn is_misplaced(error: &Error) -> bool {
    use io::ErrorKind::{AlreadyExists, InvalidData, IsADirectory, NotADirectory, PermissionDenied};
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    kind.is_some_and(|kind| {
        matches!(kind, AlreadyExists | InvalidData | IsADirectory | NotADirectory | PermissionDenied)
    })
}

/// Prints an error. A stopped terminal is not waited for.
pub(super) fn print_error(text: impl AsRef<str>) {
    let text = plain_words(text.as_ref());
    supervised::run_within(PRINT_TIMEOUT, "error", move || drop(writeln!(io::stderr(), "{text}")));
}
