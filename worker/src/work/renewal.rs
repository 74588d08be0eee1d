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
/// A fraction of a lease's time.
const MAX_BACKOFF: Duration = Duration::from_mins(2);

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
        Self { work, delivery, client, duty: Duty::new(MAX_BACKOFF, rng) }
    }

    /// Runs until the worker has ended.
    pub(crate) fn run(mut self) {
        while !self.work.read(|state| state.is_stopped) {
            let now = || self.work.clock().now();
            match self.duty.delay(now()) {
                Some(delay) if !delay.is_zero() => self.work.wait(delay, |state| state.is_stopped),
                _ => self.work.wait(LOOK_INTERVAL, |state| state.is_stopped || !due(state, now()).is_empty()),
            }
            self.renew_all();
        }
    }

    /// Renews all leases that are due. The failure of one does not hold up the others.
    fn renew_all(&mut self) {
        let now = self.work.clock().now();
        let due = self.work.read(|state| if state.is_stopped { Vec::new() } else { due(state, now) });
        let failures: Vec<_> = due.into_iter().filter_map(|due| self.renew(due).err()).collect();
        match failures.first() {
            None => self.duty.succeed(),
            Some(error) => self.duty.fail(self.work.clock().now(), error.retry_after()),
        }
        let why = failures.first().map(|error| sentence(format!("A lease cannot be renewed: {error}")));
        self.delivery.set_renewal_error(why);
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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};

    use client::{Clock as _, Settings};
    use protocol::api::{
        problem::{PROBLEM_TYPE, Problem},
        work::Renewed,
    };
    use testkit::{
        JumpingClock,
        http::{Listener, Response},
    };

    use super::*;
    use crate::{events::Events, spool::Refused, work::job::tests::job};

    #[test]
    fn a_lease_that_cannot_be_renewed_does_not_hold_up_others() {
        let server = Listener::answering(|request| {
            if request.path.contains("/first/") {
                let problem = Problem::new(Code::Internal, "the coordinator failed");
                return Response::new(500, PROBLEM_TYPE, serde_json::to_vec(&problem).unwrap());
            }
            let renewed = Renewed { seconds: 900, heartbeat_seconds: None };
            Response::new(200, "application/json", serde_json::to_vec(&renewed).unwrap())
        })
        .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(JumpingClock::still());
        let work = Arc::new(Work::new(clock.clone(), mpsc::channel().0, Events(mpsc::channel().0)));
        let refused = Refused::open(folder.path()).unwrap();
        let delivery = Arc::new(Delivery::new(clock.clone(), Arc::default(), refused));
        let client = Client::new(Settings::new(server.url().parse().unwrap(), None, clock.clone())).unwrap();
        let mut renewal = Renewal::new(Arc::clone(&work), Arc::clone(&delivery), client, JitterRng::new(1));
        for token in ["first", "second"] {
            let mut job = job(false, &[10, 13]);
            (job.name, job.lease.token) = (token.to_owned(), token.to_owned());
            work.update(|state| state.jobs.push(job));
        }
        clock.jump(Duration::from_mins(1));
        for _ in 0..20 {
            renewal.renew_all();
            let delay = renewal.duty.delay(clock.now()).unwrap();
            assert!(delay <= MAX_BACKOFF, "{delay:?} is too long for a lease");
        }
        assert_eq!(work.read(|state| state.jobs.iter().map(|job| job.reported).collect::<Vec<_>>()), [0, 2]);
        assert!(delivery.read(|state| state.renewal_error.is_some()));
    }
}
