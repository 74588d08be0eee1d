//! Shutdown: saves running leases and flushes the outbox under a timeout.

use std::time::Duration;

use super::{Supervisor, TICK_INTERVAL};
use crate::{shared::Shutdown, status::Snapshot};

/// Flush timeout after `Finish`.
pub(super) const FINISH_FLUSH_TIMEOUT: Duration = Duration::from_secs(10);
/// Flush timeout after `Stop`. With `MOVE_TIMEOUT` it is below the ten seconds after which
/// container runtimes kill.
pub(super) const STOP_FLUSH_TIMEOUT: Duration = Duration::from_secs(5);
/// Flush timeout after a second stop request.
const FORCED_FLUSH_TIMEOUT: Duration = Duration::from_secs(1);
/// Timeout of the moves in progress.
const MOVE_TIMEOUT: Duration = Duration::from_secs(3);

impl Supervisor<'_> {
    /// Stops playing and moves all jobs to the outbox.
    pub(super) fn stop(&mut self) {
        // Threads check for the shutdown between moves.
        let end = self.shared.clock.now() + MOVE_TIMEOUT;
        let stop_requests = self.stop_requests;
        while self.shared.clock.now() < end && self.stop_requests == stop_requests {
            if self.shared.read(|state| state.jobs.iter().all(|job| job.at_hand.is_empty())) {
                break;
            }
            self.shared.wait(TICK_INTERVAL, |state| {
                state.signal_pending || state.jobs.iter().all(|job| job.at_hand.is_empty())
            });
            self.handle_signals();
        }
        self.shared.update(|state| {
            for mut job in std::mem::take(&mut state.jobs) {
                job.drop_games();
                state.retired_jobs.push(job);
            }
        });
        self.outbox_failed_at = None;
        self.submit_retired();
    }

    /// Sends the outbox as far as possible within the timeout. A further stop request cancels it.
    pub(super) fn flush_outbox(&mut self, timeout: Duration) {
        let failures = self.shared.read(|state| state.failed_flushes);
        let stop_requests = self.stop_requests;
        let until = self.shared.clock.now() + if stop_requests < 2 { timeout } else { FORCED_FLUSH_TIMEOUT };
        // Wakes the sender, which may be in its backoff.
        self.shared.update(|state| {
            state.shutdown = Shutdown::Stop;
            state.flush_requests += 1;
        });
        loop {
            self.handle_signals();
            self.report();
            let is_done = self.shared.read(|state| state.outbox == 0 || state.failed_flushes > failures);
            if self.stop_requests > stop_requests {
                self.screen.line("The server is not waited for.");
                break;
            }
            if is_done || self.shared.clock.now() > until {
                break;
            }
            self.shared.wait(TICK_INTERVAL, |state| state.signal_pending || state.outbox == 0);
        }
        let server = self.client.server_address().to_string();
        let is_ours = |name: &String| self.outbox.read(name).is_ok_and(|submission| submission.meta.server == server);
        let kept = self.outbox.names().map_or(0, |names| names.iter().filter(|name| is_ours(name)).count());
        if kept > 0 {
            self.screen.line(&format!("{kept} results wait on disk, and are submitted at the next start."));
        }
        let (unsubmitted, why) =
            self.shared.read(|state| (state.retired_jobs.len(), state.disk_error().cloned().unwrap_or_default()));
        if unsubmitted > 0 {
            self.screen.line(&format!(
                "{unsubmitted} leases could not be packed; what is on disk of them is resumed at the next start, the \
                 rest is played again. {why}"
            ));
        }
        Snapshot::remove(self.folder.root());
    }
}
