//! The sender: submits closed leases until the server has acknowledged them.

use std::{sync::Arc, time::Duration};

use client::JitterRng;

use super::{
    retry::Duty,
    state::{Delivery, DeliveryState},
    submitting::{Failure, Submitter},
};
use crate::report::Reporter;

/// Sleep without pending work; new results wake the sender.
const IDLE_INTERVAL: Duration = Duration::from_secs(20);

/// Submits closed leases.
pub(crate) struct Sender {
    delivery: Arc<Delivery>,
    reporter: Arc<Reporter>,
    submitter: Submitter,
    duty: Duty,
}

impl Sender {
    pub(crate) fn new(delivery: Arc<Delivery>, reporter: Arc<Reporter>, submitter: Submitter, rng: JitterRng) -> Self {
        Self { delivery, reporter, submitter, duty: Duty::new(rng) }
    }

    /// Runs until the worker has ended. The supervisor waits for it under a timeout only.
    pub(crate) fn run(mut self) {
        let monitor = self.delivery.monitor();
        let now = || monitor.clock().now();
        let mut flushed = 0;
        while !self.delivery.read(|state| state.is_stopped) {
            let flush = self.delivery.read(|state| state.flush_requests);
            for (kind, detail) in monitor.update(|state| std::mem::take(&mut state.failures)) {
                self.reporter.report(kind, &detail);
            }
            // A shutdown skips the backoff.
            if flush > flushed || self.duty.delay(now()).is_none_or(|delay| delay.is_zero()) {
                let failure = send_all(&self.delivery, &mut self.submitter);
                match &failure {
                    None => self.duty.succeed(),
                    Some(failure) => self.duty.fail(now(), failure.retry_after),
                }
                monitor.update(|state| {
                    state.failed_flushes += u64::from(failure.is_some());
                    state.send_error = failure.map(|failure| failure.why);
                });
            }
            flushed = flush;
            let delay = self.duty.delay(now());
            monitor.wait(delay.unwrap_or(IDLE_INTERVAL).min(IDLE_INTERVAL), |state: &DeliveryState| {
                state.is_stopped
                    || state.flush_requests > flush
                    || !state.failures.is_empty()
                    || delay.is_none() && !state.waiting.is_empty()
            });
        }
    }
}

/// Tries every lease once; returns the last failure.
fn send_all(delivery: &Delivery, submitter: &mut Submitter) -> Option<Failure> {
    let mut last = None;
    for name in delivery.read(|state| state.waiting.clone()) {
        match submitter.submit(&name) {
            Ok(()) => drop(delivery.monitor().update(|state| state.waiting.remove(&name))),
            Err(failure) => {
                // A failure of the connection concerns all leases.
                let is_alone = failure.is_alone;
                last = Some(failure);
                if !is_alone {
                    break;
                }
            }
        }
    }
    last
}
