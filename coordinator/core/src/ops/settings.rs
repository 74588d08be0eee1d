//! Operations on settings.

mod change;
mod record_disk;

pub use change::ChangeSetting;
pub use record_disk::RecordDisk;
