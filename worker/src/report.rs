//! Reports of failures to the server.

use std::sync::{Mutex, PoisonError};

use client::Client;
use protocol::api::work::{Failure, FailureKind};

/// The server stores no more of a report.
const MAX_DETAIL_LETTERS: usize = 4000;

/// Reports failures of this machine, with its worker id at the server.
pub(crate) struct Reporter {
    client: Client,
    worker: Mutex<Option<i64>>,
}

impl Reporter {
    pub(crate) const fn new(client: Client) -> Self {
        Self { client, worker: Mutex::new(None) }
    }

    /// Returns this machine's worker id; none before its registration.
    pub(crate) fn worker(&self) -> Option<i64> {
        *self.worker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_worker(&self, worker: Option<i64>) {
        *self.worker.lock().unwrap_or_else(PoisonError::into_inner) = worker;
    }

    /// Reports a failure once; a report that is lost is lost.
    pub(crate) fn report(&self, kind: FailureKind, detail: &str) {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let detail = detail.chars().take(MAX_DETAIL_LETTERS).collect();
        let _ = self.client.report(&Failure { worker: self.worker(), kind, version, detail });
    }
}
