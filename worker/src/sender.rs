//! The sender: submits results and renews leases.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::Arc,
    time::Duration,
};

use client::{Backoff, Client, Error, JitterRng};
use protocol::api::{problem::Code, work::Failure};

use crate::{
    job::Job,
    outbox::{Outbox, Submission},
    sentence::sentence,
    shared::{Shared, Shutdown, State},
    state::Folder,
};

/// Bytes may be damaged in transit, so such rejections are retried; this bounds the attempts.
const MAX_ATTEMPTS: u32 = 5;
/// Minimum interval of retries after errors that only people can mend.
const OPERATOR_RETRY_INTERVAL: Duration = Duration::from_hours(1);
/// Sleep without pending work; new results wake the sender.
const IDLE_INTERVAL: Duration = Duration::from_secs(20);

/// Submits results and renews leases.
pub(crate) struct Sender {
    pub(crate) shared: Arc<Shared>,
    pub(crate) client: Client,
    pub(crate) folder: Arc<Folder>,
    pub(crate) outbox: Outbox,
    pub(crate) sending: Task,
    pub(crate) renewing: Task,
    /// Number of rejections of results that may have been damaged in transit.
    pub(crate) attempts: BTreeMap<String, u32>,
    /// Results for other servers.
    pub(crate) foreign: BTreeSet<String>,
}

/// Reason for a failure, and the delay that the server requested.
type TaskError = (String, Option<Duration>);

/// One of the sender's two duties, each with its own backoff: a failure of one does not delay the
/// other.
pub(crate) struct Task {
    backoff: Backoff,
    /// Time of the next attempt after a failure.
    next_attempt: Duration,
    error: Option<String>,
}

impl Task {
    /// A task without failures.
    pub(crate) const fn new(backoff: Backoff) -> Self {
        Self { backoff, next_attempt: Duration::ZERO, error: None }
    }

    /// Records an attempt; returns whether it failed.
    fn record_attempt(&mut self, now: Duration, done: Result<(), TaskError>) -> bool {
        let error = done.err();
        match &error {
            None => self.backoff.reset(),
            Some((_, requested_delay)) => self.next_attempt = now + self.backoff.after_failure(*requested_delay),
        }
        self.error = error.map(|(why, _)| why);
        self.error.is_some()
    }

    /// Returns the delay until the next attempt.
    fn delay(&self, now: Duration) -> Duration {
        if self.error.is_some() { self.next_attempt.saturating_sub(now) } else { IDLE_INTERVAL }
    }
}

/// Decision after a failed submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryDecision {
    /// Retry with backoff.
    Retry,
    /// Retry after people had time to act.
    NeedsOperator,
    /// Permanent: the result is moved to `refused`.
    Reject,
}

/// Decides on an error, given the number of earlier rejections of this result.
fn retry_decision(error: &Error, attempts: u32) -> RetryDecision {
    match error {
        Error::Rejected { problem, .. } => classify(problem.code, problem.status, attempts),
        // A proxy's response or none at all.
        _ => RetryDecision::Retry,
    }
}

fn classify(code: Code, status: u16, attempts: u32) -> RetryDecision {
    let maybe_damaged = match code {
        Code::BadToken | Code::NoToken | Code::Blocked | Code::Forbidden | Code::TooOld => {
            return RetryDecision::NeedsOperator;
        }
        _ if matches!(status, 408 | 429 | 500..) => return RetryDecision::Retry,
        Code::BadRequest
        | Code::BadHash
        | Code::Truncated
        | Code::Corrupt
        | Code::NotAShard
        | Code::MethodNotAllowed
        | Code::WrongType
        | Code::BadRange
        | Code::Unknown => true,
        _ => false,
    };
    if maybe_damaged && attempts + 1 < MAX_ATTEMPTS { RetryDecision::Retry } else { RetryDecision::Reject }
}

impl Sender {
    /// Runs until the worker has stopped. The supervisor waits for it under a timeout only.
    pub(crate) fn run(mut self) {
        let mut before = (Shutdown::Running, 0);
        while !self.shared.read(|state| state.is_stopped) {
            let flush = self.shared.read(|state| (state.shutdown, state.flush_requests));
            self.report_failures();
            // A shutdown skips the backoff.
            if flush > before || self.shared.clock.now() >= self.sending.next_attempt {
                let done = self.send_all();
                if self.sending.record_attempt(self.shared.clock.now(), done) {
                    self.shared.update(|state| state.failed_flushes += 1);
                }
            }
            if self.shared.clock.now() >= self.renewing.next_attempt {
                let done = self.renew();
                self.renewing.record_attempt(self.shared.clock.now(), done);
            }
            before = flush;
            let errors: Vec<_> =
                [&self.sending, &self.renewing].into_iter().filter_map(|it| it.error.clone()).collect();
            self.shared.update(|state| state.send_error = (!errors.is_empty()).then(|| errors.join(" ")));
            let now = self.shared.clock.now();
            self.shared.wait(self.sending.delay(now).min(self.renewing.delay(now)).min(IDLE_INTERVAL), |state| {
                state.is_stopped
                    || (state.shutdown, state.flush_requests) > flush
                    || !state.unreported_failures.is_empty()
                    || self.sending.error.is_none() && state.outbox > 0
                    || self.renewing.error.is_none() && self.is_renewal_due(state)
            });
        }
    }

