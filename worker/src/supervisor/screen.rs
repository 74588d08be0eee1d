//! The screen, as the supervisor sees it.

use crate::status::Snapshot;

/// Display of messages and status.
pub trait Screen: Send {
    /// Prints a message.
    fn line(&mut self, text: &str);
    /// Shows the current status.
    fn show(&mut self, snapshot: &Snapshot);
    /// Returns whether a person looks at it.
    fn is_watched(&self) -> bool {
        false
    }
}
