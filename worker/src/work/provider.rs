//! The provider: acquires leases ahead of need, and resumes the leases of an earlier run.

use std::{io, sync::Arc, time::Duration};

use anyhow::Result;
use client::{Backoff, Error, JitterRng};
use protocol::api::{
    problem::Code,
    work::{FailureKind, Lease},
};

use super::{
    files::Unplayable,
    job::Job,
    prepare::Preparer,
    request::{Grant, Requester, explain},
    state::{Work, WorkState},
};
use crate::{
    delivery::Delivery,
    events::{Event, Events},
    identity::{Identity, left_alone},
    sentence::sentence,
    spool::{Contents, DAMAGED, Extent, Record, SavedLease, Spool, SpoolFile},
};

/// Minimum interval of retries after errors that only people can mend.
const OPERATOR_RETRY_INTERVAL: Duration = Duration::from_hours(1);
/// Interval of looks at a disk that fails or a spool that is full: meanwhile no lease is requested.
const SPOOL_RETRY_INTERVAL: Duration = Duration::from_secs(5);
/// Bound on results that wait to be sent.
const MAX_WAITING_RESULTS: usize = 100;

/// Acquires leases.
pub(crate) struct Provider {
    pub(crate) work: Arc<Work>,
    pub(crate) delivery: Arc<Delivery>,
    pub(crate) requester: Requester,
    pub(crate) preparer: Preparer,
    pub(crate) spool: Spool,
    pub(crate) events: Events,
    pub(crate) identity: Arc<Identity>,
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
            self.work.wait(Duration::MAX, |state| state.is_shutting_down() || state.needs_more_games());
            if self.work.read(WorkState::is_shutting_down) {
                return;
            }
            let now = self.work.clock().now();
            let (has_problem, waiting) =
                self.delivery.read(|state| (state.disk_problem(now).is_some(), state.waiting.len()));
            if has_problem || waiting >= MAX_WAITING_RESULTS {
                if waiting >= MAX_WAITING_RESULTS {
                    let why = format!("{waiting} results wait: the server has to take some before others are played.");
                    self.work.update(|state| state.wait_reason = Some(why));
                }
                self.sleep(SPOOL_RETRY_INTERVAL);
                continue;
            }
            match self.request() {
                Ok(Some(grant)) => {
                    self.work.update(|state| state.wait_reason = None);
                    if self.accept(grant) {
                        let took = self.work.clock().now().saturating_sub(now);
                        self.work.update(|state| state.acquisition = took);
                        self.backoff.reset();
                        leases += 1;
                    }
                }
                Ok(None) => self.backoff.reset(),
                Err(error) => self.back_off(&error),
            }
        }
        // The last lease ends the worker.
        self.work.wait(Duration::MAX, |state| state.is_shutting_down() || state.jobs.is_empty());
        self.events.report(Event::LeasesDone);
    }

    fn sleep(&self, time: Duration) {
        self.work.wait(time, WorkState::is_shutting_down);
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
        let account = self.identity.account().ok().map(str::to_owned);
        let saved = SavedLease { server: self.identity.server(), account, until, lease };
        let record = Record::Lease(Box::new(saved.clone())).to_bytes();
        let written = record.and_then(|record| file.append(&record)).and_then(|()| file.sync());
        let written = written.and_then(|()| self.spool.grant(&name, &mut file));
        if let Err(error) = written {
            self.work.update(|state| {
                state.wait_reason = Some(sentence(format!("A lease cannot be kept: {error}")));
            });
            self.sleep(Duration::from_mins(1));
            return false;
        }
        if let Err(error) = file.sync() {
            // The writer repeats it, and reports its own failures.
            self.delivery.messages().log(sentence(format!("The name of a lease is not safe on disk yet: {error}")));
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

    /// Resumes the leases of an earlier run: first the results, because the net of a lease may take
    /// long. A file that cannot be read stays for the next start.
    fn resume_leases(&mut self) -> Result<()> {
        let mut open = Vec::new();
        for name in self.spool.names()? {
            self.delivery.add_earlier(name.clone());
            match self.read_lease(&name) {
                Ok(lease) => open.extend(lease.map(|(saved, contents)| (name, saved, contents))),
                Err(error) => self.leave_out(&error),
            }
        }
        for (name, saved, contents) in open {
            if let Err(error) = self.resume_lease(&name, saved, &contents) {
                self.leave_out(&error);
            }
        }
        Ok(())
    }

    fn leave_out(&self, error: &io::Error) {
        self.delivery.messages().log(sentence(format!("A lease is left out until the next start: {error}")));
    }

    /// Reads a lease, and returns it if it is open. A closed one is submitted.
    fn read_lease(&self, name: &str) -> io::Result<Option<(SavedLease, Contents)>> {
        let (contents, Extent { damaged, is_foreign, .. }) = self.spool.read(name)?;
        let messages = |message: String| self.delivery.messages().log(message);
        if is_foreign {
            messages(self.spool.left_for_another_version(name));
            return Ok(None);
        }
        // Only a broken disk causes that; the server's lease expires by itself.
        let Some(saved) = contents.lease.clone() else {
            messages(self.spool.refuse(name, DAMAGED)?);
            return Ok(None);
        };
        if damaged > 0 {
            messages(format!("The lease {name} is damaged on this disk ({damaged} times); its other games are kept."));
        }
        if contents.is_closed {
            self.delivery.add(name.to_owned());
            return Ok(None);
        }
        Ok(Some((saved, contents)))
    }

    /// Resumes an open lease. An expired one is submitted as it is.
    fn resume_lease(&mut self, name: &str, saved: SavedLease, contents: &Contents) -> io::Result<()> {
        // Without an answer the lease is played, and the sender asks again.
        if let Some(owner) = self.identity.owner_of(&saved).unwrap_or_default() {
            self.delivery.messages().log(left_alone(&owner, false));
            return Ok(());
        }
        let (file, _) = self.spool.append(name)?;
        self.add_job(name, saved, contents, file);
        Ok(())
    }

    /// Returns why a lease of an earlier run is over: the server may have been restored from a
    /// backup. A renewal without games changes nothing, and is answered with `NoProgress`. Without
    /// an answer the lease is played.
    fn end_of(&self, lease: &Lease) -> Option<Error> {
        let ends = [Code::NotFound, Code::NotOwner, Code::LeaseLost];
        let error = self.requester.client.renew(&lease.token, 0).err()?;
        error.code().is_some_and(|code| ends.contains(&code)).then_some(error)
    }

    /// Adds a lease as a job, with its finished games; returns whether it will be played.
    fn add_job(&mut self, name: &str, saved: SavedLease, contents: &Contents, file: SpoolFile) -> bool {
        let clock = self.work.clock();
        // A clock that was set back cannot extend the lease.
        let left = saved.until.saturating_sub(clock.since_1970().as_secs()).min(u64::from(saved.lease.seconds));
        let (now, left) = (clock.now(), Duration::from_secs(left));
        let is_resumed = *contents != Contents::default();
        let mut job = Job::new(name.to_owned(), saved.lease, contents.finished(), now, left);
        if left.is_zero() {
            self.delivery
                .messages()
                .log("A lease expired while this worker was off; its finished games are submitted.");
            return self.work.accept(job, file);
        }
        if let Some(error) = is_resumed.then(|| self.end_of(&job.lease)).flatten() {
            let message = format!("A lease is over; its finished games are submitted: {error}");
            self.delivery.messages().log(sentence(message));
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

/// Exponential backoff of the provider: two seconds to ten minutes.
pub(crate) fn backoff(rng: JitterRng) -> Backoff {
    Backoff::new(Duration::from_secs(2), Duration::from_mins(10), rng)
}
