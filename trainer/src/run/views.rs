//! Views of a run's metrics, rewritten each time, so that they never show more than the metrics.

use super::{Folder, Metrics, RunError};
use dataset::AtomicFile;

use crate::{events, picture};

/// The views of a run's metrics.
pub struct Views;

impl Views {
    /// The picture's file.
    pub const CURVES: &str = "curves.svg";

    /// Writes the picture and the TensorBoard file.
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
            AtomicFile::replace(&path, &bytes).map_err(|cause| RunError::View { path, cause })?;
        }
        Ok(())
    }
}
