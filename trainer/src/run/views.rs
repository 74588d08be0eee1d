//! The figures of a run to look at, made anew from its metrics each time: what a killed run wrote too much is gone.

use super::{Folder, Metrics, RunError};
use dataset::NewFile;

use crate::{events, picture};

/// What is made of a run's metrics.
pub struct Views;

impl Views {
    /// The picture's file.
    pub const CURVES: &str = "curves.svg";

    /// Writes the picture, and the file for TensorBoard.
    ///
    /// # Errors
    ///
    /// If the metrics cannot be read, or the disk fails.
    pub fn write(folder: &Folder, name: &str) -> Result<(), RunError> {
        let lines = Metrics::read_lines(&folder.metrics())?;
        let views =
            [(Self::CURVES, picture::curves(name, &lines).into_bytes()), (events::FILE, events::of_lines(&lines))];
        for (file, bytes) in views {
            let path = folder.file(file);
            NewFile::replace(&path, &bytes).map_err(|cause| RunError::View { path, cause })?;
        }
        Ok(())
    }
}
