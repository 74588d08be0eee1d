//! Retries of a request to the coordinator.

use std::{sync::Arc, time::Duration};

use client::{Backoff, Clock, Error, JitterRng};

use super::{lease::Lease, status_log::StatusLog, stop_reason::StopReason, stop_signal::StopSignal};

/// Bounds of the backoff.
const BACKOFF_BOUNDS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(2));

/// After this many downloads with a wrong hash, the network is not the cause.
const MAX_HASH_MISMATCHES: u32 = 5;

/// A request that is retried until it succeeds or fails for good.
pub(super) struct RetryingCall<'a> {
    stop: &'a StopSignal,
    clock: &'a Arc<dyn Clock>,
    log: &'a mut StatusLog,
    backoff: Backoff,
}

impl<'a> RetryingCall<'a> {
    pub(super) fn new(stop: &'a StopSignal, clock: &'a Arc<dyn Clock>, log: &'a mut StatusLog) -> Self {
        // Exponential backoff with decorrelated jitter: agents of one coordinator do not return
        // together.
        let dice = JitterRng::new(getrandom::u64().unwrap_or_default());
        Self { stop, clock, log, backoff: Backoff::new(BACKOFF_BOUNDS.0, BACKOFF_BOUNDS.1, dice) }
    }

    /// Sends the request until there is a response. Stops when a stop is requested or `lease` is
    /// lost.
    pub(super) fn run<T>(
        &mut self,
        lease: Option<&Lease>,
        request: impl Fn() -> Result<T, Error>,
    ) -> Result<T, StopReason> {
        let mut hash_mismatches = 0;
        loop {
            match lease {
                Some(lease) => lease.check(self.stop)?,
                None if self.stop.is_requested() => return Err(StopReason::Requested),
                None => {}
            }
            let error = match request() {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            hash_mismatches += u32::from(matches!(error, Error::WrongBytes { .. }));
            if !error.is_transient() || hash_mismatches >= MAX_HASH_MISMATCHES {
                return Err(StopReason::from_error(error));
            }
            let wait = self.backoff.after_failure(error.retry_after());
            self.log.state(&format!("retrying in {} s: {error}", wait.as_secs().max(1)));
            self.stop.wait(&**self.clock, wait)?;
        }
    }
}
