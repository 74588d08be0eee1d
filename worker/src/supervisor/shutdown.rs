//! Shutdown: saves running leases and submits closed ones under a timeout.

use std::{
    sync::mpsc::{self, RecvTimeoutError},
    time::Duration,
};

use super::supervise::Supervisor;
use crate::{
    delivery::{Change, DeliveryState},
    sentence::count,
    work::WorkState,
};

/// Flush timeout after `Stop`. With `MOVE_TIMEOUT` it is below the ten seconds after which
/// container runtimes kill.
const STOP_FLUSH_TIMEOUT: Duration = Duration::from_secs(5);
/// Flush timeout after a second stop request.
const FORCED_FLUSH_TIMEOUT: Duration = Duration::from_secs(1);
/// Timeout of the disk. With all others it is below the timeouts of the service definitions.
const DISK_TIMEOUT: Duration = Duration::from_secs(40);
/// Timeout of the moves in progress.
const MOVE_TIMEOUT: Duration = Duration::from_secs(3);
/// Interval of looks for the owner's commands.
const TICK_INTERVAL: Duration = Duration::from_millis(100);

impl Supervisor {
    /// Stops playing and ends.
    pub(super) fn end_at_once(&mut self) {
        self.work.stop();
        // Threads check for the shutdown between moves.
        let end = self.clock.now() + MOVE_TIMEOUT;
        let stop_requests = self.stop_requests;
        while self.clock.now() < end && self.stop_requests == stop_requests {
            if self.work.read(WorkState::is_at_rest) {
                break;
            }
            self.work.wait(TICK_INTERVAL, WorkState::is_at_rest);
            self.handle_commands();
        }
        self.flush(STOP_FLUSH_TIMEOUT);
    }

    /// Closes all leases, then submits as many as possible within the timeout. A further stop
    /// request cancels that.
    pub(super) fn flush(&mut self, timeout: Duration) {
        self.work.drop_games();
        self.work.stop();
        let unclosed = self.flush_writer();
        let failures = self.delivery.read(|state| state.failed_flushes);
        let stop_requests = self.stop_requests;
        let until = self.clock.now() + if stop_requests < 2 { timeout } else { FORCED_FLUSH_TIMEOUT };
        self.delivery.flush();
        loop {
            self.handle_commands();
            self.report();
            if self.stop_requests > stop_requests {
                self.messages.log("The server is not waited for.");
                break;
            }
            let is_done = |state: &DeliveryState| state.waiting.is_empty() || state.failed_flushes > failures;
            if self.delivery.read(is_done) || self.clock.now() > until {
                break;
            }
            self.delivery.monitor().wait(TICK_INTERVAL, is_done);
        }
        let now = self.clock.now();
        let (kept, why) =
            self.delivery.read(|state| (state.waiting.len(), state.disk_problem(now).unwrap_or_default()));
        let played = self.work.read(|state| state.totals.games);
        let accepted = self.delivery.read(|state| state.receipts.accepted);
        self.messages.log(format!("{played} games were played, and {accepted} accepted by the server."));
        if kept > 0 {
            let (results, verbs) = (count(kept, "result"), if kept == 1 { ["waits", "is"] } else { ["wait", "are"] });
            let [wait, are] = verbs;
            self.messages.log(format!("{results} {wait} on disk, and {are} submitted at the next start."));
        }
        if unclosed > 0 {
            self.messages.log(format!(
                "{} could not be packed; what is on disk is resumed at the next start, the rest is played again. {why}",
                count(unclosed, "lease")
            ));
        }
    }

    /// Waits until everything is written; returns the number of leases that could not be closed. A
    /// disk that hangs is waited for until the timeout or a further stop request.
    pub(super) fn flush_writer(&mut self) -> usize {
        let (answer, answered) = mpsc::sync_channel(1);
        self.work.queue(Change::Flush(answer));
        let (until, stop_requests) = (self.clock.now() + DISK_TIMEOUT, self.stop_requests);
        loop {
            match answered.recv_timeout(TICK_INTERVAL) {
                Ok(unclosed) => return unclosed,
                Err(RecvTimeoutError::Disconnected) => return 0,
                Err(RecvTimeoutError::Timeout) => self.handle_commands(),
            }
            if self.clock.now() >= until || self.stop_requests > stop_requests {
                let message = "The disk is not waited for: games that it has not written are played again.";
                self.messages.log(message);
                return 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum includes the ends of the status and of a trial.
    #[test]
    fn a_shutdown_ends_before_its_service_manager_kills() {
        let longest = MOVE_TIMEOUT + DISK_TIMEOUT + STOP_FLUSH_TIMEOUT + Duration::from_secs(4);
        let unit = crate::service::systemd("/usr/local/bin/chuhe-worker", false).unwrap();
        let timeout = unit.lines().find_map(|line| line.strip_prefix("TimeoutStopSec=")).unwrap();
        assert!(longest < Duration::from_secs(timeout.parse().unwrap()), "{longest:?} is above {timeout} s");
    }
}
