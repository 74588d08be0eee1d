//! The queue to the writer.

use std::sync::mpsc::SyncSender;

use crate::spool::SpoolFile;

/// A change of the spool.
pub(crate) enum Change {
    /// A lease is played from now on.
    Open {
        /// Its name.
        name: String,
        /// Its file.
        file: SpoolFile,
    },
    /// A game is finished.
    Game {
        /// Name of its lease.
        name: String,
        /// Number of the game.
        number: u64,
        /// The encoded game.
        game: Vec<u8>,
    },
    /// A lease was renewed.
    Renewed {
        /// Its name.
        name: String,
        /// Its expiry, in seconds since 1970.
        until: u64,
    },
    /// No more games of a lease follow.
    Close {
        /// Its name.
        name: String,
    },
    /// Everything before is to be written at once. The answer is the number of leases that could
    /// not be closed.
    Flush(SyncSender<usize>),
}
