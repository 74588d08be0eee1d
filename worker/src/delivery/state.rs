//! State of the delivery.

use std::{collections::BTreeSet, io, sync::Arc, time::Duration};

use client::Clock;
use dataset::Digest;
use protocol::api::work::{FailureKind, Notice};

use super::receipts::Receipts;
use crate::{messages::Messages, monitor::Monitor, sentence::sentence, spool::Refused};

/// A write or sync that takes longer is shown.
const MAX_WRITE_SECONDS: u64 = 10;

/// The delivery, as its threads share it.
pub(crate) struct Delivery {
    monitor: Monitor<DeliveryState>,
    messages: Arc<Messages>,
    refused: Refused,
}

/// The state behind the mutex.
#[derive(Debug, Default)]
pub(crate) struct DeliveryState {
    /// Names of the closed leases that the server has not acknowledged.
    pub(crate) waiting: BTreeSet<String>,
    /// Why finished games or results cannot be written.
    disk_error: Option<String>,
    /// Begin of the write or sync that is under way.
    writing_since: Option<Duration>,
    /// Why results cannot be sent.
    pub(crate) send_error: Option<String>,
    /// Why leases cannot be renewed.
    pub(crate) renewal_error: Option<String>,
    /// Acknowledgements and rejections.
    pub(crate) receipts: Receipts,
    /// Leases of earlier runs. Another version may have played their games.
    earlier: BTreeSet<String>,
    /// The server has acknowledged a lease of this run: this version works.
    pub(crate) is_proven: bool,
    /// Failures not yet reported to the server.
    pub(super) failures: Vec<(FailureKind, String)>,
    /// Number of requests to send without a backoff.
    pub(super) flush_requests: u32,
    /// Number of failed attempts to send everything.
    pub(crate) failed_flushes: u64,
    /// The worker has ended.
    pub(super) is_stopped: bool,
}

/// Figures of the delivery for the status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    /// Number of closed leases that the server has not acknowledged.
    pub(crate) waiting: usize,
    /// Games that it acknowledged.
    pub(crate) accepted: u64,
    /// Games that it rejected.
    pub(crate) refused: u64,
    /// Why nothing can be written.
    pub(crate) disk_error: Option<String>,
    /// Why results cannot be sent, or leases not renewed.
    pub(crate) send_error: Option<String>,
}

impl DeliveryState {
    /// Returns what is wrong with the disk. Until it is mended no lease is requested.
    pub(crate) fn disk_problem(&self, now: Duration) -> Option<String> {
        let busy = self.writing_since.map_or(0, |since| now.saturating_sub(since).as_secs());
        let hangs = || format!("The disk has been writing finished games for {busy} s.");
        self.disk_error.clone().or_else(|| (busy >= MAX_WRITE_SECONDS).then(hangs))
    }

    pub(crate) fn figures(&self, now: Duration) -> Figures {
        let errors: Vec<_> = self.send_error.iter().chain(&self.renewal_error).cloned().collect();
        Figures {
            waiting: self.waiting.len(),
            accepted: self.receipts.accepted,
            refused: self.receipts.refused,
            disk_error: self.disk_problem(now),
            send_error: (!errors.is_empty()).then(|| errors.join(" ")),
        }
    }
}

impl Delivery {
    pub(crate) fn new(clock: Arc<dyn Clock>, messages: Arc<Messages>, refused: Refused) -> Self {
        Self { monitor: Monitor::new(DeliveryState::default(), clock), messages, refused }
    }

    pub(crate) const fn monitor(&self) -> &Monitor<DeliveryState> {
        &self.monitor
    }

    pub(crate) fn messages(&self) -> &Messages {
        &self.messages
    }

    /// Reads the state.
    pub(crate) fn read<R>(&self, read: impl FnOnce(&DeliveryState) -> R) -> R {
        self.monitor.read(read)
    }

    /// Marks a lease as one of an earlier run.
    pub(crate) fn add_earlier(&self, name: String) {
        self.monitor.update(|state| state.earlier.insert(name));
    }

    /// Counts an acknowledged shard of a lease.
    pub(super) fn record_accepted(&self, name: &str, shard: Digest, games: u64) {
        self.monitor.update(|state| {
            state.receipts.record_accepted(shard, games);
            state.is_proven |= !state.earlier.contains(name);
        });
    }

    /// Adds a closed lease.
    pub(crate) fn add(&self, name: String) {
        self.monitor.update(|state| state.waiting.insert(name));
    }

    pub(crate) fn set_disk_error(&self, error: Option<String>) {
        if self.read(|state| state.disk_error != error) {
            self.monitor.update(|state| state.disk_error = error);
        }
    }

    /// Runs a write or sync, which the status shows if it takes long.
    pub(super) fn write<R>(&self, write: impl FnOnce() -> R) -> R {
        let now = self.monitor.clock().now();
        self.monitor.update(|state| state.writing_since = Some(now));
        let result = write();
        self.monitor.update(|state| state.writing_since = None);
        result
    }

    pub(crate) fn set_renewal_error(&self, error: Option<String>) {
        if self.read(|state| state.renewal_error != error) {
            self.monitor.update(|state| state.renewal_error = error);
        }
    }

    /// Processes notices of the server, and keeps rejections beside the refused results. One that
    /// cannot be kept is not acknowledged, so the server repeats it.
    pub(crate) fn receive_notices(&self, notices: Vec<Notice>) {
        let news = self.monitor.update(|state| state.receipts.receive_notices(notices));
        news.messages.into_iter().for_each(|message| self.messages.log(message));
        for (shard, reason) in news.rejected {
            if self.refused.put_reason(shard, &reason).is_err() {
                self.monitor.update(|state| state.receipts.forget_notices(&[shard]));
            }
        }
    }

    /// Returns the results that the server will never accept.
    pub(crate) const fn refused(&self) -> &Refused {
        &self.refused
    }

    /// Keeps a submission that the server will never accept, and announces it.
    pub(super) fn refuse(&self, name: &str, games: u64, bytes: &[u8], reason: &str) -> io::Result<()> {
        self.refused.put(name, bytes, reason)?;
        let what = match games {
            0 => "A result cannot be sent, and lies".to_owned(),
            _ => format!("{games} games were refused, and lie"),
        };
        self.monitor.update(|state| state.receipts.refused += games);
        self.messages.log(sentence(format!("{what} in `refused/{name}.chuhe`: {reason}")));
        Ok(())
    }

    /// Queues a failure for the server.
    pub(crate) fn report_failure(&self, kind: FailureKind, detail: String) {
        self.monitor.update(|state| state.failures.push((kind, detail)));
    }

    /// Wakes the sender, which may be in its backoff.
    pub(crate) fn flush(&self) {
        self.monitor.update(|state| state.flush_requests += 1);
    }

    /// Ends the sender.
    pub(crate) fn stop(&self) {
        self.monitor.update(|state| state.is_stopped = true);
    }
}
