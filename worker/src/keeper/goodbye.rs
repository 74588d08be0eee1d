//! How a worker comes to its end.

use std::time::Duration;

use super::{Keeper, ROUND};
use crate::{desk::Ending, status::Snapshot};

/// How long a worker that has finished tries to hand in what it has and to give back what it will not play.
pub(super) const FINISHED: Duration = Duration::from_secs(10);
/// How long one that was told to stop. With the moves at hand that is less than the ten seconds after which whoever runs
/// containers kills them.
pub(super) const STOPPED: Duration = Duration::from_secs(5);
/// How long if it was told twice.
const LAST_WORD: Duration = Duration::from_secs(1);
/// How long it waits for the moves at hand.
const LAST_MOVES: Duration = Duration::from_secs(3);

impl Keeper<'_> {
    /// Nothing is played any more: what there is goes to the outbox.
    pub(super) fn stop(&mut self) {
        // Threads look up between moves.
        let end = self.desk.clock.now() + LAST_MOVES;
        let urged = self.urged;
        while self.desk.clock.now() < end && self.urged == urged {
            if self.desk.look(|state| state.jobs.iter().all(|job| job.at_hand.is_empty())) {
                break;
            }
            self.desk.wait(ROUND, |state| state.wished || state.jobs.iter().all(|job| job.at_hand.is_empty()));
            self.hear();
        }
        self.desk.change(|state| {
            for mut job in std::mem::take(&mut state.jobs) {
                job.abandon();
                state.over.push(job);
            }
        });
        self.packing = None;
        self.pack();
    }

    /// Hands in what is in the outbox, if that is possible now. Who says once more that it shall end waits for nothing.
    pub(super) fn say_goodbye(&mut self, longest: Duration) {
        let failures = self.desk.look(|state| state.failures);
        let urged = self.urged;
        let until = self.desk.clock.now() + if urged < 2 { longest } else { LAST_WORD };
        // Wakes the sender up, if a failure has put it to sleep.
        self.desk.change(|state| {
            state.ending = Ending::Stop;
            state.goodbyes += 1;
        });
        loop {
            self.hear();
            self.tell();
            let over = self.desk.look(|state| state.outbox == 0 || state.failures > failures);
            if self.urged > urged {
                self.screen.line("The server is not waited for.");
                break;
            }
            if over || self.desk.clock.now() > until {
                break;
            }
            self.desk.wait(ROUND, |state| state.wished || state.outbox == 0);
        }
        let server = self.client.server_address().to_string();
        let is_ours = |name: &String| self.outbox.read(name).is_ok_and(|parcel| parcel.label.server == server);
        let kept = self.outbox.names().map_or(0, |names| names.iter().filter(|name| is_ours(name)).count());
        if kept > 0 {
            self.screen.line(&format!("{kept} results wait on disk, and are handed in at the next start."));
        }
        let (unpacked, why) = self.desk.look(|state| (state.over.len(), state.disk().cloned().unwrap_or_default()));
        if unpacked > 0 {
            self.screen.line(&format!(
                "{unpacked} leases could not be packed; what is on disk of them is gone on with at the next start, the \
                 rest is played again. {why}"
            ));
        }
        Snapshot::remove(self.folder.root());
    }
}
