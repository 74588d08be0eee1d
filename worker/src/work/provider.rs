//! The provider: acquires leases ahead of need, and resumes the leases of an earlier run.

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use client::{Backoff, Error, JitterRng};
use protocol::api::work::FailureKind;

use super::{
    files::Unplayable,
    job::Job,
    prepare::Preparer,
    request::{Grant, Requester, explain},
    state::{Shutdown, Work, WorkState},
};
use crate::{
    delivery::Delivery,
    sentence::sentence,
    spool::{Contents, Record, SavedLease, Spool, SpoolFile},
    supervisor::events::{Event, Events},
};

/// Minimum interval of retries after errors that only people can mend.
const OPERATOR_RETRY_INTERVAL: Duration = Duration::from_hours(1);
/// Interval of looks at a disk that fails: meanwhile no lease is requested.
const DISK_RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// Acquires leases.
pub(crate) struct Provider {
    pub(crate) work: Arc<Work>,
    pub(crate) delivery: Arc<Delivery>,
    pub(crate) requester: Requester,
    pub(crate) preparer: Preparer,
    pub(crate) spool: Spool,
    pub(crate) events: Events,
    /// Address of the server.
    pub(crate) server: String,
    /// The provider ends after this number of leases.
    pub(crate) max_leases: Option<u64>,
    pub(crate) backoff: Backoff,
}

impl Provider {
    /// Acquires leases until the shutdown.
    pub(crate) fn run(mut self) {
        if let Err(error) = self.resume_leases() {
            self.events.report(Event::Fatal(format!("{error:#}")));
            return;
        }
        let mut leases = 0;
        while self.max_leases.is_none_or(|max| leases < max) {
            self.work.wait(Duration::MAX, |state| is_shutting_down(state) || state.needs_more_games());
            if self.work.read(is_shutting_down) {
                return;
            }
            if self.delivery.read(|state| state.disk_error.is_some()) {
                self.sleep(DISK_RETRY_INTERVAL);
                continue;
            }
            match self.request() {
                Ok(Some(grant)) => {
                    self.work.update(|state| state.wait_reason = None);
                    if self.accept(grant) {
                        self.backoff.reset();
                        leases += 1;
                    }
                }
                Ok(None) => self.backoff.reset(),
                Err(error) => self.back_off(&error),
            }
        }
        // The last lease ends the worker.
        self.work.wait(Duration::MAX, |state| is_shutting_down(state) || state.jobs.is_empty());
        self.events.report(Event::LeasesDone);
    }

    fn sleep(&self, time: Duration) {
        self.work.wait(time, is_shutting_down);
    }

    fn request(&mut self) -> Result<Option<Grant>, Error> {
        let Preparer { files, machine } = &mut self.preparer;
        self.requester.register(machine, &mut files.mirror)?;
        self.requester.request(machine)
    }

    /// Records why there are no games, and sleeps.
    fn back_off(&mut self, error: &Error) {
        let (why, is_mendable) = explain(error);
        let mut requested = error.retry_after();
        if is_mendable {
            requested = Some(requested.unwrap_or_default().max(OPERATOR_RETRY_INTERVAL));
        }
        let wait = self.backoff.after_failure(requested);
        self.work.update(|state| state.wait_reason = Some(why));
        self.sleep(wait);
    }

    /// Saves and adds a new lease. A lease that cannot be played here is released.
    fn accept(&mut self, Grant { name, lease, mut file }: Grant) -> bool {
        let now = self.work.clock().since_1970().as_secs();
        let until = now.saturating_add(u64::from(lease.seconds));
        let saved = SavedLease { server: self.server.clone(), until, lease };
        let record = Record::Lease(Box::new(saved.clone())).to_bytes();
        let written = record.and_then(|record| file.append(&record)).and_then(|()| file.sync());
        let written = written.and_then(|()| self.spool.grant(&name));
        if let Err(error) = written {
            self.work.update(|state| {
                state.wait_reason = Some(sentence(format!("A lease cannot be kept: {error}")));
            });
            self.sleep(Duration::from_mins(1));
            return false;
        }
        let is_played = self.add_job(&name, saved, &Contents::default(), file);
        self.preparer.files.prune();
        if !is_played {
            // Backoff: the next lease may be unplayable too.
            let wait = self.backoff.after_failure(None);
            self.sleep(wait);
        }
        is_played
    }

    /// Resumes the leases of an earlier run. Expired ones are submitted as they are.
    fn resume_leases(&mut self) -> Result<()> {
        for name in self.spool.names().context("the spool")? {
            let (file, contents) = self.spool.append(&name).with_context(|| name.clone())?;
            match contents.lease.clone() {
                // Caused by a broken disk only; the server's lease expires by itself.
                None => {
                    let message = format!("The lease {name} cannot be read, and is put aside.");
                    self.delivery.messages().log(message);
                    self.spool.set_aside(&name)?;
                }
                Some(saved) if saved.server != self.server => {
                    let message = if contents.is_closed {
                        format!("A result waits for another server, {}.", saved.server)
                    } else {
                        format!(
                            "A lease of another server, {}, is set aside until this worker is configured for that again.",
                            saved.server
                        )
                    };
                    self.delivery.messages().log(message);
                }
                Some(_) if contents.is_closed => self.delivery.add(name),
                Some(saved) => drop(self.add_job(&name, saved, &contents, file)),
            }
        }
        Ok(())
    }

    /// Adds a lease as a job, with its finished games; returns whether it will be played.
    fn add_job(&mut self, name: &str, saved: SavedLease, contents: &Contents, file: SpoolFile) -> bool {
        let clock = self.work.clock();
        // A clock that was set back cannot extend the lease.
        let left = saved.until.saturating_sub(clock.since_1970().as_secs()).min(u64::from(saved.lease.seconds));
        let (now, left) = (clock.now(), Duration::from_secs(left));
        let mut job = Job::new(name.to_owned(), saved.lease, contents.finished(), now, left);
        if left.is_zero() {
            let message =
                "The time of a lease was over before it was taken up again; its finished games are submitted.";
            self.delivery.messages().log(message);
            return self.work.accept(job, file);
        }
        match self.preparer.prepare(&job.lease) {
            Ok((run, slots)) => {
                job.open = job.lease.numbers().filter(|number| !job.finished.contains(number)).collect();
                (job.run, job.thread_slots) = (Some(Arc::new(run)), slots.count);
                job.idle_reason = slots.idle_reason(&self.preparer.machine);
                self.work.update(|state| state.thread_slots = Some(slots.count));
            }
            Err(Unplayable::Permanent(reason)) => {
                self.delivery.messages().log(sentence(format!("A lease is released: {reason}")));
                self.requester.reporter.report(FailureKind::Other, &reason);
            }
            // Unchanged on disk, for the next start.
            Err(Unplayable::Shutdown) => return false,
        }
        self.work.accept(job, file)
    }
}

/// Returns whether no more leases are needed.
fn is_shutting_down(state: &WorkState) -> bool {
    state.shutdown != Shutdown::Running
}

/// Exponential backoff of the provider: two seconds to ten minutes.
pub(crate) fn backoff(rng: JitterRng) -> Backoff {
    Backoff::new(Duration::from_secs(2), Duration::from_mins(10), rng)
}
