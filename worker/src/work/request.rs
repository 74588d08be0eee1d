//! Requests for leases.

use std::{io, sync::Arc, time::Duration};

use client::{Client, Error};
use protocol::api::{
    problem::Code,
    work::{Answer, Ask, Lease, Machine, Work as Granted},
};

use super::state::{Work, WorkState};
use crate::{
    delivery::Delivery,
    nonce::random_id,
    report::Reporter,
    sentence::sentence,
    spool::{Spool, SpoolFile},
};

/// Requests leases from the server.
pub(crate) struct Requester {
    pub(crate) work: Arc<Work>,
    pub(crate) delivery: Arc<Delivery>,
    pub(crate) reporter: Arc<Reporter>,
    pub(crate) client: Client,
    pub(crate) spool: Spool,
}

/// A lease with the file of its request, and its name.
pub(super) struct Grant {
    pub(super) name: String,
    pub(super) lease: Lease,
    pub(super) file: SpoolFile,
}

impl Requester {
    /// Registers this machine unless the server knows it. `mirror` becomes the server's.
    pub(super) fn register(&self, machine: &Machine, mirror: &mut Option<String>) -> Result<(), Error> {
        if self.reporter.worker().is_none() {
            *mirror = self.client.server()?.mirror;
            self.reporter.set_worker(Some(self.client.register(machine)?.worker));
        }
        Ok(())
    }

    /// Requests a lease; none if the server has no games and its time to wait is over. Idempotent
    /// retry: the nonce is on disk before the request, so that after a crash the same lease is
    /// returned.
    pub(super) fn request(&self, machine: &Machine) -> Result<Option<Grant>, Error> {
        // The error names the file already.
        let storage = |source: io::Error| {
            let (path, text) = (self.spool.asking().to_owned(), source.to_string());
            let text = text.strip_prefix(&format!("{}: ", path.display())).unwrap_or(&text).to_owned();
            Error::Storage { path, source: io::Error::new(source.kind(), text) }
        };
        let (file, name) = if let Ok(Some(request)) = self.spool.request() {
            request
        } else {
            let nonce = random_id();
            (self.spool.ask(&nonce).map_err(storage)?, nonce)
        };
        // Threads without memory are not claimed.
        let (speed, slots) = self.work.read(|state| (state.speed.per_thread(), state.thread_slots));
        let threads = slots.map_or(machine.threads, |slots| slots as u32);
        let acknowledged = self.delivery.read(|state| state.receipts.unacked_notices(Ask::MAX_ACKNOWLEDGED));
        let ask = Ask {
            worker: self.reporter.worker().unwrap_or_default(),
            nonce: name.clone(),
            threads,
            nodes_per_second: speed.map(|(_, nodes)| (nodes * f64::from(threads)) as u64),
            most_seconds: None,
            acknowledged: acknowledged.clone(),
        };
        let Answer { work, notices } = match self.client.ask(&ask) {
            Err(error) if error.code() == Some(Code::NotFound) => {
                // The server no longer knows this machine: it registers again.
                self.reporter.set_worker(None);
                return Err(error);
            }
            Err(error @ Error::Unexpected { .. }) => {
                // A retry with this nonce would return the same unreadable response.
                self.spool.cancel_request().map_err(storage)?;
                return Err(error);
            }
            answer => answer?,
        };
        self.delivery.receive_notices(notices);
        // The request acknowledged these. Notices in the response are not yet acknowledged.
        self.delivery.monitor().update(|state| state.receipts.forget_notices(&acknowledged));
        match work {
            Granted::Games(lease) => Ok(Some(Grant { name, lease, file })),
            Granted::Wait { seconds, reason } => {
                self.spool.cancel_request().map_err(storage)?;
                let why = sentence(format!("No games for now: {reason}"));
                self.work.update(|state| state.wait_reason = Some(why));
                let wait = Duration::from_secs(u64::from(seconds.clamp(1, 3600)));
                self.work.wait(wait, WorkState::is_shutting_down);
                Ok(None)
            }
        }
    }
}

/// Formats why there are no games; for errors that only people can mend, `true`.
pub(super) fn explain(error: &Error) -> (String, bool) {
    let get = "Get the newest chuhe-worker and start it; what this one has played is kept.";
    let is_strange = matches!(error, Error::Unexpected { .. });
    let why = match error.code() {
        _ if is_strange => format!("{} This worker may be too old. {get}", sentence(error.to_string())),
        Some(Code::TooOld) => format!("{} {get}", sentence(error.to_string())),
        Some(Code::Blocked) => sentence(format!("The server has blocked this worker: {error}")),
        Some(Code::BadToken | Code::NoToken) => {
            format!("{} `chuhe-worker configure` takes another token.", sentence(error.to_string()))
        }
        _ => sentence(format!("No games could be had: {error}")),
    };
    let mendable = [Code::TooOld, Code::Blocked, Code::BadToken, Code::NoToken, Code::Forbidden];
    (why, is_strange || error.code().is_some_and(|code| mendable.contains(&code)))
}
