//! Schedule: when the worker may play. It pauses and resumes the work.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError},
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

/// Interval of checks of hours, battery and the pause file.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// The owner's limits in time.
pub(crate) struct Schedule {
    /// State folder, with the pause file.
    pub(crate) root: PathBuf,
    pub(crate) hours: Hours,
    pub(crate) on_battery: bool,
    /// Folder in which the system describes its power supplies.
    pub(crate) power_supplies: PathBuf,
    pub(crate) sleep: SleepDetector,
    pub(crate) work: Arc<Work>,
    pub(crate) messages: Arc<Messages>,
}

impl Schedule {
    /// Runs until the worker has ended. The owner's requests to pause or to resume are obeyed at
    /// once.
    pub(crate) fn run(mut self, requests: &Receiver<bool>) {
        loop {
            match requests.recv_timeout(self.work.clock().real(CHECK_INTERVAL)) {
                // If the folder cannot be written, playing fails too and reports it.
                Ok(pause) => drop(set_paused(&self.root, pause)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.check();
        }
    }

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