    /// Reports failures to the server, at most once each.
    fn report_failures(&self) {
        let (worker, failed) =
            self.shared.update(|state| (state.worker, std::mem::take(&mut state.unreported_failures)));
        for (kind, detail) in failed {
            let version = env!("CARGO_PKG_VERSION").to_owned();
            let detail = detail.chars().take(4000).collect();
            let _ = self.client.report(&Failure { worker, kind, version, detail });
        }
    }

    /// Tries every result once; returns the last error.
    fn send_all(&mut self) -> Result<(), TaskError> {
        let mut result = Ok(());
        // Leases with unsent games. Their releases have to wait, or the server would give these
        // games to others.
        let mut unsent = BTreeSet::new();
        for name in self.outbox.names().map_err(|error| storage_error(&error))? {
            let submission = match self.outbox.read(&name) {
                Ok(submission) => submission,
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    self.reject(&name, 0, &error.to_string()).map_err(|error| storage_error(&error))?;
                    continue;
                }
                Err(error) => return Err(storage_error(&error)),
            };
            if submission.meta.server != self.client.server_address().to_string() {
                if self.foreign.insert(name) {
                    self.shared.log(format!("A result waits for another server, {}.", submission.meta.server));
                }
                continue;
            }
            if submission.meta.games == 0 && unsent.contains(&submission.meta.lease) {
                continue;
            }
            if let Err(why) = self.send_one(&name, &submission) {
                unsent.insert(submission.meta.lease);
                let others_may_succeed = why.1.is_none() && why.2;
                result = Err((why.0, why.1));
                // An error of the connection concerns all results.
                if !others_may_succeed {
                    break;
                }
            }
        }
        // Counted under the lock, so that no result is added in between.
        let counted = self.shared.update(|state| {
            let waiting = self.outbox.names()?.len();
            state.outbox = waiting.saturating_sub(self.foreign.len());
            Ok(())
        });
        counted.map_err(|error: io::Error| storage_error(&error))?;
        result
    }

    /// Submits one result. Returns the error, the requested delay, and whether others may still
    /// succeed.
    fn send_one(&mut self, name: &str, submission: &Submission) -> Result<(), (String, Option<Duration>, bool)> {
        let games = submission.meta.games;
        let storage = |error: io::Error| (storage_error(&error).0, None, false);
        let Err(error) = self.send(submission) else {
            self.outbox.acknowledge(name).map_err(storage)?;
            self.attempts.remove(name);
            return Ok(());
        };
        let attempts = self.attempts.entry(name.to_owned()).or_default();
        let decision = retry_decision(&error, *attempts);
        *attempts += 1;
        match decision {
            // A rejected release is done: the lease is over.
            RetryDecision::Reject if games == 0 => self.outbox.acknowledge(name).map_err(storage),
            RetryDecision::Reject => self.reject(name, games, &error.to_string()).map_err(storage),
            RetryDecision::NeedsOperator => {
                // Only this result's job may be forbidden.
                let is_alone = error.code() == Some(Code::Forbidden);
                let wait = error.retry_after().unwrap_or_default().max(OPERATOR_RETRY_INTERVAL);
                Err((sentence(format!("Results wait: {error}")), (!is_alone).then_some(wait), is_alone))
            }
            RetryDecision::Retry => {
                Err((sentence(format!("Results wait: {error}")), error.retry_after(), error.code().is_some()))
            }
        }
    }

    fn send(&self, submission: &Submission) -> Result<(), Error> {
        let meta = &submission.meta;
        if meta.games > 0 {
            let receipt = self.client.upload(&meta.lease, meta.first, submission.shard.clone())?;
            self.shared.update(|state| {
                state.record_accepted(receipt.shard, meta.games);
                state.receive_notices(receipt.notices);
            });
        }
        match meta.release_from {
            // An expired lease needs no release.
            Some(from) if self.shared.clock.since_1970().as_secs() < meta.until => {
                self.client.release(&meta.lease, from)
            }
            _ => Ok(()),
        }
    }

    fn reject(&mut self, name: &str, games: u64, reason: &str) -> io::Result<()> {
        self.outbox.reject(name, reason)?;
        self.attempts.remove(name);
        let what = match games {
            0 => "A result cannot be sent, and lies".to_owned(),
            _ => format!("{games} games were refused, and lie"),
        };
        self.shared.update(|state| {
            state.totals.refused += games;
            state.log(sentence(format!("{what} in `refused/{name}.chuhe`: {reason}")));
        });
        Ok(())
    }

    /// Returns whether a lease is due for renewal.
    fn is_renewal_due(&self, state: &State) -> bool {
        let now = self.shared.clock.now();
        state.pause.is_none() && state.jobs.iter().any(|job| needs_renewal(job, now))
    }

    fn renew(&self) -> Result<(), TaskError> {
        let now = self.shared.clock.now();
        let due: Vec<_> = self.shared.read(|state| {
            let due = state.jobs.iter().filter(|job| state.pause.is_none() && needs_renewal(job, now));
            due.map(|job| (job.name.clone(), job.saved.lease.token.clone(), job.finished.len())).collect()
        });
        for (name, token, finished) in due {
            let renewed = match self.client.renew(&token, finished as u64) {
                // The request may have arrived: a retry is harmless.
                Err(error) if error.is_transient() => {
                    return Err((sentence(format!("A lease cannot be renewed: {error}")), error.retry_after()));
                }
                renewed => renewed,
            };
            self.shared.update(|state| {
                let Some(job) = state.jobs.iter_mut().find(|job| job.name == name) else { return };
                match renewed {
                    Ok(renewed) => self.extend_lease(job, now, renewed.seconds),
                    // An earlier renewal arrived without its response. Retried after the next game.
                    Err(error) if error.code() == Some(Code::NoProgress) => job.insufficient_progress = finished,
                    Err(error) => {
                        job.close();
                        // No further renewal, though games are still running.
                        job.saved.renewed = true;
                        let message =
                            format!("A lease ended before its games; the finished games are submitted: {error}");
                        state.log(sentence(message));
                        state.retire_finished();
                    }
                }
            });
        }
        Ok(())
    }

    /// Extends a lease, also on disk for the next start.
    fn extend_lease(&self, job: &mut Job, now: Duration, seconds: u32) {
        job.expires = now + Duration::from_secs(u64::from(seconds));
        job.saved.until = self.shared.clock.since_1970().as_secs() + u64::from(seconds);
        job.saved.renewed = true;
        // If this fails, the next start assumes the earlier expiry and submits what is finished.
        let _ = job.saved.save(&self.folder, &job.name);
    }
}

