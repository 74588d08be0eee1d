//! The sender: submits closed leases until the server has acknowledged them.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use client::JitterRng;

use super::{
    retry::Duty,
    state::{Delivery, DeliveryState},
    submitting::Submitter,
};
use crate::report::Reporter;

/// Sleep without pending work; new results wake the sender.
const IDLE_INTERVAL: Duration = Duration::from_secs(20);
const MAX_BACKOFF: Duration = Duration::from_mins(30);

/// Submits closed leases.
pub(crate) struct Sender {
    delivery: Arc<Delivery>,
    reporter: Arc<Reporter>,
    submitter: Submitter,
    rng: JitterRng,
    /// Backoff after failures that concern all leases.
    server: Duty,
    /// The last lease whose failure concerned all: another one is tried first.
    blamed: String,
    /// Leases that alone failed, each with its backoff and the reason.
    failed: BTreeMap<String, (Duty, String)>,
}

impl Sender {
    pub(crate) fn new(delivery: Arc<Delivery>, reporter: Arc<Reporter>, submitter: Submitter, rng: JitterRng) -> Self {
        let server = Duty::new(MAX_BACKOFF, rng.clone());
        Self { delivery, reporter, submitter, server, blamed: String::new(), rng, failed: BTreeMap::new() }
    }

    /// Runs until the worker has ended. The supervisor waits for it under a timeout only.
    pub(crate) fn run(mut self) {
        let delivery = Arc::clone(&self.delivery);
        let monitor = delivery.monitor();
        let now = || monitor.clock().now();
        let mut flushed = 0;
        while !delivery.read(|state| state.is_stopped) {
            let flush = delivery.read(|state| state.flush_requests);
            for (kind, detail) in monitor.update(|state| std::mem::take(&mut state.failures)) {
                self.reporter.report(kind, &detail);
            }
            // A shutdown skips the backoff.
            if flush > flushed || self.server.is_due(now()) {
                self.send_all(flush > flushed);
            }
            flushed = flush;
            let failed = self.failed.values().filter_map(|(duty, _)| duty.delay(now())).min();
            let server = self.server.delay(now());
            monitor.wait(server.or(failed).unwrap_or(IDLE_INTERVAL).min(IDLE_INTERVAL), |state: &DeliveryState| {
                let is_new = |name| !self.failed.contains_key(name);
                state.is_stopped
                    || state.flush_requests > flush
                    || !state.failures.is_empty()
                    || server.is_none() && state.waiting.iter().any(is_new)
            });
        }
    }

    /// Tries each lease that is due, or all of them.
    fn send_all(&mut self, is_flush: bool) {
        let monitor = self.delivery.monitor();
        let now = || monitor.clock().now();
        let (mut server_error, mut has_failed) = (None, false);
        let mut names: Vec<_> = self.delivery.read(|state| state.waiting.iter().cloned().collect());
        names.sort_by_key(|name| *name <= self.blamed);
        for name in names {
            if !is_flush && self.failed.get(&name).is_some_and(|(duty, _)| !duty.is_due(now())) {
                continue;
            }
            let Err(failure) = self.submitter.submit(&name) else {
                self.failed.remove(&name);
                monitor.update(|state| state.waiting.remove(&name));
                continue;
            };
            has_failed = true;
            if !failure.is_alone {
                server_error = Some(failure);
                self.blamed = name;
                break;
            }
            let rng = JitterRng::new(self.rng.next_u64());
            let (duty, why) = self.failed.entry(name).or_insert_with(|| (Duty::new(MAX_BACKOFF, rng), String::new()));
            duty.fail(now(), failure.retry_after);
            *why = failure.why;
        }
        match &server_error {
            None => self.server.succeed(),
            Some(failure) => self.server.fail(now(), failure.retry_after),
        }
        let why = server_error.map(|failure| failure.why);
        let why = why.or_else(|| self.failed.values().next().map(|(_, why)| why.clone()));
        monitor.update(|state| {
            state.failed_flushes += u64::from(has_failed);
            state.send_error = why;
        });
    }
}
