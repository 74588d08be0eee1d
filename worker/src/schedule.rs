//! Schedule: when the worker may play. It pauses and resumes the work.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{Receiver, Sender},
    },
    time::Duration,
};

use crate::{
    control::{is_paused, set_paused},
    hours::Hours,
    messages::Messages,
    power::is_on_battery,
    sentence::count,
    work::{PauseReason, SleepDetector, Work},
};

/// The owner's limits in time.
pub(crate) struct Schedule {
    /// The owner has paused the worker.
    pub(crate) is_paused: bool,
    pub(crate) hours: Hours,
    pub(crate) on_battery: bool,
    /// Folder in which the system describes its power supplies.
    pub(crate) power_supplies: PathBuf,
    pub(crate) sleep: SleepDetector,
    pub(crate) work: Arc<Work>,
    pub(crate) messages: Arc<Messages>,
}

impl Schedule {
    /// Pauses and resumes by pause file, hours and battery.
    pub(crate) fn check(&mut self) {
        let expired = self.sleep.slept().map_or(0, |slept| self.work.wake(slept));
        if expired > 0 {
            let what = count(expired, "lease");
            self.messages.log(format!("{what} expired while this machine slept; finished games are submitted."));
        }
        let pause = self.pause_reason(self.work.clock().since_1970());
        if self.work.set_pause(pause) {
            self.messages.log(pause.map_or("Playing again.", PauseReason::reason));
        }
    }

    /// Returns why nothing may be played at this time (since 1970), if so.
    fn pause_reason(&self, since_1970: Duration) -> Option<PauseReason> {
        if self.is_paused {
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

/// The pause file, which a thread without other duties looks at: its disk may hang.
pub(crate) struct PauseFile {
    /// State folder.
    pub(crate) root: PathBuf,
    /// Whether it existed at the last look.
    pub(crate) known: bool,
    /// The owner's requests, to be written.
    pub(crate) requests: Receiver<bool>,
    /// Changes by others.
    pub(crate) changes: Sender<bool>,
}

impl PauseFile {
    /// Writes a request, or tells what others have changed. A request that cannot be written holds
    /// until the worker ends.
    pub(crate) fn look(&mut self) {
        let request = self.requests.try_iter().last();
        let is_written = request.is_some_and(|pause| set_paused(&self.root, pause).is_ok());
        let found = request.filter(|_| is_written).unwrap_or_else(|| is_paused(&self.root));
        if std::mem::replace(&mut self.known, found) != found && request.is_none() {
            let _ = self.changes.send(found);
        }
    }
}