/// Heartbeat: a lease is due after two thirds of its time if it has new finished games and is not
/// done.
fn needs_renewal(job: &Job, now: Duration) -> bool {
    let is_candidate = !job.saved.renewed && job.finished.len() > job.insufficient_progress && !job.is_done();
    is_candidate && now >= job.accepted_at + job.expires.saturating_sub(job.accepted_at) * 2 / 3
}

fn storage_error(error: &io::Error) -> TaskError {
    (sentence(format!("The outbox cannot be read or written: {error}")), None)
}

/// Exponential backoff of the sender: two seconds to half an hour.
pub(crate) fn backoff(rng: JitterRng) -> Backoff {
    Backoff::new(Duration::from_secs(2), Duration::from_mins(30), rng)
}

#[cfg(test)]
mod tests {
    use protocol::api::problem::Problem;

    use super::*;

    /// Every problem code has its decision, and no retry is endless.
    #[test]
    fn every_rejection_ends_or_reaches_the_operator() {
        let operator = ["no_token", "bad_token", "forbidden", "blocked", "too_old"];
        let retried = ["timeout", "too_many", "quota", "internal", "busy", "stopping", "disk_full"];
        let in_transit = [
            "bad_request",
            "bad_hash",
            "truncated",
            "corrupt",
            "not_a_shard",
            "method_not_allowed",
            "wrong_type",
            "bad_range",
        ];
        for &code in Code::ALL {
            let expected = match code.name() {
                name if operator.contains(&name) => [RetryDecision::NeedsOperator; 2],
                name if retried.contains(&name) => [RetryDecision::Retry; 2],
                name if in_transit.contains(&name) => [RetryDecision::Retry, RetryDecision::Reject],
                _ => [RetryDecision::Reject; 2],
            };
            let problem = Problem::new(code, "");
            assert_eq!(
                [0, MAX_ATTEMPTS - 1].map(|attempts| classify(code, problem.status, attempts)),
                expected,
                "{code}"
            );
        }
    }
}
