//! Operations on settings.

mod change;
mod follow_clock;
mod probe_disk;
mod record_disk;

pub use change::ChangeSetting;
pub use follow_clock::FollowClock;
pub use probe_disk::ProbeDisk;
pub use record_disk::RecordDisk;
