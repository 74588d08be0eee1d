//! The writer: the only thread that appends games to the spool.
//!
//! Writes are grouped: after a write, changes wait for up to [`WRITE_INTERVAL`]. So a fast machine
//! needs few writes. A closed lease is durable before it is handed to the sender.

use std::{
    collections::BTreeMap,
    io,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, SyncSender},
    },
    time::Duration,
};

use client::Clock;

use super::{queue::Change, state::Delivery};
use crate::{
    sentence::sentence,
    spool::{Record, SpoolFile},
};

/// Minimum interval of writes. A crash of the program loses at most the games of this time, which
/// are then played again.
const WRITE_INTERVAL: Duration = Duration::from_secs(1);
/// Interval of syncs. A crash of the machine loses at most the games of this time.
const SYNC_INTERVAL: Duration = Duration::from_secs(10);
/// Interval of retries after an error of the disk.
const RETRY_INTERVAL: Duration = Duration::from_secs(10);
/// Sleep without anything to write.
const IDLE_INTERVAL: Duration = Duration::from_hours(1);

/// Appends to the leases' files.
pub(crate) struct Writer {
    changes: Receiver<Change>,
    delivery: Arc<Delivery>,
    clock: Arc<dyn Clock>,
    leases: BTreeMap<String, OpenLease>,
    flushes: Vec<SyncSender<usize>>,
    written_at: Option<Duration>,
    synced_at: Duration,
    /// Time of the next attempt after an error.
    retry_at: Option<Duration>,
    write_error: Option<String>,
    sync_error: Option<String>,
}

struct OpenLease {
    file: SpoolFile,
    /// Encoded records that are not yet written.
    unwritten: Vec<u8>,
    /// Written, but perhaps not durable.
    is_dirty: bool,
    is_closing: bool,
}

impl Writer {
    pub(crate) fn new(changes: Receiver<Change>, delivery: Arc<Delivery>, clock: Arc<dyn Clock>) -> Self {
        let synced_at = clock.now();
        Self {
            changes,
            delivery,
            clock,
            leases: BTreeMap::new(),
            flushes: Vec::new(),
            written_at: None,
            synced_at,
            retry_at: None,
            write_error: None,
            sync_error: None,
        }
    }

    /// Runs until nothing can be queued any more.
    pub(crate) fn run(mut self) {
        loop {
            let timeout = self.clock.real(self.delay()).min(IDLE_INTERVAL);
            match self.changes.recv_timeout(timeout) {
                Ok(change) => self.add(change),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            while let Ok(change) = self.changes.try_recv() {
                self.add(change);
            }
            self.write();
        }
    }

    fn add(&mut self, change: Change) {
        let (name, record) = match change {
            Change::Open { name, file } => {
                let lease = OpenLease { file, unwritten: Vec::new(), is_dirty: true, is_closing: false };
                self.leases.insert(name, lease);
                return;
            }
            Change::Flush(answer) => return self.flushes.push(answer),
            Change::Game { name, number, game } => (name, Record::Game(number, game)),
            Change::Renewed { name, until } => (name, Record::Renewed(until)),
            Change::Close { name } => (name, Record::Closed),
        };
        let Some(lease) = self.leases.get_mut(&name) else { return };
        lease.is_closing |= record == Record::Closed;
        if let Ok(bytes) = record.to_bytes() {
            lease.unwritten.extend(bytes);
        }
    }

    /// Returns the time until the next write or sync is due.
    fn delay(&self) -> Duration {
        let now = self.clock.now();
        let writes = self.leases.values().any(|lease| !lease.unwritten.is_empty() || lease.is_closing);
        let write = if writes { self.write_due_at() } else { Duration::MAX };
        let syncs = self.leases.values().any(|lease| lease.is_dirty);
        let sync = if syncs { self.synced_at + SYNC_INTERVAL } else { Duration::MAX };
        write.min(sync).saturating_sub(now).min(IDLE_INTERVAL)
    }

    fn write_due_at(&self) -> Duration {
        let closes = self.leases.values().any(|lease| lease.is_closing);
        let grouped = if closes { None } else { self.written_at.map(|written| written + WRITE_INTERVAL) };
        self.retry_at.or(grouped).unwrap_or_default()
    }

    /// Writes what is due.
    fn write(&mut self) {
        let now = self.clock.now();
        let is_flush = !self.flushes.is_empty();
        if is_flush || now >= self.write_due_at() {
            self.write_all(now);
        }
        if now >= self.synced_at + SYNC_INTERVAL {
            self.synced_at = now;
            self.sync_all();
        }
        // A closed lease was synced by itself.
        if !self.leases.values().any(|lease| lease.is_dirty) {
            self.sync_error = None;
        }
        self.delivery.set_disk_error(self.write_error.clone().or_else(|| self.sync_error.clone()));
        let unclosed = self.leases.values().filter(|lease| lease.is_closing).count();
        for answer in self.flushes.drain(..) {
            // The supervisor may have ended.
            let _ = answer.try_send(unclosed);
        }
    }

    /// Syncs open leases. A failed one is repeated at the next sync.
    fn sync_all(&mut self) {
        self.sync_error = None;
        for lease in self.leases.values_mut().filter(|lease| lease.is_dirty) {
            match self.delivery.write(|| lease.file.sync()) {
                Ok(()) => lease.is_dirty = false,
                Err(error) => self.sync_error = Some(sentence(format!("Finished games cannot be written: {error}"))),
            }
        }
    }

    fn write_all(&mut self, now: Duration) {
        let mut error = None;
        for lease in self.leases.values_mut().filter(|lease| !lease.unwritten.is_empty()) {
            self.written_at = Some(now);
            match self.delivery.write(|| lease.write()) {
                Ok(()) => {}
                Err(failed) if lease.is_closing => {
                    error = Some(sentence(format!("A result cannot be written: {failed}")));
                }
                Err(failed) => error = error.or(Some(sentence(format!("Finished games cannot be written: {failed}")))),
            }
        }
        let closing = self.leases.iter().filter(|(_, lease)| lease.is_closing && lease.unwritten.is_empty());
        let closing: Vec<_> = closing.map(|(name, _)| name.clone()).collect();
        for name in closing {
            let sync = |lease: &mut OpenLease| self.delivery.write(|| lease.file.sync());
            if let Some(Err(failed)) = self.leases.get_mut(&name).map(sync) {
                error = Some(sentence(format!("A result cannot be written: {failed}")));
            } else {
                self.leases.remove(&name);
                self.delivery.add(name);
            }
        }
        self.retry_at = error.as_ref().map(|_| now + RETRY_INTERVAL);
        self.write_error = error.map(sentence);
    }
}

impl OpenLease {
    fn write(&mut self) -> io::Result<()> {
        self.file.append(&self.unwritten)?;
        self.unwritten.clear();
        self.is_dirty = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
