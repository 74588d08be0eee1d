//! Submission of one lease: a shard for each gapless run of games, then the release of the rest.

use std::{collections::BTreeMap, io, ops::Range, sync::Arc, time::Duration};

use client::{Client, Error};
use protocol::api::problem::Code;

use super::{
    retry::{RetryDecision, retry_decision},
    state::Delivery,
};
use crate::{
    sentence::sentence,
    spool::{Contents, DAMAGED, Record, Refused, SavedLease, Spool, SpoolFile, State},
};

/// Minimum interval of retries after errors that only people can mend.
const OPERATOR_RETRY_INTERVAL: Duration = Duration::from_hours(1);

/// A failed attempt.
pub(super) struct Failure {
    /// Why results wait, as one sentence.
    pub(super) why: String,
    /// Delay that the server requested.
    pub(super) retry_after: Option<Duration>,
    /// Others may still succeed.
    pub(super) is_alone: bool,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let why = sentence(format!("The spool cannot be read or written: {error}"));
        Self { why, retry_after: None, is_alone: false }
    }
}

/// Submits leases of the spool.
pub(crate) struct Submitter {
    client: Client,
    spool: Spool,
    refused: Refused,
    delivery: Arc<Delivery>,
    /// Number of rejections of submissions that may have been damaged in transit.
    attempts: BTreeMap<(String, u64), u32>,
}

impl Submitter {
    pub(crate) const fn new(client: Client, spool: Spool, refused: Refused, delivery: Arc<Delivery>) -> Self {
        Self { client, spool, refused, delivery, attempts: BTreeMap::new() }
    }

    /// Submits what is left of a lease and removes it. The release is last: the server gives all
    /// games that it has not received by then to others.
    pub(super) fn submit(&mut self, name: &str) -> Result<(), Failure> {
        let (mut file, contents) = self.spool.append(name)?;
        let (Some(saved), true) = (&contents.lease, contents.state() >= Some(State::Open)) else {
            self.reject(name, 0, &[], DAMAGED)?;
            return Ok(self.spool.remove(name)?);
        };
        let mut failed = None;
        for run in contents.runs().into_iter().filter(|run| !contents.settled.contains(&run.start)) {
            if let Err(failure) = self.submit_run(name, &contents, saved, &run, &mut file) {
                let is_alone = failure.is_alone;
                failed = Some(failure);
                if !is_alone {
                    break;
                }
            }
        }
        match (failed, contents.release_from()) {
            (Some(failure), _) => return Err(failure),
            (None, Some(from)) => self.release(name, saved, from)?,
            (None, None) => {}
        }
        self.attempts.retain(|(lease, _), _| lease != name);
        Ok(self.spool.remove(name)?)
    }

    fn submit_run(
        &mut self,
        name: &str,
        contents: &Contents,
        saved: &SavedLease,
        run: &Range<u64>,
        file: &mut SpoolFile,
    ) -> Result<(), Failure> {
        let games = run.end - run.start;
        match contents.shard(run) {
            Ok(shard) => match self.client.upload(&saved.lease.token, run.start, shard.clone()) {
                Ok(receipt) => {
                    self.delivery.monitor().update(|state| state.receipts.record_accepted(receipt.shard, games));
                    self.delivery.receive_notices(receipt.notices);
                }
                Err(error) => {
                    self.check(name, run.start, &error)?;
                    self.reject(&format!("{name}-{}", run.start), games, &shard, &error.to_string())?;
                }
            },
            Err(error) => {
                let bytes = contents.games.range(run.clone()).flat_map(|(_, game)| game.clone());
                let bytes: Vec<u8> = bytes.collect();
                self.reject(&format!("{name}-{}", run.start), games, &bytes, &error.to_string())?;
            }
        }
        // Without a sync: if it is lost, the same bytes are submitted again.
        Ok(file.append(&Record::Settled(run.start).to_bytes()?)?)
    }

    fn release(&mut self, name: &str, saved: &SavedLease, from: u64) -> Result<(), Failure> {
        // An expired lease needs no release.
        if self.delivery.monitor().clock().since_1970().as_secs() >= saved.until {
            return Ok(());
        }
        // A rejected release is done: the lease is over.
        self.client.release(&saved.lease.token, from).or_else(|error| self.check(name, u64::MAX, &error))
    }

    /// Returns the failure if the submission is to be retried.
    fn check(&mut self, name: &str, first: u64, error: &Error) -> Result<(), Failure> {
        let attempts = self.attempts.entry((name.to_owned(), first)).or_default();
        let decision = retry_decision(error, *attempts);
        *attempts += 1;
        let why = sentence(format!("Results wait: {error}"));
        match decision {
            RetryDecision::Reject => Ok(()),
            RetryDecision::NeedsOperator => {
                // Only this result's job may be forbidden.
                let is_alone = error.code() == Some(Code::Forbidden);
                let wait = error.retry_after().unwrap_or_default().max(OPERATOR_RETRY_INTERVAL);
                Err(Failure { why, retry_after: (!is_alone).then_some(wait), is_alone })
            }
            RetryDecision::Retry => {
                let retry_after = error.retry_after();
                let is_alone = retry_after.is_none() && error.code().is_some();
                Err(Failure { why, retry_after, is_alone })
            }
        }
    }

    fn reject(&self, name: &str, games: u64, bytes: &[u8], reason: &str) -> io::Result<()> {
        self.refused.put(name, bytes, reason)?;
        self.delivery.note_refused(name, games, reason);
        Ok(())
    }
}
