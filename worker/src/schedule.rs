//! Schedule: when the worker may play. Its owner is the supervisor.

use std::{path::PathBuf, time::Duration};

use crate::{control::is_paused, hours::Hours, power::is_on_battery};

/// Reason for a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PauseReason {
    /// The owner paused it.
    Requested,
    /// Outside the allowed hours.
    Hours,
    /// The machine runs on battery.
    Battery,
}

impl PauseReason {
    /// Returns the reason as one sentence.
    #[must_use]
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            Self::Requested => "Paused; `chuhe-worker status --resume` resumes.",
            Self::Hours => "Resting: it is not among the hours in which this machine may play.",
            Self::Battery => "Resting: the machine runs on its battery.",
        }
    }
}

/// The owner's limits in time.
pub(crate) struct Schedule {
    /// State folder, with the pause file.
    pub(crate) root: PathBuf,
    pub(crate) hours: Hours,
    pub(crate) on_battery: bool,
    /// Folder in which the system describes its power supplies.
    pub(crate) power_supplies: PathBuf,
}

impl Schedule {
    /// Returns why nothing may be played at this time (since 1970), if so.
    pub(crate) fn pause_reason(&self, since_1970: Duration) -> Option<PauseReason> {
        if is_paused(&self.root) {
            Some(PauseReason::Requested)
        } else if !self.hours.allows(since_1970) {
            Some(PauseReason::Hours)
        } else if !self.on_battery && is_on_battery(&self.power_supplies) {
            Some(PauseReason::Battery)
        } else {
            None
        }
    }
}
