//! Renewal of leases (heartbeat).

use std::{sync::Arc, time::Duration};

use client::{Client, Error, JitterRng};
use protocol::api::problem::Code;

use super::state::{Work, WorkState};
use crate::{
    delivery::{Change, Delivery, Duty},
    sentence::sentence,
};

/// Interval of looks for leases that are due.
const LOOK_INTERVAL: Duration = Duration::from_secs(20);

/// Renews leases.
pub(crate) struct Renewal {
    work: Arc<Work>,
    delivery: Arc<Delivery>,
    client: Client,
    duty: Duty,
}

/// A lease to be renewed.
struct Due {
    name: String,
    token: String,
    finished: usize,
}

impl Renewal {
    pub(crate) fn new(work: Arc<Work>, delivery: Arc<Delivery>, client: Client, rng: JitterRng) -> Self {
        Self { work, delivery, client, duty: Duty::new(rng) }
    }

    /// Runs until the worker has ended.
    pub(crate) fn run(mut self) {
        while !self.work.read(|state| state.is_stopped) {
            let now = || self.work.clock().now();
            match self.duty.delay(now()) {
                Some(delay) if !delay.is_zero() => self.work.wait(delay, |state| state.is_stopped),
                _ => self.work.wait(LOOK_INTERVAL, |state| state.is_stopped || !due(state, now()).is_empty()),
            }
            let due = self.work.read(|state| if state.is_stopped { Vec::new() } else { due(state, now()) });
            let failure = due.into_iter().find_map(|due| self.renew(due).err());
            match &failure {
                None => self.duty.succeed(),
                Some(error) => self.duty.fail(self.work.clock().now(), error.retry_after()),
            }
            let why = failure.map(|error| sentence(format!("A lease cannot be renewed: {error}")));
            self.delivery.set_renewal_error(why);
        }
    }

    /// Renews a lease. An error is transient.
    fn renew(&self, Due { name, token, finished }: Due) -> Result<(), Error> {
        let renewed = match self.client.renew(&token, finished as u64) {
            // The request may have arrived: a retry is harmless.
            Err(error) if error.is_transient() => return Err(error),
            renewed => renewed,
        };
        let clock = self.work.clock();
        let lost = self.work.update(|state| {
            let job = state.jobs.iter_mut().find(|job| job.name == name)?;
            match renewed {
                Ok(renewed) => {
                    job.extend(clock.now(), finished, renewed);
                    let until = clock.since_1970().as_secs() + u64::from(renewed.seconds);
                    self.work.queue(Change::Renewed { name, until });
                    None
                }
                // An earlier renewal arrived without its response.
                Err(error) if error.code() == Some(Code::NoProgress) => {
                    job.postpone_heartbeat(clock.now(), finished);
                    None
                }
                Err(error) => {
                    job.close();
                    job.is_lost = true;
                    Some(error)
                }
            }
        });
        if let Some(error) = lost {
            let message = format!("A lease ended before its games; the finished games are submitted: {error}");
            self.delivery.messages().log(sentence(message));
        }
        Ok(())
    }
}

fn due(state: &WorkState, now: Duration) -> Vec<Due> {
    let due = state.jobs.iter().filter(|job| state.pause.is_none() && job.needs_renewal(now));
    due.map(|job| Due { name: job.name.clone(), token: job.lease.token.clone(), finished: job.finished.len() })
        .collect()
}
