//! Submission of one lease: a shard for each gapless run of games, then the release of the rest.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    ops::Range,
    sync::Arc,
    time::Duration,
};

use client::{Client, Error};
use dataset::Digest;
use protocol::api::problem::{Code, Problem};

use super::{
    retry::{RetryDecision, retry_decision},
    state::Delivery,
};
use crate::{
    identity::{Identity, left_alone},
    sentence::sentence,
    spool::{Contents, DAMAGED, SavedLease, Spool},
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
    /// An error of one file.
    fn from(error: io::Error) -> Self {
        Self { why: sentence(format!("A result waits: {error}")), retry_after: None, is_alone: true }
    }
}

/// Submits leases of the spool.
pub(crate) struct Submitter {
    client: Client,
    spool: Spool,
    identity: Arc<Identity>,
    delivery: Arc<Delivery>,
    /// Number of rejections of submissions that may have been damaged in transit.
    attempts: BTreeMap<(String, u64), u32>,
    /// First games of the submissions that the server has answered for. A full disk need not hold
    /// them: after a restart the same bytes are submitted again.
    settled: BTreeSet<(String, u64)>,
}

/// The release of a lease, as the first game of a submission.
const RELEASE: u64 = u64::MAX;

impl Submitter {
    pub(crate) const fn new(client: Client, spool: Spool, identity: Arc<Identity>, delivery: Arc<Delivery>) -> Self {
        Self { client, spool, identity, delivery, attempts: BTreeMap::new(), settled: BTreeSet::new() }
    }

    /// Submits what is left of a lease and removes it. The release is last: the server gives all
    /// games that it has not received by then to others. Nothing is written to its file.
    pub(super) fn submit(&mut self, name: &str) -> Result<(), Failure> {
        let (contents, extent) = match self.spool.read(name) {
            // Perhaps an earlier attempt removed it, and could not sync the folder.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            read => read?,
        };
        if extent.is_foreign {
            self.delivery.messages().log(self.spool.left_for_another_version(name));
            return Ok(());
        }
        let Some(saved) = &contents.lease else {
            self.delivery.messages().log(self.spool.refuse(name, DAMAGED)?);
            return Ok(());
        };
        if let Some(owner) = self.identity.owner_of(saved).map_err(|error| waits(&error))? {
            self.delivery.messages().log(left_alone(&owner, true));
            return Ok(());
        }
        let mut failed = None;
        for run in contents.runs().into_iter().filter(|run| !contents.settled.contains(&run.start)) {
            if self.settled.contains(&(name.to_owned(), run.start)) {
                continue;
            }
            if let Err(failure) = self.submit_run(name, &contents, saved, &run) {
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
        self.spool.remove(name)?;
        self.attempts.retain(|(lease, _), _| lease != name);
        self.settled.retain(|(lease, _)| lease != name);
        Ok(())
    }

    fn submit_run(
        &mut self,
        name: &str,
        contents: &Contents,
        saved: &SavedLease,
        run: &Range<u64>,
    ) -> Result<(), Failure> {
        let games = run.end - run.start;
        let refused = format!("{name}-{}", run.start);
        match contents.shard(run) {
            Ok(shard) => match self.client.upload(&saved.lease.token, run.start, shard.clone()) {
                Ok(receipt) => {
                    self.delivery.record_accepted(name, receipt.shard, games);
                    self.delivery.receive_notices(receipt.notices);
                }
                // An earlier attempt delivered them in another shard.
                Err(error) if error.refusal() == Some("games_received") => {
                    self.delivery.record_accepted(name, Digest::of(&shard), games);
                }
                Err(error) => {
                    self.check(name, run.start, &error)?;
                    self.delivery.refuse(&refused, games, &shard, &error.to_string())?;
                }
            },
            Err(error) => {
                let bytes: Vec<&[u8]> = contents.games.range(run.clone()).map(|(_, game)| &game[..]).collect();
                self.delivery.refuse(&refused, games, &bytes.concat(), &error.to_string())?;
            }
        }
        self.settled.insert((name.to_owned(), run.start));
        Ok(())
    }

    fn release(&mut self, name: &str, saved: &SavedLease, from: u64) -> Result<(), Failure> {
        let release = (name.to_owned(), RELEASE);
        // An expired lease needs no release.
        let is_expired = self.delivery.monitor().clock().since_1970().as_secs() >= saved.until;
        if !is_expired && !self.settled.contains(&release) {
            // A rejected release is done: the lease is over.
            self.client.release(&saved.lease.token, from).or_else(|error| self.check(name, RELEASE, &error))?;
            self.settled.insert(release);
        }
        Ok(())
    }

    /// Returns the failure if the submission is to be retried.
    fn check(&mut self, name: &str, first: u64, error: &Error) -> Result<(), Failure> {
        let attempts = self.attempts.entry((name.to_owned(), first)).or_default();
        let Failure { why, retry_after, .. } = waits(error);
        match retry_decision(error, attempts) {
            RetryDecision::Reject => Ok(()),
            RetryDecision::NeedsOperator => {
                // Only this result's job may be forbidden.
                let is_alone = error.code() == Some(Code::Forbidden);
                let wait = retry_after.unwrap_or_default().max(OPERATOR_RETRY_INTERVAL);
                Err(Failure { why, retry_after: Some(wait), is_alone })
            }
            RetryDecision::Retry => Err(Failure { why, retry_after, is_alone: is_of_one(error) }),
        }
    }
}

/// Returns whether a failure that may pass concerns one submission, and neither the account nor the
/// server. A proxy may decline a large body for good.
fn is_of_one(error: &Error) -> bool {
    let is_of_one = match error {
        Error::Rejected { problem, .. } => !is_of_all(problem),
        Error::Status { status, .. } => (400..500).contains(status) && !matches!(status, 401 | 407 | 408 | 429),
        _ => false,
    };
    is_of_one && error.retry_after().is_none()
}

/// Returns whether the account is at its limit, or the server cannot take anything.
const fn is_of_all(problem: &Problem) -> bool {
    matches!(problem.code, Code::TooMany | Code::Busy | Code::Stopping | Code::DiskFull)
}

/// The failure of a request that is to be retried.
fn waits(error: &Error) -> Failure {
    let why = sentence(format!("Results wait: {error}"));
    Failure { why, retry_after: error.retry_after(), is_alone: false }
}
